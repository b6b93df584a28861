import Capture
import DualCamCore
import Engine
import Frames
import Glibc
import Logging
import Platform

/// The assignment of devices to the cameras and their lenses.
extension Daemon {
    /// Assigns the attached cameras to the roles; `anew` as if no role held one by chance.
    func assignCameras(anew: Bool = false) {
        let cameras = configuration.cameras
        let found = assign(
            devices,
            back: cameras.back.source,
            front: cameras.front.source,
            holding: PerRole { anew ? nil : sources[$0]?.identity },
            by: search.policy
        )
        standings = found.standings
        for role in Role.allCases where cameras[role].source != .auto {
            if let device = found[role] { namedDevices[cameras[role].source.description] = device }
        }
        give(.back, found.back, problem: search.problem(of: .back, found))
        give(.front, found.front, problem: search.problem(of: .front, found))
    }

    /// The facts by which the sources find their devices now.
    private var search: CameraSearch {
        var search = CameraSearch(
            configuration,
            failing: trials.failing,
            isInUse: state.isInUse
        )
        search.devices = devices
        search.isListed = isListed
        search.namedDevices = namedDevices
        search.nodes = nodeNames
        search.knownNodes = knownNodes
        search.left = leftDevices
        return search
    }

    /// Records that the device of `role` does not deliver, and leaves it for another one if that
    /// happens again and again. It delivered until now if `isPause`.
    func countFailure(of role: Role, _ device: String, _ why: Interruption, isPause: Bool) {
        guard why == .stalled, configuration.cameras[role].source == .auto,
            let source = sources[role], source.identity == device,
            trials.fail(device, at: MonotonicClock.now, isPause: isPause)
        else { return }
        leftDevices[role] = AbsentDevice(identity: device, name: source.name)
        assignCameras()
        // There is no other one: it goes on being tried.
        if sources[role]?.identity == device { leftDevices[role] = nil }
    }

    /// Makes `device` the camera of `role` if its source asks for a device.
    private func give(_ role: Role, _ device: CameraDevice?, problem: String) {
        let specification = configuration.cameras[role].source
        let absent = absentDevice(
            for: specification,
            assigned: device,
            known: namedDevices[specification.description].map(AbsentDevice.init),
            before: sources[role].map { AbsentDevice(identity: $0.identity, name: $0.name) },
            isInUse: state.isInUse,
            attached: Set(devices.map(\.identity))
        )
        do throws(CaptureError) {
            let source =
                if let absent {
                    missingSource(absent.identity, name: absent.name)
                } else {
                    try cameraSource(
                        specification,
                        role: role,
                        device: device,
                        credentials: configuration.cameras[role].credentials
                    )
                }
            if source?.identity != sources[role]?.identity {
                Log.capture.notice(
                    "camera",
                    metadata: ["camera": "\(role.rawValue)", "name": "\(source?.name ?? "none")"]
                )
                // The last picture of another camera must not stand for this one's.
                if sources[role] != nil { send(.camera(role, .assigned(name: nil))) }
            }
            sources[role] = source
            if !problem.isEmpty, state.cameras[role].problem != problem {
                Log.capture.warning("\(problem)", metadata: ["camera": "\(role.rawValue)"])
            }
            send(.camera(role, .problem(problem)))
        } catch {
            let problem = "The \(role.rawValue) camera's source: \(error)"
            if state.cameras[role].problem != problem {
                Log.capture.error("\(problem)", metadata: ["camera": "\(role.rawValue)"])
            }
            sources[role] = nil
            send(.camera(role, .problem(problem)))
        }
        send(.camera(role, .identified(sources[role]?.identity ?? "")))
        findLenses(role)
        send(.camera(role, .assigned(name: sources[role]?.name)))
        if let source = sources[role] as? V4L2Source {
            let isAbsent = source.place.isEmpty && isListed
            let absence: Interruption? = isAbsent ? source.isKnown ? .unplugged : .notFound : nil
            send(.camera(role, .absent(absence)))
        }
        if case .pipewire(let name) = specification, let nodes = nodeNames {
            let isThere = nodes.contains(name)
            if isThere { knownNodes.insert(name) }
            let absence: Interruption = knownNodes.contains(name) ? .unplugged : .notFound
            send(.camera(role, .absent(isThere ? nil : absence)))
        }
        if case .file(let path) = specification { lookForFile(of: role, path) }
    }

