package import Frames

/// The user's settings in `dualcam.toml`; without a file, the defaults. Every value that `parse`
/// returns is within the ranges that the file format states.
package struct Configuration: Hashable, Sendable {
    package var output = Output()
    /// The language of the words in the picture, such as "pt_BR"; "auto": the session's.
    package var language = "auto"
    /// The two cameras: `[cameras.back]` and `[cameras.front]`, which is mirrored by default.
    package var cameras = PerRole(
        back: Camera(),
        front: Camera(settings: CameraSettings(mirror: true))
    )
    /// The names of devices that `auto` never takes, as a source would name them: `[cameras]`.
    package var ignoredCameras: [String] = []
    /// The composition at the start.
    package var scene = SceneSettings()
    package var capture = Capture()
    /// The part of what was set by commands that is kept over a restart.
    package var memory = Memory.settings
    /// The rights of sandboxed apps on D-Bus.
    package var sandboxAccess = SandboxAccess.view
    /// The v4l2loopback device that the stream is mirrored to.
    package var loopback = LoopbackDevice.none
    /// `true` if the cameras are closed while the screen is locked.
    package var closesAtLock = true
    /// `true` if apps shall not list the cameras in use; `dualcamctl doctor` sees to it.
    package var hidesCameras = false

    package init() {}

    /// The stream: `[output]`.
    package struct Output: Hashable, Sendable {
        /// The size of the stream, in pixels. The width is a multiple of 4, the height even.
        package var size = Size(width: 1280, height: 720)
        /// The rate, in frames per second.
        package var frameRate = 30
        package var nodeName = "dualcam"
        /// The name that people see.
        package var description = "DualCam"
        /// The file of the picture that is shown while the cameras are off; `nil`: none.
        package var away: String?

        /// Returns the name and the description of the PipeWire node that offers `role`'s camera
        /// alone: "dualcam.back" and "DualCam Back".
        package func node(of role: Role) -> (name: String, description: String) {
            (
                "\(nodeName).\(role.rawValue)",
                "\(description) \(role == .back ? "Back" : "Front")"
            )
        }

        /// Returns `true` if the PipeWire node called `name` is one of ours.
        func makes(_ name: String) -> Bool {
            name == nodeName || Role.allCases.contains { node(of: $0).name == name }
        }
    }

    /// One camera: `[cameras.back]` or `[cameras.front]`.
    @dynamicMemberLookup
    package struct Camera: Hashable, Sendable {
        package var source = SourceSpecification.auto
        /// The file with the user and the password of a camera on the network; may begin with "~/".
        package var credentials: String?
        /// The settings that commands may change, too.
        package var settings = CameraSettings()
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
        package var antiFlicker = AntiFlicker.auto
        /// The LED, of the kernel's LED class, that is its torch; `nil`: the device's own, if any.
        package var torch: String?
        /// `true` if it is also offered as a camera of its own: see `Output.node(of:)`.
        package var isOffered = false
        /// Its lenses. Empty: the one lens "wide", and zoom if the device has it.
        package var lenses: [LensSettings] = []

        /// One of its `settings`.
        package subscript<Value>(
            dynamicMember path: WritableKeyPath<CameraSettings, Value>
        ) -> Value {
            get { settings[keyPath: path] }
            set { settings[keyPath: path] = newValue }
        }
    }

    /// One lens of a camera: `[[cameras.back.lenses]]`.
    package struct LensSettings: Hashable, Sendable {
        /// Its name: "ultra-wide", "wide", "telephoto" or another word, unique within the camera.
        package var name: String
        /// Its magnification; that of "wide" is 1.
        package var factor: Double
        /// The device behind it; `nil`: a zoom step of the camera's own.
        package var source: SourceSpecification?

        /// A lens that magnifies `factor` times; without `source`, of the camera itself.
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
        package var hud = HudMode.pro
    }

    /// Photographs and recordings: `[capture]`.
    package struct Capture: Hashable, Sendable {
        /// The directory for photographs, also "~/…"; `nil`: DualCam in the user's Pictures.
        package var photoDirectory: String?
        /// The directory for recordings, also "~/…"; `nil`: DualCam in the user's Videos.
        package var videoDirectory: String?
        /// `true` if a photograph is mirrored where its camera is.
        package var mirrorsPhotos = true
        /// `true` if each photograph comes with a short movie.
        package var takesLivePhotos = false
        package var recordsAudio = true
        /// The `node.name` of the microphone; `nil`: the desktop's own choice.
        package var microphone: String?
        /// `true` if recordings have each camera in a file of its own, besides the stream.
        package var recordsCameras = true
        package var format = Format.mkv
        /// The permissions of new photographs and recordings.
        package var fileMode = FileMode.owner
        /// `true` if the pictures may be swapped during a recording.
        package var allowsSwapWhileRecording = true

        /// The format of recordings, once they are complete.
        package enum Format: String, CaseIterable, Hashable, Sendable {
            case mkv, mp4
        }
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

    /// The rights of sandboxed apps on D-Bus.
    package enum SandboxAccess: String, CaseIterable, Hashable, Sendable {
        /// Read the state, swap, and change the layout.
        case view
        /// All that other programs may do.
        case all
    }

    /// The v4l2loopback device that the stream is mirrored to.
    package enum LoopbackDevice: Hashable, Sendable {
        case none
        /// The first free device.
        case auto
        /// The device at this path: "/dev/video" and a number.
        case path(String)
    }
}

/// The times at which the HUD is shown, in the words of the configuration and of D-Bus.
package enum HudMode: String, CaseIterable, Hashable, Sendable {
    case off
    /// While Pro mode is on.
    case pro
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

    /// The message: "dualcam.toml:12: output.width is 1281, expected a multiple of 4 …".
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
    /// The number of unknown keys after it, where there are too many to name.
    var others = 0

    /// The message: "dualcam.toml:3: output.widht is unknown and has no effect; did you …".
    package var description: String {
        let place = "\(file):\(line): \(key)"
        guard others == 0 else {
            return "\(place) and \(others) more after it are unknown and have no effect"
        }
        return "\(place) is unknown and has no effect"
            + (suggestion.map { "; did you mean \($0)?" } ?? "")
    }
}
