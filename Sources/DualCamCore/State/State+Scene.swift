import Frames

/// The user's own picture, in place of cameras that are off.
package struct AwayState: Hashable, Sendable {
    /// The file that is wanted; `nil`: none.
    package internal(set) var path: String?
    /// The file that was read last.
    var read: String?
    /// The roles whose cameras have been started, and have sent no picture yet.
    var starting: Set<Role> = []

    var isThere: Bool { path != nil && path == read }
}

extension State {
    mutating func handle(_ event: SceneEvent, at time: Timestamp) {
        switch event {
        case .swap(let instantly):
            scene.setSwapped(!scene.isSwapped, at: time, instantly: instantly)
        case .setSwapped(let isSwapped, let instantly):
            scene.setSwapped(isSwapped, at: time, instantly: instantly)
        case .reset(let style, let instantly):
            scene.setSwapped(false, at: time, instantly: instantly)
            scene.setStyle(style, at: time, instantly: instantly)
        case .awayRead(let path): away.read = path
        }
    }

    /// Updates the scene with the cameras that are there, and those that deliver.
    mutating func showCameras(_ before: State, at time: Timestamp) {
        /// The seconds that a camera's start is not shown, and those for another lens in its place.
        let (swift, lensTimeout) = (0.5, 2.0)
        /// The seconds that the last picture stays during a change to the largest mode, or back.
        let fullTimeout = 3.0
        for role in Role.allCases {
            cameras[role].orientationTurns = orientation.current.quarterTurns(of: role)
            let camera = cameras[role]
            let turns = camera.shownTurns != before.cameras[role].shownTurns
            scene.setTransform(camera.transform, of: role, at: time, eased: turns)
            if camera.hasCamera != before.cameras[role].hasCamera {
                scene.setPresent(role, camera.hasCamera, at: time)
            }
            // A frozen picture needs no camera that delivers; one that privacy ends is not frozen.
            if camera.isFrozen {
                scene.setNotice(nil, of: role, at: time)
                continue
            }
            let isStart = (time - neededSince).seconds < swift && camera.suspension == nil
            switch camera.phase {
            case .unavailable where !camera.hasCamera:
                scene.setNotice(.noCamera, of: role, at: time, instantly: true)
            case .closed, .unavailable: scene.setNotice(nil, of: role, at: time, instantly: true)
            case .streaming: scene.setNotice(nil, of: role, at: time, instantly: isStart)
            case .opening where before.cameras[role].phase == .streaming:
                // It reopens in another mode, and may be back before anybody notices.
                scene.setNotice(
                    .waiting,
                    of: role,
                    at: time,
                    after: camera.full == .off ? swift : fullTimeout
                )
            case .opening: scene.setNotice(.waiting, of: role, at: time)
            case .interrupted:
                // Another lens may take over before anybody notices that this one has stopped.
                scene.setNotice(
                    Notice(camera.interruption),
                    of: role,
                    at: time,
                    after: camera.lens.incoming == nil || camera.suspension != nil ? 0 : lensTimeout
                )
            }
        }
        showAway(before, at: time)
    }

    /// Shows the user's own picture while privacy keeps the cameras closed, and until the main one
    /// has started.
    private mutating func showAway(_ before: State, at time: Timestamp) {
        for role in Role.allCases {
            let was = before.cameras[role]
            if cameras[role].phase != .opening {
                away.starting.remove(role)
            } else if was.phase == .closed || was.suspension != nil {
                away.starting.insert(role)
            }
        }
        let isOff = suspensions.contains(.privacy)
        scene.setAway(
            away.isThere && (isOff || away.starting.contains(scene.main)),
            at: time,
            instantly: before.cameras[scene.main].phase == .closed
        )
    }
}
