import Frames

/// Pro mode: whether it is on, which dial is in use, and what the HUD says of it.
package struct Pro: Hashable, Sendable {
    /// Whether it is on.
    package var isEnabled = false
    /// The dial in use.
    package var dial = Dial.iso
    /// When the HUD is shown.
    package var hud = HudMode.pro
    /// The end that the last command ran into.
    var limit: Bound?

    /// Off.
    package init() {}
}

extension State {
    /// Whether the values of the cameras are on show, so that they are to be looked after.
    package var showsControls: Bool { pro.isEnabled || pro.hud == .always }

    /// What the care for a role's controls goes by: which camera it is, whether it delivers, and at what
    /// rate; whether the values are on show.
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

    /// A command of the photographer's was done.
    mutating func commanded(_ role: Role, _ dial: Dial?, _ limit: Bound?, at time: Timestamp) {
        guard let dial, role == scene.main else { return }
        pro.dial = dial
        pro.limit = limit
        // Shutter times lie from long to short, so that faster is to the right.
        let isRising = (limit == .maximum) != (dial == .shutter)
        scene.touchHud(at: time, limit: limit, rising: isRising)
    }

    /// Has the scene show the values of the main camera, and each camera's picture graded.
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

/// What the care for a camera's controls goes by.
package struct ControlUse: Hashable, Sendable {
    var device: String
    var pipeline: CapturePipeline
    var settings: ControlSettings
    /// Frames per second, while it delivers.
    var rate: Double?
    var isShown: Bool
    var zoomNumber: Int?
}
