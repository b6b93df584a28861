package import Frames

/// The phase of a camera. The words are those of the D-Bus interface.
package enum CameraPhase: String, Hashable, Sendable {
    /// Not needed.
    case closed
    /// Being opened; no frame yet.
    case opening
    case streaming
    /// Needed, but not delivering; `Interruption` gives the reason.
    case interrupted
    /// No camera for this role.
    case unavailable
}

/// The state of one role's camera.
package struct CameraState: Hashable, Sendable {
    enum Delivery: Hashable, Sendable {
        case none
        case streaming(CaptureMode, insteadOf: CaptureMode?)
        case failed(Interruption, reason: String, holder: String = "")
    }

    /// The progress of a step that makes the camera use less of the bus.
    enum Step {
        /// Requested; reports that arrive now are from before the request.
        case asked
        /// The camera is being opened with the step.
        case opening
    }

    /// The progress of a change to the camera's largest mode, which photographs may request.
    package enum Full: Hashable, Sendable {
        /// The usual mode.
        case off
        /// The largest mode was requested.
        case asked
        /// The camera delivers its largest mode.
        case on
        /// The usual mode was requested again.
        case left
    }

    package var source: SourceSpecification
    /// The camera's name for people; empty if there is none.
    package var name = ""
    /// The problem with its source, for people; empty if there is none.
    package var problem = ""
    package var mirror: Bool
    /// The rotation of the mounted camera, in degrees clockwise: 0, 90, 180 or 270.
    package var rotation: Int
    /// The quarter turns clockwise that make up for how the device is held.
    var orientationTurns = 0
    /// The `orientationTurns` that a frozen picture was taken with; `nil` while pictures are live.
    var frozenTurns: Int?
    package internal(set) var room = Room.asIs
    /// The strength of the room's blur, 0 … 1.
    package internal(set) var roomBlur = 0.5
    /// The part of its picture that keeps faces well placed; `nil`: what the zoom says.
    var calm: CalmFraming?
    package internal(set) var framingTightness = 0.5
    package internal(set) var metering = Metering.frame
    /// The f-number; 0: unknown.
    package var aperture = 0.0
    /// Its controls as last reported, with the manual values.
    package var controls = CameraControls()
    /// Its lenses, and which of them is shown.
    package internal(set) var lens = LensState()
    /// The camera's stable identity; empty while there is none.
    package var identity = ""
    var isAssigned = false
    /// The reason that what the source names is not there; `nil` if it is, as far as is known.
    package internal(set) var absence: Interruption?
    /// `true` if it has delivered since it became the role's camera.
    var hasDelivered = false
    /// `true` while the camera's thread is asked to keep it open.
    var isAsked = false
    /// `true` while the thread has it open or may have: until it reports that it closed.
    package var isOpen = false
    var delivery = Delivery.none
    /// The progress of a change to its largest mode.
    package internal(set) var full = Full.off
    /// The time since which it delivers without a pause, if it does.
    package internal(set) var deliveringSince = Timestamp.zero
    /// The steps by which it uses less of the bus: `CaptureRequest.reduction`.
    package var reduction = 0
    /// The progress of the last of these steps, until its result is reported.
    var step: Step?
    /// `true` if it stalled after a step: the steps were of no use, bandwidth was not the reason.
    var isReducedInVain = false
    /// The mode that it delivered before that step.
    var modeBeforeStep: CaptureMode?
    /// The reason that it is kept closed although it is needed.
    var suspension: Interruption?
    /// The node that offers its picture alone, if any.
    package internal(set) var node = CameraNode()

    package init(source: SourceSpecification, mirror: Bool, rotation: Int) {
        self.source = source
        self.mirror = mirror
        self.rotation = rotation
    }

    package var phase: CameraPhase {
        if !hasCamera { return .unavailable }
        if suspension != nil { return .interrupted }
        return switch delivery {
        case .streaming: .streaming
        case .failed: .interrupted
        // A device that is still closing is not closed.
        case .none: isAsked || mayBeOpen ? .opening : absence == nil ? .closed : .unavailable
        }
    }

    /// `true` if there is a camera for the role, even one that is not found.
    var hasCamera: Bool { isAssigned || isOpen }

    /// `true` while any of its devices is open, or may be.
    package var mayBeOpen: Bool { isOpen || lens.isOtherOpen }

    /// The reason that it does not deliver although it should.
    package var interruption: Interruption {
        if let suspension { return suspension }
        if case .failed(let why, _, _) = delivery { return why }
        return phase == .unavailable ? absence ?? .none : .none
    }

    /// The system's message, for people; empty while it delivers.
    package var reason: String {
        if case .failed(_, let reason, _) = delivery, suspension == nil { reason } else { "" }
    }

    /// The program that has it, while `interruption` is `busy`; empty if unknown.
    package var holder: String {
        if case .failed(.busy, _, let holder) = delivery, suspension == nil { holder } else { "" }
    }

    /// The mode that it delivers, while it does.
    package var mode: CaptureMode? {
        if case .streaming(let mode, _) = delivery, suspension == nil { mode } else { nil }
    }

    /// The mode that it would deliver if the bus had room, where that is another one.
    package var unreducedMode: CaptureMode? {
        if case .streaming(_, let mode) = delivery, suspension == nil { mode } else { nil }
    }

    /// `true` while one picture stays in place of live ones.
    package var isFrozen: Bool { frozenTurns != nil }

    package internal(set) var framing: FramingMode {
        get { calm == nil ? .off : .calm }
        set { if newValue != framing { calm = newValue == .calm ? CalmFraming() : nil } }
    }

    /// The transform that makes the shown picture upright, and mirrors it if wanted.
    package var transform: Transform {
        // The mounting is corrected first, as if in the camera; mirroring is only for display.
        upright(mirrored: mirror, turns: shownTurns)
    }

    /// The quarter turns clockwise for how the device was held when the shown picture was taken.
    var shownTurns: Int { frozenTurns ?? orientationTurns }

    /// The quarter turns clockwise, 0 to 3, that make its picture upright.
    package var uprightTurns: Int { (rotation / 90 + orientationTurns) & 3 }

    /// The transform that makes up for how it is mounted.
    package var mountingTransform: Transform { Transform(quarterTurns: rotation / 90) }

    /// The way in which the room in its pictures is shown.
    package var roomLook: RoomLook {
        RoomLook(room, blur: room == .asIs ? RoomLook().blur : roomBlur, transform)
    }

    /// Returns the transform that makes its picture upright, and mirrors it if `mirrored`.
    package func upright(mirrored: Bool) -> Transform {
        upright(mirrored: mirrored, turns: orientationTurns)
    }

    private func upright(mirrored: Bool, turns: Int) -> Transform {
        Transform(quarterTurns: rotation / 90 + turns)
            .followed(by: Transform(mirrored: mirrored))
    }
}
