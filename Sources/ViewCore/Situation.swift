/// The words that the window shows instead of, or over, a live picture.
package struct Situation: Hashable, Sendable {
    /// Something that a button does.
    package enum Remedy: Hashable, Sendable {
        /// Starts the daemon, or its stream.
        case start
        /// Ends the daemon, and starts it again.
        case restart
        case endPrivacy
        /// Shows the cameras that can be chosen.
        case choose
        /// Makes a phone a camera.
        case addPhone
        /// Shows what is wrong, and mends it.
        case explain

        /// The words on the button.
        package var words: String {
            switch self {
            case .start: "Start"
            case .restart: "Restart"
            case .endPrivacy: "Show"
            case .choose: "Choose…"
            case .addPhone: "Add Phone…"
            case .explain: "Why?"
            }
        }
    }

    /// The picture beneath.
    package enum Ground: Hashable, Sendable {
        case none
        /// One that is old.
        case still
        case live
    }

    package var title: String
    /// The remedy, or what happens next.
    package var advice: String
    /// The action of a button; `nil` for no button.
    package var remedy: Remedy?
    package var ground: Ground

    package init(
        _ title: String,
        _ advice: String = "",
        _ remedy: Remedy? = nil,
        over ground: Ground = .none
    ) {
        self.title = title
        self.advice = advice
        self.remedy = remedy
        self.ground = ground
    }
}

/// The window's knowledge of the daemon and of PipeWire.
package struct Knowledge: Hashable, Sendable {
    /// The daemon's state.
    package enum Daemon: Hashable, Sendable {
        /// No reply has come yet.
        case unknown
        case absent
        /// It was asked to start, and has not answered yet.
        case starting
        /// It could not be started, for this reason.
        case failed(String)
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
        package init(state: String, interruption: String, name: String = "", holder: String = "") {
            self.state = state
            self.interruption = interruption
            self.name = name
            self.holder = holder
        }

        var words: String { name.isEmpty ? "A camera" : name }

        var isMissing: Bool {
            state == "unavailable" || ["unplugged", "not-found"].contains(interruption)
        }
    }

    /// `true` while there is a session bus.
    package var hasBus = true
    package var daemon = Daemon.unknown
    /// The property Active of the stream.
    package var isActive = true
    /// The property Possible of the stream: PipeWire is there.
    package var isPossible = true
    package var hasPipeWire = true
    package var isPrivate = false
    /// The cameras, the main one first.
    package var cameras: [Camera] = []
    /// `true` once a picture was shown, and while they come.
    package var hasPicture = false

    package init() {}

    /// The words to show; `nil` for the picture alone.
    package var situation: Situation? {
        guard hasBus else {
            return Situation("Not in a desktop session", "Start DualCam from your desktop.")
        }
        switch daemon {
        case .unknown: return nil
        case .absent: return Situation("DualCam is not running", "The cameras are off.", .start)
        case .starting: return Situation("Starting DualCam…")
        case .failed(let reason): return Situation("DualCam does not start", reason, .start)
        case .silent:
            return Situation("DualCam does not answer", "", .restart, over: .still)
        case .present: break
        }
        if isPrivate { return Situation("Cameras are off", "", .endPrivacy, over: .live) }
        let hasCamera = cameras.isEmpty || !cameras.allSatisfy { $0.state == "unavailable" }
        // Without a camera the stream is not possible either.
        if !hasPipeWire || (!isPossible && hasCamera) {
            return Situation("No connection to the desktop", "The picture comes back by itself.")
        }
        if !isActive { return Situation("The stream is stopped", "", .start) }
        return cameraSituation
    }

    private var cameraSituation: Situation? {
        guard !cameras.isEmpty else { return nil }
        if cameras.allSatisfy(\.isMissing) {
            // One that the configuration names does not come by plugging in any.
            let isWrong = cameras.allSatisfy { $0.interruption == "not-found" }
            return isWrong
                ? Situation("Your cameras were not found", "", .choose, over: .live)
                : Situation("No camera: plug one in", "", .addPhone, over: .live)
        }
        if let held = cameras.first(where: { $0.interruption == "busy" }) {
            let holder = held.holder.isEmpty ? "another program" : held.holder
            return Situation("\(held.words) is in use by \(holder)", "", over: .live)
        }
        if let denied = cameras.first(where: { $0.interruption == "denied" }) {
            return Situation("\(denied.words) may not be opened", "", .explain, over: .live)
        }
        return nil
    }
}
