package import Frames

/// What a camera is doing. The words are those of the D-Bus interface.
package enum CameraPhase: String, Hashable, Sendable {
    /// Nobody needs it.
    case closed
    /// Being opened; no frame yet.
    case opening
    /// Delivering.
    case streaming
    /// Needed, but not delivering; `Interruption` says why.
    case interrupted
    /// There is no camera for this role.
    case unavailable
}

/// What is known of one role's camera.
package struct CameraState: Hashable, Sendable {
    /// What came of opening it.
    enum Delivery: Hashable, Sendable {
        case none
        case streaming(CaptureMode, insteadOf: CaptureMode?)
        case failed(Interruption, reason: String)
    }

    /// A step that makes it easier on the bus.
    enum Step {
        /// Asked for; what is told now is still of the time before.
        case asked
        /// It is being opened with it.
        case opening
    }

    /// How far it is with its largest mode, which photographs may ask for.
    package enum Full: Hashable, Sendable {
        /// It delivers as ever.
        case off
        /// It is to deliver as many pixels as it has.
        case asked
        /// It does.
        case on
        /// It is to deliver as before.
        case left
    }

    /// The configured source.
    package var source: SourceSpecification
    /// The camera's name for people; empty where there is none.
    package var name = ""
    /// What is wrong with its source, for people; empty when nothing is.
    package var problem = ""
    /// Shown mirrored left to right.
    package var mirror: Bool
    /// How the camera is mounted, in degrees clockwise: 0, 90, 180 or 270.
    package var rotation: Int
    /// By how many quarter turns clockwise its picture is turned for how the device is held.
    var orientationTurns = 0
    /// Its f-number; 0: unknown.
    package var aperture = 0.0
    /// Its controls, as they were told of last, and what is wanted of them.
    package var controls = CameraControls()
    /// Its lenses, and which of them is seen how.
    package internal(set) var lens = LensState()
    /// What the camera is known by; empty where there is none yet.
    package var identity = ""
    /// Whether there is a camera for the role.
    var isAssigned = false
    /// Whether its thread was asked to have it open.
    var isAsked = false
    /// Whether its thread has it open, or may have: from being asked until it tells that it closed.
    package var isOpen = false
    var delivery = Delivery.none
    /// How far it is with its largest mode.
    package internal(set) var full = Full.off
    /// Since when it delivers without a pause, where it does.
    package internal(set) var deliveringSince = Timestamp.zero
    /// How many steps it is easier on the bus than it would be: `CaptureRequest.reduction`.
    package var reduction = 0
    /// How far it is with the last of these steps, until it has told what came of it.
    var step: Step?
    /// Whether it failed after a step for another reason than want of room: the steps were of no use.
    var isReducedInVain = false
    /// How it delivered before that step.
    var modeBeforeStep: CaptureMode?
    /// Why it is kept closed though it is needed.
    var suspension: Interruption?
    /// The node that offers its picture alone, where there is one.
    package internal(set) var node = CameraNode()

    /// A camera not found yet.
    package init(source: SourceSpecification, mirror: Bool, rotation: Int) {
        self.source = source
        self.mirror = mirror
        self.rotation = rotation
    }

    /// What it is doing.
    package var phase: CameraPhase {
        if !isAssigned && !isOpen { return .unavailable }
        if suspension != nil { return .interrupted }
        return switch delivery {
        case .streaming: .streaming
        case .failed: .interrupted
        case .none: isAsked ? .opening : .closed
        }
    }

    /// Whether any device of it is open, or may be.
    package var mayBeOpen: Bool { isOpen || lens.isOtherOpen }

    /// Why it does not deliver, while it should.
    package var interruption: Interruption {
        if let suspension { return suspension }
        return if case .failed(let why, _) = delivery { why } else { .none }
    }

    /// What the system said of it, for people; empty while it delivers.
    package var reason: String {
        if case .failed(_, let reason) = delivery, suspension == nil { reason } else { "" }
    }

    /// How it delivers, while it does.
    package var mode: CaptureMode? {
        if case .streaming(let mode, _) = delivery, suspension == nil { mode } else { nil }
    }

    /// How it would deliver if the bus had room for it, where that is something else.
    package var unreducedMode: CaptureMode? {
        if case .streaming(_, let mode) = delivery, suspension == nil { mode } else { nil }
    }

    /// What makes its picture stand upright, and mirrored where that is wanted.
    package var transform: Transform {
        // The mounting is undone first, as it is in the camera; mirroring is how it is shown.
        upright(mirrored: mirror)
    }

    /// By how many quarter turns clockwise, 0 to 3, its picture is turned to stand upright.
    package var uprightTurns: Int { (rotation / 90 + orientationTurns) & 3 }

    /// What makes its picture stand upright, and mirrors it or not.
    package func upright(mirrored: Bool) -> Transform {
        Transform(quarterTurns: rotation / 90 + orientationTurns)
            .followed(by: Transform(mirrored: mirrored))
    }
}
