package import Frames

/// What the user has set in `dualcam.toml`; without a file, all defaults.
///
/// Every value of this type that `parse` returns is within the ranges that the file format states.
package struct Configuration: Hashable, Sendable {
    /// The stream.
    package var output = Output()
    /// The two cameras: `[cameras.back]` and `[cameras.front]`. The front one is mirrored unless told
    /// otherwise.
    package var cameras = PerRole(back: Camera(), front: Camera(mirror: true))
    /// How the picture is composed at the start.
    package var scene = SceneSettings()
    /// Stills and recordings.
    package var capture = Capture()
    /// What outlives a restart.
    package var state = State()
    /// The mirror of the stream on a v4l2loopback device.
    package var loopback = Loopback()

    /// All defaults.
    package init() {}

    /// The stream: `[output]`.
    package struct Output: Hashable, Sendable {
        /// Its extent; the width is a multiple of 4, the height even.
        package var size = Size(width: 1280, height: 720)
        /// Frames per second.
        package var frameRate = 30
        /// The PipeWire node's name.
        package var nodeName = "dualcam"
        /// The name that people see.
        package var description = "DualCam"

        /// The name of the PipeWire node that offers `role`'s camera alone, and the one that people
        /// see: "dualcam.back", "DualCam Back".
        package func node(of role: Role) -> (name: String, description: String) {
            (
                "\(nodeName).\(role.rawValue)",
                "\(description) \(role == .back ? "Back" : "Front")"
            )
        }
    }

    /// One camera.
    package struct Camera: Hashable, Sendable {
        /// Where its pictures come from.
        package var source = SourceSpecification.auto
        /// Mirrored left to right.
        package var mirror = false
        /// How it is mounted: degrees clockwise, one of 0, 90, 180, 270.
        package var rotation = 0
        /// The mode that it shall deliver.
        package var capture = CaptureModePreference.auto
        /// Its f-number, where the device cannot tell; 0: unknown.
        package var aperture = 0.0
        /// ISO at the lowest and at the highest gain, where the device cannot tell.
        package var isoRange = 100...3200
        /// Larger numbers of its focus are farther away, not nearer as they should be.
        package var isFocusReversed = false
        /// The LED of the kernel's LED class that is its torch; `nil`: the device's own, if any.
        package var torch: String?
        /// Offered as a camera of its own, too: see `Output.node(of:)`.
        package var isOffered = false
        /// Its lenses; none: the one lens "wide", and zoom where the device has it.
        package var lenses: [LensSettings] = []
    }

    /// One lens of a camera: `[[cameras.back.lenses]]`.
    package struct LensSettings: Hashable, Sendable {
        /// "ultra-wide", "wide", "telephoto" or another word; differs from the camera's others.
        package var name: String
        /// Its magnification, "wide" being 1.
        package var factor: Double
        /// The device behind it; `nil`: a zoom step of the camera's own.
        package var source: SourceSpecification?

        /// A lens called `name`, magnifying `factor` times; of the camera itself without `source`.
        package init(name: String, factor: Double, source: SourceSpecification? = nil) {
            self.name = name
            self.factor = factor
            self.source = source
        }
    }

    /// How the picture is composed at the start: `[scene]`.
    package struct SceneSettings: Hashable, Sendable {
        /// Layout, inset, background and swap.
        package var style = SceneStyle()
        /// When the camera's values are drawn.
        package var hud = HudMode.pro
    }

    /// Stills and recordings: `[capture]`.
    package struct Capture: Hashable, Sendable {
        /// Where photographs go; `nil`: DualCam in the user's Pictures directory. May begin with "~/".
        package var photoDirectory: String?
        /// Where recordings go; `nil`: DualCam in the user's Videos directory. May begin with "~/".
        package var videoDirectory: String?
        /// A photograph is mirrored where its camera is.
        package var mirrorsPhotos = true
        /// A photograph has a short movie beside it.
        package var takesLivePhotos = false
        /// A recording has sound.
        package var recordsAudio = true
        /// The pictures may trade places in a recording.
        package var allowsSwapWhileRecording = true
    }

    /// What outlives a restart: `[state]`.
    package struct State: Hashable, Sendable {
        /// Swap, layout, Pro values and lens do.
        package var isRemembered = false
    }

    /// The mirror of the stream on a v4l2loopback device: `[loopback]`.
    package struct Loopback: Hashable, Sendable {
        /// Which device, if any.
        package var device = LoopbackDevice.none
    }

    /// Which v4l2loopback device the stream is mirrored to.
    package enum LoopbackDevice: Hashable, Sendable {
        /// None.
        case none
        /// The first that is free.
        case auto
        /// The one at this path, "/dev/video" and a number.
        case path(String)
    }
}

/// When the camera's values are shown in the picture. The words are those of the configuration
/// and of D-Bus.
package enum HudMode: String, CaseIterable, Hashable, Sendable {
    /// Never.
    case off
    /// While Pro mode is on.
    case pro
    /// Always.
    case always
}

/// A value, or a line, of a configuration file that cannot be accepted.
package struct ConfigurationError: Error, Hashable, CustomStringConvertible {
    /// The file, as the caller named it.
    package let file: String
    /// The line, from 1; `nil` where the whole file is meant.
    package let line: Int?
    /// What is wrong: the key, its value and what was expected.
    package let problem: String

    /// `problem` at `line` of `file`.
    package init(file: String, line: Int?, problem: String) {
        self.file = file
        self.line = line
        self.problem = problem
    }

    /// "dualcam.toml:12: output.width is 1281, expected a multiple of 4 from 160 to 7680".
    package var description: String { "\(file):\(line.map { "\($0):" } ?? "") \(problem)" }
}

/// Something in a configuration file that has no effect.
package struct ConfigurationWarning: Hashable, Sendable, CustomStringConvertible {
    /// The file, as the caller named it.
    package let file: String
    /// The line, from 1.
    package let line: Int
    /// The whole name of the key, "output.widht".
    package let key: String
    /// The key that was probably meant, where one is near.
    package let suggestion: String?

    /// "dualcam.toml:3: output.widht is unknown and has no effect; output.width?".
    package var description: String {
        "\(file):\(line): \(key) is unknown and has no effect"
            + (suggestion.map { "; did you mean \($0)?" } ?? "")
    }
}
