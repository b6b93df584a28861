import Capture
import DualCamCore
import Engine
import Frames
import Glibc
import Logging
import Platform

extension Daemon {
    /// Opens what `use` describes for `role` from now on.
    func use(_ role: Role, _ use: CameraUse) {
        sources[role] = use.devices.compactMapValues { device in
            do throws(CaptureError) {
                return try cameraSource(device, phones: threads.phones)
            } catch {
                Log.capture.error("\(error)", metadata: ["camera": "\(role.rawValue)"])
                return nil
            }
        }
    }

    /// Logs what changed about the cameras' devices.
    func logCameras(since before: State) {
        for role in Role.allCases {
            let camera: Logger.Metadata = ["camera": "\(role.rawValue)"]
            let (was, now) = (before.search.uses[role], state.search.uses[role])
            if now.own?.identity != was.own?.identity {
                let name = now.own?.name ?? "none"
                Log.capture.notice("camera", metadata: camera.merging(["name": "\(name)"]) { $1 })
            }
            for refusal in now.refusals.subtracting(was.refusals) {
                Log.capture.error("a lens of the \(role.rawValue) camera: \(refusal)")
            }
            let problem = state.cameras[role].problem
            if !problem.isEmpty, problem != before.cameras[role].problem {
                Log.capture.warning("\(problem)", metadata: camera)
            }
        }
    }

    /// Looks if a file is there, on a thread of its own: its disk may not answer.
    func lookForFile(_ path: String) {
        let mailbox = loop.mailbox
        let thread = try? Thread(name: "file") {
            let isAbsent = access(path, F_OK) != 0 && (errno == ENOENT || errno == ENOTDIR)
            // Not all names: others may read the problem.
            let hint =
                isAbsent
                ? whatIsThere(files: neighbors(of: path), insteadOf: path, isList: false) : ""
            mailbox.onMain { self.send(.cameras(.file(path, isThere: !isAbsent, hint: hint))) }
        }
        guard let thread else {
            return mailbox.onMain { self.send(.cameras(.file(path, isThere: true, hint: ""))) }
        }
        thread.detach()
    }

    func openCamera(_ role: Role) {
        let lens = state.cameras[role].lens
        guard let source = sources[role][lens.device] else { return }
        cameras?[role][lens.pipeline].open(source, state.captureRequest(for: role, configuration))
    }

    /// Opens the device of the lens that comes in for `role`, beside the one that is shown.
    func openLens(_ role: Role) {
        let lens = state.cameras[role].lens
        guard let incoming = lens.incoming, let source = sources[role][incoming.device] else {
            return
        }
        Log.capture.notice(
            "lens",
            metadata: ["camera": "\(role.rawValue)", "name": "\(source.name)"]
        )
        var request = state.captureRequest(for: role, configuration)
        request.isFull = false
        cameras?[role][lens.pipeline.other].open(source, request)
    }

    /// Closes the device of `role` that is not shown, and resets its controls to automatic.
    func closeLens(_ role: Role) {
        let pipeline = state.cameras[role].lens.pipeline.other
        lensTimers?[role].endLooking()
        cameras?[role][pipeline].close(keepingPicture: false)
        controls?[role][pipeline].leave()
    }

    /// Measures the brightness of the picture shown.
    func lookAtLight(_ role: Role) {
        lensTimers?[role].watchLight(true)
        let lens = state.cameras[role].lens
        guard let luma = slots[role][lens.pipeline].latest?.brightness else { return }
        guard LensState.mayBeDark(luma), !state.cameras[role].controls.device.isEmpty else {
            return send(.lens(role, .light(luma)))
        }
        // No event reports the values that the camera's automatics chose.
        perform(.look, role) { [self] _ in
            if state.cameras[role].lens.device == lens.device { send(.lens(role, .light(luma))) }
        }
    }

    /// Checks if the incoming device delivers pictures that can be shown.
    func lookAtLens(_ role: Role) {
        let lens = state.cameras[role].lens
        guard let incoming = lens.incoming, incoming.mode != nil, !incoming.isCrossing else {
            lensTimers?[role].endLooking()
            return
        }
        let slot = slots[role][lens.pipeline.other]
        if lensTimers?[role].isSteady(slot) ?? false { send(.lens(role, .ready)) }
    }
}
