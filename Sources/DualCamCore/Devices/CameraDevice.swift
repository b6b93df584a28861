/// A camera attached to this machine.
package struct CameraDevice: Hashable, Sendable {
    /// The direction that a camera faces, as reported by its driver.
    package enum Orientation: Hashable, Sendable {
        /// Towards the user.
        case front
        /// Away from the user.
        case back
        /// Any direction; the camera is not fixed to the machine.
        case external
    }
    /// The outcome of asking it what it is.
    package enum Answer: Hashable, Sendable {
        /// It said so.
        case given
        /// This user may not open it.
        case denied
        /// It has not answered yet.
        case missing
    }
    /// The path of its node, such as "/dev/video0". May change after a restart.
    package var path: String
    package var name: String
    /// The identity, kept over restarts: "v4l2:usb-…-video-index0", "v4l2:usb-0000:00:14.0-1".
    package var identity: String
    /// Other names for a configuration: by-id and by-path names, the bus path, device paths.
    package var aliases: Set<String>
    /// The place on the bus, as reported by the driver: "usb-0000:00:14.0-1"; empty if unknown.
    package var bus: String
    /// The direction that it faces, or `nil` if unknown.
    package var orientation: Orientation?
    /// `true` if it is built into the machine, according to the firmware.
    package var isFixed: Bool
    /// `true` if a program feeds it: a v4l2loopback device, or a PipeWire node not of libcamera's.
    package var isRelay: Bool
    /// The readable mode with the most pixels among those that look like motion, or else with the
    /// most frames per second; `nil` if there is none, or it is unknown.
    package var bestMode: CaptureMode?
    /// The modes that it offers, readable or not.
    package var modes: [CaptureMode]
    package var answer: Answer
    /// The reason that `auto` does not take it; `nil` if it may.
    package var refusal: AutoRefusal?

    package init(
        path: String,
        name: String,
        identity: String,
        aliases: Set<String> = [],
        bus: String = "",
        orientation: Orientation? = nil,
        isFixed: Bool = false,
        isRelay: Bool = false,
        bestMode: CaptureMode? = nil,
        modes: [CaptureMode] = [],
        answer: Answer = .given,
        refusal: AutoRefusal? = nil
    ) {
        self.path = path
        self.name = name
        self.identity = identity
        self.aliases = aliases
        self.bus = bus
        self.orientation = orientation
        self.isFixed = isFixed
        self.isRelay = isRelay
        self.bestMode = bestMode
        self.modes = modes
        self.answer = answer
        self.refusal = refusal
    }

    /// Returns `true` if "v4l2:`name`" in a configuration means this camera.
    package func isCalled(_ name: String) -> Bool {
        identity == "v4l2:\(name)" || path == name || aliases.contains(name)
    }

    /// The facts by which `auto` chooses, in words: "external, 1280x720 at 30".
    package var summary: String {
        let place =
            switch orientation {
            case nil where identity.hasPrefix("pipewire:"): "from PipeWire"
            case _ where isRelay: "fed by a program"
            case .front: "faces you"
            case .back: "faces away"
            case .external, nil: isFixed ? "built in" : "external"
            }
        switch answer {
        case .given: break
        case .denied: return "\(place), no permission to open it"
        case .missing: return "\(place), does not answer"
        }
        guard let mode = bestMode else { return place }
        let rate = Int(mode.rate.rounded())
        return "\(place), \(mode.size)" + (rate > 0 ? " at \(rate)" : "")
    }
}
