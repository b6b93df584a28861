package import Frames

/// The user's settings in `dualcam.toml`; without a file, the defaults.
///
/// Every value that `parse` returns is within the ranges that the file format states.
package struct Configuration: Hashable, Sendable {
    /// The stream.
    package var output = Output()
    /// The two cameras: `[cameras.back]` and `[cameras.front]`. The front one is mirrored by
    /// default.
    package var cameras = PerRole(back: Camera(), front: Camera(mirror: true))
    /// The names of devices that `auto` never takes, as a source would name them: `[cameras]`.
    package var ignoredCameras: [String] = []
    /// The composition at the start.
    package var scene = SceneSettings()
    /// Photographs and recordings.
    package var capture = Capture()
    /// The state kept over a restart.
    package var state = State()
    /// The rights of other programs.
    package var access = Access()
    /// The mirror of the stream on a v4l2loopback device.
    package var loopback = Loopback()
    /// The view that other apps have of the cameras.
    package var desktop = Desktop()

    /// The defaults.
    package init() {}

    /// The stream: `[output]`.
    package struct Output: Hashable, Sendable {
        /// The size of the stream, in pixels. The width is a multiple of 4, the height even.
        package var size = Size(width: 1280, height: 720)
        /// The rate, in frames per second.
        package var frameRate = 30
        /// The PipeWire node's name.
        package var nodeName = "dualcam"
        /// The name that people see.
        package var description = "DualCam"

        /// Returns the name and the description of the PipeWire node that offers `role`'s camera
        /// alone: "dualcam.back" and "DualCam Back".
        package func node(of role: Role) -> (name: String, description: String) {
            (
                "\(nodeName).\(role.rawValue)",
                "\(description) \(role == .back ? "Back" : "Front")"
            )
        }
    }

    /// One camera: `[cameras.back]` or `[cameras.front]`.
    package struct Camera: Hashable, Sendable {
        /// The source of its pictures.
        package var source = SourceSpecification.auto
        /// The file with the user and the password of a camera on the network; may begin with "~/".
        package var credentials: String?
        /// `true` if its picture is mirrored left to right.
        package var mirror = false
        /// The rotation of the mounted camera, in degrees clockwise: 0, 90, 180 or 270.
        package var rotation = 0
        /// The corners of its upright picture that are shown as the whole; `nil`: all of it.
        package var perspective: Perspective?
        /// `true` if its picture is graded for paper.
        package var isInk = false
        /// The mode that it is to deliver.
        package var capture = CaptureModePreference.auto
        /// The f-number, for a device that cannot report it; 0: unknown.
        package var aperture = 0.0
        /// The ISO at the lowest and at the highest gain, for a device that cannot report it.
        package var isoRange = 100...3200
        /// `true` if larger focus values of the device are farther away; V4L2 says nearer.
        package var isFocusReversed = false
        /// `true` if it may not lower its rate in the dark.
        package var holdsRate = true
        /// The filter against the flicker of lamps.
        package var antiFlicker = AntiFlicker.auto
        /// The LED of the kernel's LED class that serves as its torch; `nil`: the device's own, if
        /// any.
        package var torch: String?
        /// `true` if it is also offered as a camera of its own: see `Output.node(of:)`.
        package var isOffered = false
        /// Its lenses. Empty: the one lens "wide", and zoom if the device has it.
        package var lenses: [LensSettings] = []
    }

    /// One lens of a camera: `[[cameras.back.lenses]]`.
    package struct LensSettings: Hashable, Sendable {
        /// Its name: "ultra-wide", "wide", "telephoto" or another word, unique within the camera.
        package var name: String
        /// Its magnification; that of "wide" is 1.
        package var factor: Double
        /// The device behind it; `nil`: a zoom step of the camera's own.
        package var source: SourceSpecification?

        /// A lens called `name` that magnifies `factor` times; without `source`, of the camera
        /// itself.
        package init(name: String, factor: Double, source: SourceSpecification? = nil) {
            self.name = name
            self.factor = factor
            self.source = source
        }
    }

    /// The composition at the start: `[scene]`.
    package struct SceneSettings: Hashable, Sendable {
        /// Layout, inset, background and swap.
        package var style = SceneStyle()
        /// The setting for when the HUD is shown.
        package var hud = HudMode.pro
    }

    /// Photographs and recordings: `[capture]`.
    package struct Capture: Hashable, Sendable {
        /// The directory for photographs; may begin with "~/". `nil`: DualCam in the user's
        /// Pictures directory.
        package var photoDirectory: String?
        /// The directory for recordings; may begin with "~/". `nil`: DualCam in the user's Videos
        /// directory.
        package var videoDirectory: String?
        /// `true` if a photograph is mirrored where its camera is.
        package var mirrorsPhotos = true
        /// `true` if each photograph comes with a short movie.
        package var takesLivePhotos = false
        /// `true` if recordings have sound.
        package var recordsAudio = true
        /// The permissions of new photographs and recordings.
        package var fileMode = FileMode.owner
        /// `true` if the pictures may be swapped during a recording.
        package var allowsSwapWhileRecording = true
    }

    /// The state kept over a restart: `[state]`.
    package struct State: Hashable, Sendable {
        /// The part of what was set by commands that is kept.
        package var memory = Memory.settings
        /// `true` if anything is kept.
        package var isRemembered: Bool { memory != .nothing }
    }

    /// The state that survives a restart.
    package enum Memory: Hashable, Sendable {
        /// Nothing but privacy: each run is as configured.
        case nothing
        /// All settings, and not which picture is the main one.
        case settings
        /// All settings, and which picture is the main one.
        case all
    }

    /// The rights of other programs: `[access]`.
    package struct Access: Hashable, Sendable {
        /// The rights of sandboxed apps on D-Bus.
        package var sandboxed = SandboxAccess.view
    }

    /// The rights of sandboxed apps on D-Bus.
    package enum SandboxAccess: String, CaseIterable, Hashable, Sendable {
        /// Read the state, swap, and change the layout.
        case view
        /// All that other programs may do.
        case all
    }

    /// The mirror of the stream on a v4l2loopback device: `[loopback]`.
    package struct Loopback: Hashable, Sendable {
        /// The device, if any.
        package var device = LoopbackDevice.none
    }

    /// The view that other apps have of the cameras: `[desktop]`.
    package struct Desktop: Hashable, Sendable {
        /// `true` if apps are not to list the cameras that the daemon uses. `dualcamctl doctor`
        /// sees to it.
        package var hidesCameras = false
    }

    /// The v4l2loopback device that the stream is mirrored to.
    package enum LoopbackDevice: Hashable, Sendable {
        /// No device.
        case none
        /// The first free device.
        case auto
        /// The device at this path: "/dev/video" and a number.
        case path(String)
    }
}

