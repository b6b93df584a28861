import Frames
import TOMLKit

/// One key of a table that describes an `Owner`: its name, its purpose, and how it is read and
/// written. The tables below are the only list of keys; reading, warnings and printing use them.
struct ConfigurationKey<Owner>: Sendable {
    let name: String
    let comment: String
    let read: @Sendable (any TOMLValueConvertible, inout Owner) throws(UnreadableValue) -> Void
    let text: @Sendable (Owner) -> String

    init<Value>(
        _ name: String,
        _ comment: String,
        _ path: any WritableKeyPath<Owner, Value> & Sendable,
        _ form: ValueForm<Value>
    ) {
        self.name = name
        self.comment = comment
        read = { node, owner throws(UnreadableValue) in
            owner[keyPath: path] = try form.read(node)
        }
        text = { form.text($0[keyPath: path]) }
    }
}

extension Configuration.Output {
    static let keys: [ConfigurationKey<Self>] = [
        .init("width", "pixels, a multiple of 4", \.size.width, .integer(160...7680, step: 4)),
        .init("height", "pixels, even", \.size.height, .integer(120...4320, step: 2)),
        .init("frame-rate", "whole frames per second", \.frameRate, .integer(1...240)),
        .init("node-name", "name of the PipeWire node", \.nodeName, .identifier),
        .init("description", "the name that apps show", \.description, .title),
    ]
}

extension Configuration {
    static let cameraKeys: [ConfigurationKey<Self>] = [
        .init(
            "ignore",
            "devices that auto never takes, by any name that a source may have",
            \.ignoredCameras,
            .deviceNames
        )
    ]
}

extension Configuration.Camera {
    static let keys: [ConfigurationKey<Self>] = [
        .init(
            "source",
            "auto | v4l2:<by-id name, bus path or /dev path> | test | test:<name> | file:<path> | "
                + "pipewire:<node name> | url:<http, https, rtsp or srt address>",
            \.source,
            .words(SourceSpecification.init(parsing:))
        ),
        .init(
            "credentials",
            "for url: a file of yours with one line, user:password; empty: none",
            \.credentials,
            .file
        ),
        .init("mirror", "mirror the picture left to right", \.mirror, .boolean),
        .init(
            "rotation",
            "how the camera is mounted: 0 | 90 | 180 | 270 degrees clockwise",
            \.rotation,
            .choice(of: [0, 90, 180, 270])
        ),
        .init(
            "perspective",
            "corners shown as the whole: [[x, y], …], 0 to 1, clockwise from the top left",
            \.perspective,
            .corners
        ),
        .init("ink", "for paper: even light, white paper, dark ink", \.isInk, .boolean),
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
            "of lamps: auto (by your region) | 50 | 60 (Hz) | off (as the camera has it)",
            \.antiFlicker,
            .choice()
        ),
        .init(
            "torch",
            "an LED in /sys/class/leds; empty: the camera's own light",
            \.torch,
            .led
        ),
        .init(
            "node",
            "also offer this camera alone to apps",
            \.isOffered,
            .boolean
        ),
    ]
}

extension Configuration.LensSettings {
    static let keys: [ConfigurationKey<Self>] = [
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

extension Configuration.SceneSettings {
    static let keys: [ConfigurationKey<Self>] = [
        .init("layout", "pip | side-by-side | stacked | single", \.style.layout, .choice()),
        .init(
            "inset-corner",
            "top-left | top-right | bottom-left | bottom-right",
            \.style.insetCorner,
            .choice()
        ),
        .init(
            "inset-size",
            "a fraction of the stream's width",
            \.style.insetSize,
            .number(SceneStyle.insetSizes)
        ),
        .init(
            "inset-margin",
            "a fraction of the stream's width",
            \.style.insetMargin,
            .number(0...0.25)
        ),
        .init("inset-border", "pixels, in a stream 720 high", \.style.insetBorder, .number(0...64)),
        .init(
            "inset-radius",
            "pixels, in a stream 720 high",
            \.style.insetRadius,
            .number(0...512)
        ),
        .init(
            "gap",
            "pixels between side by side or stacked pictures, in a stream 720 high",
            \.style.gap,
            .number(0...64)
        ),
        .init(
            "background",
            "for another aspect ratio: blur or black around it | crop | auto (crop in halves, else blur)",
            \.style.background,
            .choice()
        ),
        .init(
            "swap-duration-ms",
            "milliseconds; 0: at once",
            \.style.swapDuration,
            .milliseconds(0...5000)
        ),
        .init("swap-icon", "show an icon in the corner of the inset", \.style.swapIcon, .boolean),
        .init(
            "record-mark",
            "show in the stream that a recording is made; the recording itself is without it",
            \.style.recordMark,
            .boolean
        ),
        .init(
            "hud",
            "when to show the camera's values: off | pro (while Pro mode is on) | always",
            \.hud,
            .choice()
        ),
    ]
}

extension Configuration.Capture {
    static let keys: [ConfigurationKey<Self>] = [
        .init(
            "photo-directory",
            "empty: DualCam in your Pictures directory",
            \.photoDirectory,
            .directory
        ),
        .init(
            "video-directory",
            "empty: DualCam in your Videos directory",
            \.videoDirectory,
            .directory
        ),
        .init(
            "mirror-photos",
            "mirror photos as in the stream",
            \.mirrorsPhotos,
            .boolean
        ),
        .init("live-photo", "save a short movie with each photo", \.takesLivePhotos, .boolean),
        .init("audio", "record sound", \.recordsAudio, .boolean),
        .init(
            "file-mode",
            "who may read photos and recordings, as for chmod: 600 (you alone) | 640 | 644 …",
            \.fileMode,
            .words(FileMode.init(parsing:))
        ),
        .init(
            "allow-swap-while-recording",
            "",
            \.allowsSwapWhileRecording,
            .boolean
        ),
    ]
}

extension Configuration.State {
    static let keys: [ConfigurationKey<Self>] = [
        .init(
            "remember",
            "what survives a restart: \"settings\" | true (also the swap) | false (nothing)",
            \.memory,
            .memory
        )
    ]
}

extension Configuration.Access {
    static let keys: [ConfigurationKey<Self>] = [
        .init(
            "sandboxed",
            "what Flatpak and Snap apps may do on D-Bus: view (also swap, layout, scenes) | all",
            \.sandboxed,
            .choice()
        )
    ]
}

extension Configuration.Loopback {
    static let keys: [ConfigurationKey<Self>] = [
        .init(
            "device",
            "copy the stream to a v4l2loopback device: auto | /dev/videoN; empty: none",
            \.device,
            .loopbackDevice
        )
    ]
}

extension Configuration.Desktop {
    static let keys: [ConfigurationKey<Self>] = [
        .init(
            "hide-cameras",
            "apps list DualCam alone, not its cameras; after a change: dualcamctl doctor --fix",
            \.hidesCameras,
            .boolean
        )
    ]
}
