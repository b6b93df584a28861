import Capture
import DualCamCore
import Engine
import Frames
import Logging
import Platform

/// The assignment of devices to the cameras and their lenses.
extension Daemon {
    /// Assigns the attached cameras to the roles.
    func assignCameras() {
        let cameras = configuration.cameras
        let lenses = Role.allCases.flatMap { cameras[$0].claimedLenses }

        let found = assign(
            // A device that is configured as a lens is not available for automatic assignment.
            devices.filter { device in
                !lenses.contains {
                    if case .v4l2(let name) = $0 { device.isCalled(name) } else { false }
                }
                    || Role.allCases.contains {
                        if case .v4l2(let name) = cameras[$0].source {
                            device.isCalled(name)
                        } else {
                            false
                        }
                    }
            },
            back: cameras.back.source,
            front: cameras.front.source,
            holding: PerRole(back: sources.back?.identity, front: sources.front?.identity),
            by: policy
        )
        give(.back, found.back, problem: problem(of: .back, found.back ?? found.front))
        give(.front, found.front, problem: problem(of: .front, found.back ?? found.front))
    }

    /// What `auto` takes into account besides the devices.
    private var policy: AutoPolicy {
        AutoPolicy(
            ignored: configuration.ignoredCameras,
            failing: trials.failing,
            yields: !state.isInUse
        )
    }

    /// Returns what people should know of the choice that `auto` makes for `role`; empty if all is
    /// well. `any` is a device that was assigned, if any was.
    private func problem(of role: Role, _ any: CameraDevice?) -> String {
        guard configuration.cameras[role].source == .auto else { return "" }
        if let left = leftDevices[role], trials.failing.contains(left.identity) {
            return "\(left.name) failed again and again, so the \(role.rawValue) camera is another "
                + "one. To try it again, plug it in again."
        }
        // The back camera is the one that is missed first.
        let needsOther = configuration.cameras[role.other].source == .auto
        guard any == nil, role == .back || !needsOther, !devices.isEmpty else { return "" }
        let reasons = devices.compactMap { device in
            policy.refusal(of: device).flatMap {
                // Nobody expects a camera from these.
                [.unfed, .ours, .virtual].contains($0)
                    ? nil : "\(device.name) (\(device.path)) \($0.text)"
            }
        }
        return reasons.isEmpty
            ? "" : "\"auto\" takes no camera: \(reasons.joined(separator: "; "))."
    }

    /// Records that the device of `role` does not deliver, and leaves it for another one if that
    /// happens again and again.
    func countFailure(of role: Role, _ device: String, _ why: Interruption) {
        guard why == .stalled, configuration.cameras[role].source == .auto,
            let source = sources[role], source.identity == device,
            trials.fail(device, at: MonotonicClock.now)
        else { return }
        leftDevices[role] = (device, source.name)
        assignCameras()
        // There is no other one: it goes on being tried.
        if sources[role]?.identity == device { leftDevices[role] = nil }
    }

    /// Makes `device` the camera of `role` if its source asks for a device.
    private func give(_ role: Role, _ device: CameraDevice?, problem: String) {
        let specification = configuration.cameras[role].source
        let before = sources[role]
        do throws(CaptureError) {
            var source = try cameraSource(specification, role: role, device: device)
            // A camera unplugged while in use keeps its role, since it may come back.
            if source == nil, state.isInUse, let before,
                !devices.contains(where: { $0.identity == before.identity })
            {
                source = V4L2Source(missing: before.identity, name: before.name)
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
    }

    /// Finds the devices of a role's lenses.
    func findLenses(_ role: Role) {
        let before = lensSources[role]
        var found: [String: any CameraSource] = [:]
        var lenses: [Lens] = []
        if let own = sources[role] {
            found[own.identity] = own
            let configured = configuration.cameras[role].lenses
            var isNamed = false
            for lens in configured {
                guard let specification = lens.source else {
                    isNamed = isNamed || lens.factor == 1
                    lenses.append(
                        Lens(
                            name: lens.name,
                            factor: lens.factor,
                            device: own.identity,
                            deviceFactor: 1,
                            isThere: own.isThere
                        )
                    )
                    continue
                }
                guard let source = lensSource(specification, role, before) else { continue }
                let isOwn = source.identity == own.identity
                isNamed = isNamed || isOwn
                if !isOwn { found[source.identity] = source }
                lenses.append(
                    Lens(
                        name: lens.name,
                        factor: lens.factor,
                        device: source.identity,
                        deviceFactor: isOwn ? 1 : lens.factor,
                        isThere: isOwn ? own.isThere : source.isThere
                    )
                )
            }
            if !isNamed {
                lenses.append(
                    Lens(
                        name: "wide",
                        factor: 1,
                        device: own.identity,
                        deviceFactor: 1,
                        isThere: own.isThere
                    )
                )
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
            device = devices.first { $0.isCalled(name) }
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
        devices = found
        trials.forget(except: Set(found.map(\.identity)))
        assignCameras()
        for role in Role.allCases where state.cameras[role].interruption != .none {
            cameras?[role][state.cameras[role].lens.pipeline].retry()
        }
    }
}

extension Configuration.Camera {
    /// The sources of the camera's lenses that are not available for automatic assignment. For a
    /// camera with an automatic source, the lens of factor 1 is not among them, since it is the
    /// camera itself.
    fileprivate var claimedLenses: [SourceSpecification] {
        lenses.filter { source != .auto || $0.factor != 1 }.compactMap(\.source)
    }
}

extension CameraSource {
    /// `true` if the source can be opened, as far as is known.
    fileprivate var isThere: Bool { !(self is V4L2Source) || !place.isEmpty }
}
