/// The words that the window shows instead of, or over, a live picture.
package struct Situation: Hashable, Sendable {
    /// Something that a button does.
    package enum Remedy: Hashable, Sendable {
        /// Starts the daemon, or its stream.
        case start
        /// Turns privacy off.
        case endPrivacy

        /// The words on the button.
        package var words: String {
            switch self {
            case .start: "Start"
            case .endPrivacy: "Show the Cameras"
            }
        }
    }

    /// The problem, in a few words.
    package var title: String
    /// The remedy, or what happens next.
    package var advice: String
    /// The action of a button; `nil` for no button.
    package var remedy: Remedy?
    /// `true` if the stream has a picture to show beneath.
    package var hasPicture = false

    /// Creates a situation.
    package init(
        _ title: String,
        _ advice: String = "",
        _ remedy: Remedy? = nil,
        hasPicture: Bool = false
    ) {
        self.title = title
        self.advice = advice
        self.remedy = remedy
        self.hasPicture = hasPicture
    }
}

/// The window's knowledge of the daemon and of PipeWire.
package struct Knowledge: Hashable, Sendable {
    /// The daemon's state.
    package enum Daemon: Hashable, Sendable {
        /// Nobody has answered yet.
        case unknown
        /// It does not run.
        case absent
        /// It was asked to start, and has not answered yet.
        case starting
        /// It could not be started, for this reason.
        case failed(String)
        /// It runs, but does not answer.
        case silent
        /// It answers.
        case present
    }

    /// One of the cameras.
    package struct Camera: Hashable, Sendable {
        /// The property State.
        package var state: String
        /// The property Interruption.
        package var interruption: String
        /// Its name for people; empty without one.
        package var name: String
        /// The property Holder.
        package var holder: String
        /// The property Source.
        package var source: String

        /// Creates what is known of a camera.
        package init(
            state: String,
            interruption: String,
            name: String = "",
            holder: String = "",
            source: String = "auto"
        ) {
            self.state = state
            self.interruption = interruption
            self.name = name
            self.holder = holder
            self.source = source
        }

        /// `true` if there is none.
        var isMissing: Bool {
            state == "unavailable" || ["unplugged", "not-found"].contains(interruption)
        }
    }

    /// `true` while there is a session bus.
    package var hasBus = true
    /// The daemon.
    package var daemon = Daemon.unknown
    /// The property Active of the stream.
    package var isActive = true
    /// The property Possible of the stream: PipeWire is there.
    package var isPossible = true
    /// `true` while the window is connected to PipeWire.
    package var hasPipeWire = true
    /// `true` while privacy is on.
    package var isPrivate = false
    /// The cameras, the main one first.
    package var cameras: [Camera] = []
    /// `true` once a picture was shown, and while they come.
    package var hasPicture = false

    /// Creates knowledge of nothing.
    package init() {}

    /// The words to show; `nil` for the picture alone.
    package var situation: Situation? {
        guard hasBus else {
            return Situation(
                "There is no D-Bus session",
                "Start the window from your desktop, or in a session that has D-Bus."
            )
        }
        switch daemon {
        case .unknown: return nil
        case .absent:
            return Situation("DualCam is not running", "", .start)
        case .starting: return Situation("Starting DualCam…")
        case .failed(let reason):
            return Situation("DualCam does not start", reason, .start)
        case .silent:
            return Situation(
                "DualCam does not answer",
                "The picture comes back by itself once it does."
            )
        case .present: break
        }
        if isPrivate {
            return Situation(
                "Privacy is on",
                "Both cameras are closed.",
                .endPrivacy,
                hasPicture: true
            )
        }
        let hasCamera = cameras.isEmpty || !cameras.allSatisfy { $0.state == "unavailable" }
        // Without a camera the stream is not possible either.
        if !hasPipeWire || (!isPossible && hasCamera) {
            return Situation(
                "Waiting for PipeWire",
                "The picture comes back by itself once PipeWire runs."
            )
        }
        if !isActive { return Situation("The stream is stopped", "", .start) }
        return cameraSituation
    }

    private var cameraSituation: Situation? {
        guard !cameras.isEmpty else { return nil }
        if cameras.allSatisfy(\.isMissing) {
            // One that the configuration names does not come by plugging in any.
            if let wrong = cameras.first(where: { $0.interruption == "not-found" }),
                cameras.allSatisfy({ $0.interruption == "not-found" })
            {
                return Situation(
                    "“\(wrong.source)” was not found",
                    "The configuration names this camera. Choose another one in the preferences.",
                    hasPicture: true
                )
            }
            return Situation(
                "No camera is plugged in",
                "Plug in one or two webcams: they are shown at once.",
                hasPicture: true
            )
        }
        if let held = cameras.first(where: { $0.interruption == "busy" }) {
            let name = held.name.isEmpty ? "A camera" : held.name
            return Situation(
                "\(name) is in use by \(held.holder.isEmpty ? "another program" : held.holder)",
                "Close it there, and the picture comes back by itself.",
                hasPicture: true
            )
        }
        if let denied = cameras.first(where: { $0.interruption == "denied" }) {
            let name = denied.name.isEmpty ? "a camera" : denied.name
            return Situation(
                "DualCam may not open \(name)",
                "`dualcamctl doctor` says how to allow it.",
                hasPicture: true
            )
        }
        return nil
    }
}
