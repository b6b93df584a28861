import Frames

/// All that commands, scenes and the configuration set while the daemon runs.
package struct Settings: Hashable, Sendable {
    package var scene = Configuration.SceneSettings()
    /// `true` if photographs come with a short movie.
    package var takesLivePhotos = false
    /// `true` if the cameras are closed while the screen is locked.
    package var closesAtLock = true
    /// The file of the picture that is shown while the cameras are off; `nil`: none.
    package var away: String?
    /// `true` if front is the main picture.
    package var isSwapped = false
    package var isPro = false
    /// The dial chosen last.
    package var dial = Dial.iso
    /// The orientation set by the user; `nil`: that of the sensor.
    package var orientation: DeviceOrientation?
    /// The title; `nil`: none.
    package var title: Title?
    package var titleCorner = Corner.bottomLeft
    /// `true` if the cameras are closed; otherwise `nil`.
    var isPrivate: Bool?
    package var cameras = PerRole(back: CameraSettings(), front: CameraSettings())

    package init() {}

    /// Settings with which each row can have all of its values.
    package static var widest: Settings {
        var settings = Settings()
        settings.scene.style.insetShape = .person
        return settings
    }

    /// The role of the main picture, as long as it has a camera.
    var main: Role {
        get { isSwapped ? .front : .back }
        set { isSwapped = newValue == .front }
    }

    /// The rows of all but the cameras.
    package static let rows =
        own + Configuration.SceneSettings.rows.lifted(by: \.scene)
        + [
            Configuration.livePhoto.lifted(by: \.takesLivePhotos),
            Configuration.closingAtLock.lifted(by: \.closesAtLock),
            Configuration.awayPicture.lifted(by: \.away),
        ]

    private static let own: [Setting<Self>] = [
        .init("swapped", nil, \.isSwapped, .boolean, nil, .always),
        .init("main", nil, \.main, .choice(), .main),
        .init("pro", nil, \.isPro, .boolean, .pro, .always),
        .init("dial", nil, \.dial, .choice(), nil, .always),
        .init("orientation", nil, \.orientation, .automaticChoice(), nil, .changed),
        .init("title", nil, \.title, .title, .title, .changed),
        .init("title-corner", nil, \.titleCorner, .choice(), .title, .changed),
        // The daemon applies it: it is stored, and answered once the cameras are closed.
        .init("privacy", nil, \.isPrivate, .optional(.boolean), .privacy),
    ]
}

/// The settings of one camera that commands, scenes and the configuration change.
package struct CameraSettings: Hashable, Sendable {
    /// `true` if its picture is mirrored left to right.
    package var mirror = false
    /// The rotation of the mounted camera, in degrees clockwise: 0, 90, 180 or 270.
    package var rotation = 0
    /// The corners that are shown as the whole, in the picture as the camera delivers it; `nil`:
    /// all of it. They stay when the rotation changes.
    package var corners: Perspective?
    /// `true` if its picture is graded for paper: even light, white paper, dark ink.
    package var isInk = false
    package var room = Room.asIs
    /// The strength of the room's blur, 0 … 1.
    package var roomBlur = 0.5
    package var framing = FramingMode.off
    /// The size of faces in the part of a picture that calm framing shows, 0 … 1.
    package var framingTightness = 0.5
    package var metering = Metering.frame
    /// The magnification, which also selects the lens.
    var zoom = 1.0
    /// `true` if the zoom was asked for. Otherwise the device's own stays as it was found.
    var isZoomAsked = false
    /// The point in the middle, in the picture of the lens "wide".
    var middle = NormalizedPoint.middle
    var manual = ManualControls()

    /// The corners in the picture upright as it is mounted, and not mirrored.
    package var perspective: Perspective? {
        get { turned(corners, rotation / 90) }
        set { corners = turned(newValue, -rotation / 90) }
    }

    private func turned(_ corners: Perspective?, _ quarterTurns: Int) -> Perspective? {
        guard quarterTurns != 0 else { return corners }
        return corners?.turned(by: Transform(quarterTurns: quarterTurns)).rounded
    }

    /// The rows, what changes the picture's shape before what is a place in it.
    package static let rows = own + ManualControls.rows.lifted(by: \.manual)

    private static let own: [Setting<Self>] = [
        .init(
            "mirror",
            "mirror the picture left to right",
            \.mirror,
            .boolean,
            .mirror,
            .guardedTogether
        ),
        .init(
            "rotation",
            "how the camera is mounted: 0 | 90 | 180 | 270 degrees clockwise",
            \.rotation,
            .choice(of: [0, 90, 180, 270]),
            .rotation,
            .guardedTogether
        ),
        .init(
            "perspective",
            "corners of a page to straighten: [[x, y], …], 0 to 1, clockwise from the top left",
            \.perspective,
            .corners,
            .perspective
        ),
        // What is kept is what the camera delivers.
        .init("perspective", nil, \.corners, .corners, nil, .guarded),
        .init(
            "ink",
            "for paper: even light, white paper, dark ink",
            \.isInk,
            .boolean,
            .ink,
            .guarded
        ),
        .init(
            "room",
            "behind a person: as-is | blur | the path of a picture to show instead",
            \.room,
            .words(Room.init(parsing:)),
            .room,
            .guarded
        ),
        .init(
            "room-blur",
            "how much a blurred room is blurred, 0 to 1",
            \.roomBlur,
            .number(0...1),
            .room,
            .guarded
        ),
        .init(
            "framing",
            "calm: the picture is cropped to you, and moves when you have moved | off",
            \.framing,
            .choice(),
            .zoom,
            .guarded
        ),
        .init(
            "framing-tightness",
            "how large calm framing shows you, 0 to 1",
            \.framingTightness,
            .number(0...1),
            .zoom,
            .guarded
        ),
        .init(
            "metering",
            "what has the right light: frame (all of the picture) | face",
            \.metering,
            .choice(),
            .pro,
            .guarded
        ),
        .init("zoom", nil, \.zoom, .number(0.1...100), .zoom, .changed),
        .init("zoom-at", nil, \.middle, .point, .zoom),
    ]
}

