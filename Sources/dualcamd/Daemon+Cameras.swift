import Capture
import DualCamCore
import Engine
import Frames
import Logging
import Platform

/// Whose devices the cameras are, and their lenses.
extension Daemon {
    /// Gives each role its own of the cameras that there are.
    func assignCameras() {
        let cameras = configuration.cameras
        let lenses = Role.allCases.flatMap { cameras[$0].claimedLenses }

        let found = assign(
            // A device that is a lens is nobody's to find.
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
            holding: PerRole(back: sources.back?.identity, front: sources.front?.identity)
        )
        for role in Role.allCases { give(role, role == .back ? found.back : found.front) }
    }

    /// Makes `device` the camera of `role`, where its source asks for a device.
    private func give(_ role: Role, _ device: CameraDevice?) {
        let specification = configuration.cameras[role].source
        let before = sources[role]
        do throws(CaptureError) {
            var source = try cameraSource(specification, role: role, device: device)
            // A camera that was pulled out while it is looked at keeps its role: it may come back.
            if source == nil, state.isInUse, let before {
                source = V4L2Source(missing: before.identity, name: before.name)
            }
            if source?.identity != sources[role]?.identity {
                Log.capture.notice(
                    "camera",
                    metadata: ["camera": "\(role.rawValue)", "name": "\(source?.name ?? "none")"]
                )
                // What another camera showed is not to be taken for this one's picture.
                if sources[role] != nil { send(.cameraAssigned(role, name: nil)) }
            }
            sources[role] = source
            send(.cameraProblem(role, ""))
        } catch {
            let problem = "The \(role.rawValue) camera's source: \(error)"
            if state.cameras[role].problem != problem {
                Log.capture.error("\(problem)", metadata: ["camera": "\(role.rawValue)"])
            }
            sources[role] = nil
            send(.cameraProblem(role, problem))
        }
        send(.cameraIdentified(role, sources[role]?.identity ?? ""))
        findLenses(role)
        send(.cameraAssigned(role, name: sources[role]?.name))
    }

    /// Finds out which of a role's lenses are there, and where.
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
        send(.lensesFound(role, lenses))
        let lens = state.cameras[role].lens
        if let was = before[lens.device], let now = found[lens.device], was.place != now.place {
            send(.cameraMoved(role))
            useControls(role)
        }
    }

    /// The device that `specification` asks for; one that was there before is known by the same name though it is
    /// gone. `nil` for what can be none.
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

    /// The device of a role that is known by this.
    func source(_ role: Role, _ device: String) -> (any CameraSource)? {
        lensSources[role][device] ?? (sources[role]?.identity == device ? sources[role] : nil)
    }

    /// Leaves a device automatic that another one takes the place of without crossing over.
    func leaveLens(_ role: Role, _ before: State) {
        let (camera, old) = (state.cameras[role], before.cameras[role])
        if let was = old.lens.incoming, let now = camera.lens.incoming, was.device != now.device {
            controls?[role][camera.lens.pipeline.other].leave()
        }
        if camera.identity == old.identity, camera.lens.pipeline == old.lens.pipeline,
            camera.lens.device != old.lens.device
        {
            controls?[role][camera.lens.pipeline].leave()
        }
    }

    /// Closes the device of a role that is not shown, and leaves it automatic.
    func closeLens(_ role: Role) {
        let pipeline = state.cameras[role].lens.pipeline.other
        lensTimers?[role].endLooking()
        cameras?[role][pipeline].close(keepingPicture: false)
        controls?[role][pipeline].leave()
    }

    /// Looks how light the picture is that is shown.
    func lookAtLight(_ role: Role) {
        lensTimers?[role].watchLight(true)
        let lens = state.cameras[role].lens
        guard let luma = slots[role][lens.pipeline].latest?.brightness else { return }
        guard LensState.mayBeDark(luma), !state.cameras[role].controls.device.isEmpty else {
            return send(.lensLight(role, luma))
        }
        // What the camera's automatics have made of it is told by no event.
        perform(.look, role) { [self] _ in
            if state.cameras[role].lens.device == lens.device { send(.lensLight(role, luma)) }
        }
    }

    /// Looks whether the device that gets ready delivers pictures that can be shown.
    func lookAtLens(_ role: Role) {
        let lens = state.cameras[role].lens
        guard let incoming = lens.incoming, incoming.mode != nil, !incoming.isCrossing else {
            lensTimers?[role].endLooking()
            return
        }
        let slot = slots[role][lens.pipeline.other]
        if lensTimers?[role].isSteady(slot) ?? false { send(.lensReady(role)) }
    }

    /// Cameras came or went.
    func camerasChanged(_ found: [CameraDevice]) {
        devices = found
        assignCameras()
        for role in Role.allCases where state.cameras[role].interruption != .none {
            cameras?[role][state.cameras[role].lens.pipeline].retry()
        }
    }
}

extension Configuration.Camera {
    /// The sources of its lenses that no role may find by itself; of a camera that finds its own, not the one that
    /// it is itself.
    fileprivate var claimedLenses: [SourceSpecification] {
        lenses.filter { source != .auto || $0.factor != 1 }.compactMap(\.source)
    }
}

extension CameraSource {
    /// Whether it is there to be opened, as far as can be told.
    fileprivate var isThere: Bool { !(self is V4L2Source) || !place.isEmpty }
}