/// The setting for when the HUD shows the camera's values in the picture. The words are those of
/// the configuration and of D-Bus.
package enum HudMode: String, CaseIterable, Hashable, Sendable {
    /// Never.
    case off
    /// While Pro mode is on.
    case pro
    /// Always.
    case always
}

/// An error in a configuration file: a value or a line that cannot be accepted.
package struct ConfigurationError: Error, Hashable, CustomStringConvertible {
    /// The file, as the caller named it.
    package let file: String
    /// The line, from 1; `nil` if the error is about the whole file.
    package let line: Int?
    /// The problem: the key, its value and the expected one.
    package let problem: String

    /// The error `problem` at `line` of `file`.
    package init(file: String, line: Int?, problem: String) {
        self.file = file
        self.line = line
        self.problem = problem
    }

    /// The message: "dualcam.toml:12: output.width is 1281, expected a multiple of 4 from 160 to
    /// 7680".
    package var description: String { "\(file):\(line.map { "\($0):" } ?? "") \(problem)" }
}

/// A key in a configuration file that is unknown, and so has no effect.
package struct ConfigurationWarning: Hashable, Sendable, CustomStringConvertible {
    /// The file, as the caller named it.
    package let file: String
    /// The line, from 1.
    package let line: Int
    /// The full name of the key: "output.widht".
    package let key: String
    /// The key that was probably meant, if one is close.
    package let suggestion: String?

    /// The message: "dualcam.toml:3: output.widht is unknown and has no effect; did you mean
    /// width?".
    package var description: String {
        "\(file):\(line): \(key) is unknown and has no effect"
            + (suggestion.map { "; did you mean \($0)?" } ?? "")
    }
}