extension ManualControls {
    /// The parts of the automatic that are held.
    var held: Set<ControlLock.Subject> {
        get { Set(lock.subjects) }
        set {
            lock.values = lock.values.filter { newValue.contains($0.key) }
            for subject in newValue where lock.values[subject] == nil { lock.values[subject] = [:] }
        }
    }

    static let rows = dials + image

    private static let dials: [Setting<Self>] = [
        .init("iso", nil, \.iso, .automatic(.integer(1...1_000_000)), .pro, .changed),
        .init("shutter", nil, \.shutter, .automatic(.integer(1...1 << 40)), .pro, .changed),
        .init("holds-shutter", nil, \.holdsShutter, .boolean, nil, .changed),
        .init("focus", nil, \.focus, .automatic(.number(0...1)), .pro, .changed),
        .init("white-balance", nil, \.whiteBalance, .whiteBalance, .pro, .changed),
        .init(
            "compensation",
            nil,
            \.compensation,
            .number(CameraControls.compensations),
            .pro,
            .changed
        ),
        // After the others, since a dial that is turned ends what is held of its value.
        .init("lock", nil, \.held, .subjects, .lock),
    ]

    private static let image = ImageControl.allCases.map { name in
        Setting(
            name.rawValue,
            "auto | a number, as dualcamctl image shows",
            \Self.image[name],
            .automatic(.integer(-1_000_000...1_000_000)),
            .image,
            .guarded
        )
    }
}

extension SceneStyle {
    static let rows: [Setting<Self>] = [
        .init(
            "layout",
            "pip | side-by-side | stacked | single",
            \.layout,
            .choice(),
            .layout,
            .guarded
        ),
        .init("inset-visible", nil, \.insetVisible, .boolean, .inset, .guarded),
        .init(
            "inset-shape",
            "rectangle | circle | person (without the room)",
            \.insetShape,
            .choice(),
            .inset,
            .guarded
        ),
        .init(
            "inset-corner",
            "top-left | top-right | bottom-left | bottom-right",
            \.insetCorner,
            .choice(),
            .inset,
            .guarded
        ),
        .init(
            "inset-position",
            "a free place: [x, y], [0, 0] at the top left to [1, 1]; []: in the corner",
            \.insetPosition,
            .place,
            .inset,
            .guarded
        ),
        .init(
            "inset-size",
            "a fraction of the stream's width: 0.1 to 0.5; a person: to 1",
            \.insetSize,
            .number(SceneStyle.insetSizes),
            .inset,
            .guarded
        ) { .number($0.insetShape.sizes) },
        .init("inset-margin", "a fraction of the stream's width", \.insetMargin, .number(0...0.25)),
        .init(
            "inset-border",
            "pixels, in a stream 720 high; 0: none, and a person has no shadow",
            \.insetBorder,
            .number(0...64)
        ),
        .init("inset-radius", "pixels, in a stream 720 high", \.insetRadius, .number(0...512)),
        .init(
            "gap",
            "pixels between side by side or stacked pictures, in a stream 720 high",
            \.gap,
            .number(0...64)
        ),
        .init(
            "background",
            "for another aspect ratio: blur or black around it | crop | auto (crop in halves, else blur)",
            \.background,
            .choice(),
            .crop,
            .guarded
        ),
        .init(
            "swap-duration-ms",
            "milliseconds; 0: at once",
            \.swapDuration,
            .milliseconds(0...5000)
        ),
        .init(
            "swap-icon",
            "show an icon in the corner of the inset",
            \.swapIcon,
            .boolean,
            .inset,
            .guarded
        ),
        .init(
            "record-mark",
            "show the mark of a recording in the stream; the recording itself has none",
            \.recordMark,
            .boolean
        ),
    ]
}

extension Configuration.SceneSettings {
    static let rows =
        SceneStyle.rows.lifted(by: \.style) + [
            Setting(
                "hud",
                "when to show the camera's values: off | pro (while Pro mode is on) | always",
                \Self.hud,
                .choice(),
                .hud,
                .guarded
            )
        ]
}

extension Configuration {
    static let closingAtLock = Setting<Bool>(
        "close-at-lock",
        "close the cameras while the screen is locked",
        \.self,
        .boolean
    )
    static let awayPicture = Setting<String?>(
        "away",
        "the file of a picture to show while privacy closes the cameras, and until they start",
        \.self,
        .path,
        nil,
        .guarded
    )
    static let livePhoto = Setting<Bool>(
        "live-photo",
        "save a short movie with each photo",
        \.self,
        .boolean,
        nil,
        .guarded
    )
}

/// A part of a scene, by the words of `--only`.
package enum ScenePart: String, CaseIterable, Hashable, Sendable {
    case main, layout, inset, crop, rotation, mirror, perspective, ink, room, zoom, image, pro,
        lock,
        hud, title, privacy
}
