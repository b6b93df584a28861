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
        .init("node-name", "of the PipeWire node", \.nodeName, .identifier),
        .init("description", "the name that people see", \.description, .title),
    ]
}

extension Configuration.Camera {
    static let keys: [ConfigurationKey<Self>] = [
        .init(
            "source",
            "auto | v4l2:<by-id name, bus path or /dev path> | test | test:<name> | file:<path> | "
                + "pipewire:<node name>",
            \.source,
            .words(SourceSpecification.init(parsing:))
        ),
        .init("mirror", "left and right change places", \.mirror, .boolean),
        .init(
            "rotation",
            "0 90 180 270, clockwise, how the camera is mounted",
            \.rotation,
            .choice(of: [0, 90, 180, 270])
        ),
        .init(
            "capture",
            "auto | 1280x720@30 | 1280x720@30/MJPG …",
            \.capture,
            .words(CaptureModePreference.init(parsing:))
        ),
        .init(
            "aperture",
            "f-number, where the device cannot tell; 0 = unknown",
            \.aperture,
            .number(0...64)
        ),
        .init(
            "iso-range",
            "ISO at the lowest and the highest gain, where the device cannot tell",
            \.isoRange,
            .integers(1...1_000_000)
        ),
        .init(
            "focus-reversed",
            "larger numbers of the device's focus are farther away, not nearer",
            \.isFocusReversed,
            .boolean
        ),
        .init(
            "torch",
            "a name from /sys/class/leds; empty: the device's own light",
            \.torch,
            .led
        ),
        .init(
            "node",
            "a camera of its own in apps, too: output.node-name with .back or .front",
            \.isOffered,
            .boolean
        ),
    ]
}

extension Configuration.LensSettings {
    static let keys: [ConfigurationKey<Self>] = [
        .init("name", "ultra-wide | wide | telephoto, or any word", \.name, .identifier),
        .init("factor", "magnification, wide = 1", \.factor, .number(0.1...100)),
        .init(
            "source",
            "another device; without it, a zoom step of the same one",
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
        .init("inset-size", "of the output's width", \.style.insetSize, .number(0.1...0.5)),
        .init("inset-margin", "of the output's width", \.style.insetMargin, .number(0...0.25)),
        .init("inset-border", "pixels of a picture 720 high", \.style.insetBorder, .number(0...64)),
        .init(
            "inset-radius",
            "pixels of a picture 720 high",
            \.style.insetRadius,
            .number(0...512)
        ),
        .init(
            "background",
            "around a picture of another shape: blur | black | crop",
            \.style.background,
            .choice()
        ),
        .init(
            "swap-duration-ms",
            "milliseconds; 0 = at once",
            \.style.swapDuration,
            .milliseconds(0...5000)
        ),
        .init("swap-icon", "two arrows in the inset's corner", \.style.swapIcon, .boolean),
        .init("hud", "off | pro (shown while Pro mode is on) | always", \.hud, .choice()),
    ]
}

extension Configuration.Capture {
    static let keys: [ConfigurationKey<Self>] = [
        .init(
            "photo-directory",
            "empty: DualCam in the Pictures directory",
            \.photoDirectory,
            .directory
        ),
        .init(
            "video-directory",
            "empty: DualCam in the Videos directory",
            \.videoDirectory,
            .directory
        ),
        .init(
            "mirror-photos",
            "photographs are mirrored as the stream is",
            \.mirrorsPhotos,
            .boolean
        ),
        .init("live-photo", "a short movie beside each photograph", \.takesLivePhotos, .boolean),
        .init("audio", "recordings have sound", \.recordsAudio, .boolean),
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
            "swap, layout, Pro values and lens survive a restart",
            \.isRemembered,
            .boolean
        )
    ]
}

extension Configuration.Loopback {
    static let keys: [ConfigurationKey<Self>] = [
        .init(
            "device",
            "mirror the stream to a v4l2loopback device: auto | /dev/videoN; empty: none",
            \.device,
            .loopbackDevice
        )
    ]
}
