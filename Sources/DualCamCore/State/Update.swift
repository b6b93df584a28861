package import Frames

/// An action that passes a change of the state on to a part of the daemon. It names what changed;
/// the part takes the values from the state.
package enum Update: Hashable, Sendable {
    /// Uses these devices for a role from now on.
    case use(Role, CameraUse)
    /// Looks for cameras now, since somebody begins to watch.
    case lookForCameras
    /// Resets the controls of the device that used this pipeline to automatic.
    case leaveControls(Role, CapturePipeline)
    case showScene
    /// Shows or hides the room in a camera's pictures from now on.
    case showRoom(Role)
    /// Reads the user's own picture, which is shown while the cameras are off.
    case readAway
    /// Keeps the newest picture of a role, or forgets it.
    case freeze(Role, Freeze)
    /// Records a role's picture from the pipeline that is shown now, instead of from this one.
    case moveTap(Role, from: CapturePipeline)
    case useControls(Role)
    case useIncomingControls(Role)
    /// Begins or ends measurements of the brightness of the picture shown.
    case watchLight(Role, Bool)
    /// Looks for faces in a camera's picture as `faceSearch` says from now on.
    case findFaces(Role)
    /// Serves no phone, or those that are wanted.
    case allowPhones(Bool)
    /// Serves this phone no longer because it is being added.
    case endAddingPhone(String)
    /// Turns all torches off, since nobody may be filmed now.
    case turnTorchesOff
    /// Begins or ends the mirror on a loopback device.
    case mirror(Bool)
    /// Watches who is linked to these nodes.
    case watchViewers(nodes: [UInt32])
    /// Shows the values of a camera on its own node; `nil`: the main camera's on the stream's.
    case showControls(Role?)

    /// A change of what is frozen.
    package enum Freeze: Hashable, Sendable {
        /// The newest picture stays.
        case on
        /// Live pictures are shown again.
        case off
        /// The picture that was kept is the last one, since its camera closes or is replaced.
        case last
    }
}

extension State {
    /// Returns what has to be passed on after `event` has changed the state from `before`. Pure.
    package func updates(after event: Event, from before: State) -> [Update] {
        var updates: [Update] = []
        for role in Role.allCases where search.uses[role] != before.search.uses[role] {
            updates.append(.use(role, search.uses[role]))
        }
        if case .node(_, .consumed(true)) = event { updates.append(.lookForCameras) }
        for role in Role.allCases { updates += leftControls(role, before) }
        for role in Role.allCases where cameras[role].isFrozen != before.cameras[role].isFrozen {
            updates.append(.freeze(role, freeze(role, before)))
        }
        if away.path != before.away.path { updates.append(.readAway) }
        // Before the scene, which may show a picture whose room is to be hidden.
        for role in Role.allCases where cameras[role].roomLook != before.cameras[role].roomLook {
            updates.append(.showRoom(role))
        }
        if scene != before.scene { updates.append(.showScene) }
        for role in Role.allCases {
            let pipeline = before.cameras[role].lens.pipeline
            if pipeline != cameras[role].lens.pipeline {
                updates.append(.moveTap(role, from: pipeline))
            }
        }
        for role in Role.allCases where controlUse(role) != before.controlUse(role) {
            updates.append(.useControls(role))
        }
        for role in Role.allCases {
            if incomingUse(role) != before.incomingUse(role), cameras[role].lens.incoming != nil {
                updates.append(.useIncomingControls(role))
            }
            if faceSearch(role) != before.faceSearch(role) { updates.append(.findFaces(role)) }
            let watchesLight = watchesLight(role)
            if watchesLight != before.watchesLight(role) {
                updates.append(.watchLight(role, watchesLight))
            }
        }
        if let name = before.phones.adding, name != phones.adding {
            updates.append(.endAddingPhone(name))
        }
        if before.suspensions.isEmpty != suspensions.isEmpty {
            updates.append(.allowPhones(suspensions.isEmpty))
        }
        if before.suspensions.isEmpty, !suspensions.isEmpty { updates.append(.turnTorchesOff) }
        if isActive != before.isActive { updates.append(.mirror(isActive)) }
        if nodeIDs != before.nodeIDs { updates.append(.watchViewers(nodes: nodeIDs)) }
        return updates + shownControls(after: event, from: before)
    }

    private func freeze(_ role: Role, _ before: State) -> Update.Freeze {
        if cameras[role].isFrozen { return .on }
        let isSame = cameras[role].identity == before.cameras[role].identity
        return isSame && cameras[role].isAsked ? .off : .last
    }

    /// Resets the controls of a device when another one replaces it without a cross-fade.
    private func leftControls(_ role: Role, _ before: State) -> [Update] {
        let (camera, old) = (cameras[role], before.cameras[role])
        var updates: [Update] = []
        if let was = old.lens.incoming, let now = camera.lens.incoming, was.device != now.device {
            updates.append(.leaveControls(role, camera.lens.pipeline.other))
        }
        if camera.identity == old.identity, camera.lens.pipeline == old.lens.pipeline,
            camera.lens.device != old.lens.device
        {
            updates.append(.leaveControls(role, camera.lens.pipeline))
        }
        return updates
    }

    /// The facts by which the incoming device's controls are set.
    private struct IncomingUse: Hashable {
        var device: String?
        var mode: CaptureMode?
        var zoomNumber: Int
    }

    private func incomingUse(_ role: Role) -> IncomingUse {
        let lens = cameras[role].lens
        return IncomingUse(
            device: lens.incoming?.device,
            mode: lens.incoming?.mode,
            zoomNumber: lens.zoomNumber
        )
    }

    private func watchesLight(_ role: Role) -> Bool {
        cameras[role].lens.isLightWatched && cameras[role].mode != nil
    }

    private func shownControls(after event: Event, from before: State) -> [Update] {
        var updates: [Update] = []
        // A new node knows of no values yet.
        var isNew = false
        if case .node(nil, .published) = event { isNew = true }
        let main = publishedControls(of: scene.main)
        if isNew || main != before.publishedControls(of: before.scene.main) {
            updates.append(.showControls(nil))
        }
        for role in Role.allCases
        where publishedControls(of: role) != before.publishedControls(of: role) {
            updates.append(.showControls(role))
        }
        return updates
    }
}

extension State {
    /// Returns the values of the camera of `role` that its node shows to applications.
    package func publishedControls(of role: Role) -> [NodeProperty] {
        func control(_ name: NodeProperty.Name, _ value: Int?, _ stops: [Int]) -> NodeProperty? {
            guard let value, let least = stops.first, let most = stops.last, least <= most else {
                return nil
            }
            return NodeProperty(name, Double(value), in: Double(least)...Double(most))
        }
        let controls = cameras[role].controls
        let kelvin = [Stops.kelvin.lowerBound, Stops.kelvin.upperBound]
        return [
            control(.whiteBalance, controls.kelvin ?? 5500, kelvin),
            control(.gain, controls.iso, controls.isoStops),
            control(.exposure, controls.shutter, controls.shutterStops),
            controls.focus.map { NodeProperty(.focus, $0, in: 0...1) },
        ].compactMap { $0 }
    }
}

extension ControlCommand {
    /// The command for a value that an application wrote; `nil` if no camera could take it.
    package init?(setting name: NodeProperty.Name, to value: Double) {
        guard value.isFinite, abs(value) <= 1e9 else { return nil }
        self =
            switch name {
            case .exposure: .shutter(Int(value))
            case .gain: .iso(Int(value))
            case .whiteBalance: .whiteBalance(.kelvin(Int(value)))
            case .focus: .focus(value)
            }
    }
}