    /// Looks if the file of `role` is there, on a thread of its own: its disk may not answer.
    private func lookForFile(of role: Role, _ path: String) {
        guard lookedFor.insert(role).inserted else { return }
        let mailbox = loop.mailbox
        let thread = try? Thread(name: "file") {
            let isAbsent = access(path, F_OK) != 0 && (errno == ENOENT || errno == ENOTDIR)
            // Not all names: others may read the problem.
            let hint =
                isAbsent
                ? whatIsThere(files: neighbors(of: path), insteadOf: path, isList: false) : ""
            mailbox.onMain {
                self.lookedFor.remove(role)
                guard self.configuration.cameras[role].source == .file(path) else { return }
                self.fileHints[role] = hint
                self.send(.camera(role, .absent(isAbsent ? .notFound : nil)))
            }
        }
        if let thread { thread.detach() } else { lookedFor.remove(role) }
    }

    /// Finds the devices of a role's lenses.
    func findLenses(_ role: Role) {
        let before = lensSources[role]
        var found: [String: any CameraSource] = [:]
        var lenses: [Lens] = []
        if let own = sources[role] {
            found[own.identity] = own
            lenses = configuration.cameras[role].lenses(of: LensDevice(own)) { specification in
                guard let source = lensSource(specification, role, before) else { return nil }
                if source.identity != own.identity { found[source.identity] = source }
                return LensDevice(source)
            }
        }
        lensSources[role] = found
        send(.lens(role, .found(lenses)))
        let lens = state.cameras[role].lens
        if let was = before[lens.device], let now = found[lens.device], was.place != now.place {
            send(.camera(role, .moved))
            useControls(role)
        }
    }

    /// Returns the device that `specification` asks for, or `nil` if there is none. A device that
    /// is gone keeps the identity that it had.
    private func lensSource(
        _ specification: SourceSpecification,
        _ role: Role,
        _ before: [String: any CameraSource]
    ) -> (any CameraSource)? {
        var device: CameraDevice?
        if case .v4l2(let name) = specification {
            device = devices.first { $0.isCalled(name) && $0.refusal != .noPictures }
            if device == nil, let known = lensNames[specification.description],
                let was = before[known]
            {
                return V4L2Source(missing: known, name: was.name)
            }
            lensNames[specification.description] = device.map { "\($0.identity)" }
        }
        do throws(CaptureError) {
            return try cameraSource(specification, role: role, device: device)
        } catch {
            if lensTroubles.insert(specification.description).inserted {
                Log.capture.error("a lens of the \(role.rawValue) camera: \(error)")
            }
            return nil
        }
    }

    /// Returns the device of `role` with the identity `device`.
    func source(_ role: Role, _ device: String) -> (any CameraSource)? {
        lensSources[role][device] ?? (sources[role]?.identity == device ? sources[role] : nil)
    }

    /// Opens the device of the lens that comes in for `role`, beside the one that is shown.
    func openLens(_ role: Role) {
        let lens = state.cameras[role].lens
        guard let incoming = lens.incoming, let source = source(role, incoming.device) else {
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

    /// Takes over the list of attached cameras after one came or went.
    func camerasChanged(_ found: [CameraDevice]) {
        attached = found
        isListed = true
        devicesChanged()
    }

    /// Takes over the list of PipeWire's own cameras, and the names of all its cameras, after one
    /// came or went.
    func nodeCamerasChanged(_ found: [CameraDevice], names: Set<String>) {
        nodeCameras = found
        nodeNames = names
        devicesChanged()
    }

    private func devicesChanged() {
        let found = attached + nodeCameras
        devices = found
        trials.forget(except: Set(found.map(\.identity)))
        assignCameras()
        for role in Role.allCases where state.cameras[role].interruption != .none {
            cameras?[role][state.cameras[role].lens.pipeline].retry()
        }
    }
}

extension LensDevice {
    /// The device of `source`, which is there if it can be opened, as far as is known.
    fileprivate init(_ source: any CameraSource) {
        self.init(
            identity: source.identity,
            isThere: !(source is V4L2Source) || !source.place.isEmpty
        )
    }
}

extension AbsentDevice {
    /// Creates the device that `device` is once it is gone.
    fileprivate init(_ device: CameraDevice) {
        self.init(identity: device.identity, name: device.name)
    }
}
