import Frames

/// The state of Pro mode.
package struct Pro: Hashable, Sendable {
    /// `true` while Pro mode is on.
    package var isEnabled = false
    /// The dial in use.
    package var dial = Dial.iso
    /// The setting for when the HUD is shown.
    package var hud = HudMode.pro
    /// The end of the dial that the last command ran into.
    var limit: Bound?

    /// Pro mode, turned off.
    package init() {}
}

extension State {
    /// `true` while the values of the cameras are visible, and so have to be kept current.
    package var showsControls: Bool { pro.isEnabled || pro.hud == .always }

    /// Returns the circumstances that decide how a role's controls are polled and set.
    package func controlUse(_ role: Role) -> ControlUse {
        let camera = cameras[role]
        return ControlUse(
            device: camera.lens.device,
            pipeline: camera.lens.pipeline,
            settings: camera.controls.settings,
            rate: camera.mode?.rate,
            isShown: showsControls,
            zoomNumber: zoomRequest(role)?.number
        )
    }

    /// Notes that a command of the photographer's was carried out.
    mutating func commanded(_ role: Role, _ dial: Dial?, _ limit: Bound?, at time: Timestamp) {
        guard let dial, role == scene.main else { return }
        pro.dial = dial
        pro.limit = limit
        // The scale runs from long to short times, so that faster is to the right.
        let isRising = (limit == .maximum) != (dial == .shutter)
        scene.touchHud(at: time, limit: limit, rising: isRising)
    }

    /// Shows the values of the main camera in the scene, and corrects each camera's picture.
    mutating func showControls(at time: Timestamp) {
        for role in Role.allCases {
            let lens = cameras[role].lens
            scene.grades[role][lens.pipeline] = cameras[role].controls.grade
            scene.grades[role][lens.pipeline.other] = lens.incoming?.controls.grade ?? .none
        }
        let isSeen = pro.hud == .always || (pro.hud == .pro && pro.isEnabled)
        let camera = cameras[scene.main]
        guard isSeen else { return scene.setHud(nil, at: time) }
        var content = HudContent(
            camera.controls,
            aperture: camera.aperture,
            dial: pro.isEnabled ? pro.dial : nil,
            limit: pro.limit,
            recording: recording.seconds(at: time)
        )
        content.show(camera.lens)
        content.inset = scene.lowInset
        scene.setHud(content, at: time)
    }
}

/// The circumstances that decide how a camera's controls are polled and set.
package struct ControlUse: Hashable, Sendable {
    var device: String
    var pipeline: CapturePipeline
    var settings: ControlSettings
    /// The rate in frames per second, while the camera delivers.
    var rate: Double?
    var isShown: Bool
    var zoomNumber: Int?
}
