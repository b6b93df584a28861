// The keys of `dualcam.toml` that only the file sets; the others are in `Settings.swift`.

import Frames

extension Configuration.Output {
    static let rows = own + [Configuration.awayPicture.lifted(by: \.away)]

    private static let own: [Setting<Self>] = [
        .init("width", "pixels, a multiple of 4", \.size.width, .integer(160...7680, step: 4)),
        .init("height", "pixels, even", \.size.height, .integer(120...4320, step: 2)),
        .init("frame-rate", "whole frames per second", \.frameRate, .integer(1...240)),
        .init("node-name", "name of the PipeWire node", \.nodeName, .identifier),
        .init("description", "the name that apps show", \.description, .title),
    ]
}

extension Configuration {
    struct Table {
        /// The names in its heading.
        let path: [String]
        let rows: [Setting<Configuration>]

        init(_ path: String..., rows: [Setting<Configuration>]) {
            (self.path, self.rows) = (path, rows)
        }
    }

    /// The tables of the file, in its order, but for those of lenses.
    static let tables: [Table] = [
        Table("output", rows: Output.rows.lifted(by: \.output) + [languageRow]),
        Table("cameras", rows: cameraRows),
        Table("cameras", "back", rows: Camera.rows.lifted(by: \.cameras.back)),
        Table("cameras", "front", rows: Camera.rows.lifted(by: \.cameras.front)),
        Table("scene", rows: SceneSettings.rows.inFile().lifted(by: \.scene)),
        Table("capture", rows: Capture.rows.lifted(by: \.capture)),
        Table("state", rows: [memoryRow]),
        Table("access", rows: [sandboxRow]),
        Table("loopback", rows: [loopbackRow]),
        Table("desktop", rows: [desktopRow, closingAtLock.lifted(by: \.closesAtLock)]),
    ]

    private static let languageRow = Setting<Self>(
        "language",
        "of the words in the picture: auto (yours), or one such as de, pt_BR",
        \.language,
        .identifier
    )

    private static let cameraRows: [Setting<Self>] = [
        .init(
            "ignore",
            "devices that auto never takes, by any name that source accepts",
            \.ignoredCameras,
            .deviceNames
        )
    ]

    private static let memoryRow = Setting<Self>(
        "remember",
        "what survives a restart: \"settings\" | true (also the swap) | false (nothing)",
        \.memory,
        .memory
    )
    private static let sandboxRow = Setting<Self>(
        "sandboxed",
        "what Flatpak and Snap apps may do on D-Bus: view (also swap, layout, scenes) | all",
        \.sandboxAccess,
        .choice()
    )
    private static let loopbackRow = Setting<Self>(
        "device",
        "copy the stream to a v4l2loopback device: auto | /dev/videoN; empty: none",
        \.loopback,
        .loopbackDevice
    )
    private static let desktopRow = Setting<Self>(
        "hide-cameras",
        "apps list DualCam alone, not its cameras; after a change: dualcamctl doctor --fix",
        \.hidesCameras,
        .boolean
    )
}

extension Configuration.Camera {
    static let rows = source + CameraSettings.rows.inFile().lifted(by: \.settings) + device

    private static let source: [Setting<Self>] = [
        .init(
            "source",
            "auto | v4l2:<by-id name, bus path or /dev path> | test | test:<name> | file:<path> | "
                + "pipewire:<node name> | url:<http, https, rtsp or srt address> | phone | "
                + "phone:<name>",
            \.source,
            .words(SourceSpecification.init(parsing:))
        ),
        .init(
            "credentials",
            "for url: the file with your user:password, in one line; empty: none",
            \.credentials,
            .path
        ),
    ]

    private static let device: [Setting<Self>] = [
        .init(
            "capture",
            "auto | 1280x720@30 | 1280x720@30/MJPG …",
            \.capture,
            .words(CaptureModePreference.init(parsing:))
        ),
        .init(
            "aperture",
            "f-number, if the device does not report it; 0: unknown",
            \.aperture,
            .number(0...64)
        ),
        .init(
            "iso-range",
            "ISO at the lowest and the highest gain, if the device does not report it",
            \.isoRange,
            .integers(1...1_000_000)
        ),
        .init(
            "focus-reversed",
            "true if larger focus values of the device are farther away",
            \.isFocusReversed,
            .boolean
        ),
        .init("hold-rate", "no slower frames in the dark", \.holdsRate, .boolean),
        .init(
            "anti-flicker",
            "for lamps: auto (by your region) | 50 | 60 (Hz) | off (the camera's own setting)",
            \.antiFlicker,
            .choice()
        ),
        .init("torch", "an LED in /sys/class/leds; empty: the camera's own light", \.torch, .led),
        .init("node", "also offer this camera alone to apps", \.isOffered, .boolean),
    ]
}

extension Configuration.LensSettings {
    static let rows: [Setting<Self>] = [
        .init("name", "ultra-wide | wide | telephoto, or any word", \.name, .identifier),
        .init("factor", "magnification; \"wide\" is 1", \.factor, .number(0.1...100)),
        .init(
            "source",
            "another device; if left out, a zoom step of the same one",
            \.source,
            .deviceOfLens
        ),
    ]
}

extension Configuration.Capture {
    static let rows =
        places + [Configuration.livePhoto.lifted(by: \.takesLivePhotos)] + files

    private static let places: [Setting<Self>] = [
        .init(
            "photo-directory",
            "empty: DualCam in your Pictures directory",
            \.photoDirectory,
            .path
        ),
        .init(
            "video-directory",
            "empty: DualCam in your Videos directory",
            \.videoDirectory,
            .path
        ),
        .init("mirror-photos", "mirror photos as in the stream", \.mirrorsPhotos, .boolean),
    ]

    private static let files: [Setting<Self>] = [
        .init("audio", "record sound", \.recordsAudio, .boolean),
        .init(
            "microphone",
            "its node.name in PipeWire; empty: the one that the desktop has chosen",
            \.microphone,
            .node
        ),
        .init(
            "record-cameras",
            "record each camera in a file of its own, besides the stream",
            \.recordsCameras,
            .boolean
        ),
        .init("format", "of recordings: mkv | mp4, made of it at their end", \.format, .choice()),
        .init(
            "file-mode",
            "who may read photos and recordings, as for chmod: 600 (you alone) | 640 | 644 …",
            \.fileMode,
            .words(FileMode.init(parsing:))
        ),
        .init("allow-swap-while-recording", "", \.allowsSwapWhileRecording, .boolean),
    ]
}
