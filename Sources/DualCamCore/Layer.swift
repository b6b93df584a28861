package import Frames

/// The two cameras, by what they look at.
package enum Role: String, CaseIterable, Hashable, Sendable {
    /// The camera that looks at the world, or the desk.
    case back
    /// The camera that looks at the user.
    case front

    /// The other one.
    package var other: Role { self == .back ? .front : .back }
}

/// What fills the frame around a picture of another shape.
package enum Background: String, CaseIterable, Hashable, Sendable {
    /// The picture's own copy, scaled to cover, blurred and darkened.
    case blur
    /// Black.
    case black
    /// Nothing: the picture is cropped to the frame's shape.
    case crop
}

/// What is written over a picture that is not live.
package enum Notice: String, CaseIterable, Hashable, Sendable {
    /// The camera is being opened.
    case waiting
    // The others are the interruptions.
    case unplugged, busy, denied, bandwidth, stalled, asleep, locked, privacy

    /// The notice of an interruption; `nil` for none.
    package init?(_ interruption: Interruption) { self.init(rawValue: interruption.rawValue) }

    /// What a person would say.
    package func text(for role: Role) -> String {
        let camera = role == .back ? "Back camera" : "Front camera"
        return switch self {
        case .waiting: "Waiting for the camera"
        case .unplugged: "\(camera) unplugged"
        case .busy: "In use by another program"
        case .denied: "No permission for the camera"
        case .bandwidth: "Too little USB bandwidth"
        case .stalled: "\(camera) does not respond"
        case .asleep: "Camera asleep"
        case .locked: "Camera paused while locked"
        case .privacy: "Camera turned off"
        }
    }
}

/// The picture of a lens that is to be seen, or is on its way to be.
package struct LayerSource: Hashable, Sendable {
    /// In which of its role's pipelines the lens is.
    package var pipeline = CapturePipeline.a
    /// The part of its upright picture that is shown, in fractions of its extent.
    package var part = Rect.unit
    /// What is changed of its colours.
    package var grade = Grade.none

    /// The whole picture of pipeline A, as it is.
    package init() {}
}

/// One picture on the canvas: what the scene asks the compositor to draw, bottom layer first.
package struct Layer: Hashable, Sendable {
    /// Whose picture.
    package var role: Role
    /// Where it lies on the canvas, in canvas pixels. Content is clipped to it.
    package var rect: Rect
    /// 0 unseen … 1 opaque; applies to picture, border, shadow and icon together.
    package var opacity: Double = 1
    /// Radius of its rounded corners, in canvas pixels.
    package var cornerRadius: Double = 0
    /// Width of the border inside its edge, in canvas pixels.
    package var borderWidth: Double = 0
    /// Opacity of the white border, 0 … 1.
    package var borderOpacity: Double = 0
    /// Opacity of the black shadow around it, 0 … 1.
    package var shadowOpacity: Double = 0
    /// Opacity of the swap icon in its top right corner, 0 … 1.
    package var iconOpacity: Double = 0
    /// What fills `rect` around a picture of another shape.
    package var background: Background = .blur
    /// How the camera's picture is turned and mirrored before it is fitted into `rect`.
    package var transform: Transform = .identity
    /// Which lens's picture, and what of it.
    package var source = LayerSource()
    /// The picture of another lens that takes its place.
    package var next: LayerSource?
    /// How much of `next` is seen, 0 … 1.
    package var nextShare = 0.0
    /// How far the picture is blurred and darkened because the camera does not deliver, 0 … 1.
    package var veil: Double = 0
    /// Why it does not, to be written over it as clearly as the veil is thick.
    package var notice: Notice?

    /// An opaque layer without decoration.
    package init(role: Role, rect: Rect) {
        self.role = role
        self.rect = rect
    }

    /// How large the picture of `source` is shown here, of which no more than its part is seen.
    package func extent(of source: LayerSource) -> ShownExtent {
        let size = PixelRect(covering: rect).size
        let whole = Size(
            width: Int((Double(size.width) / source.part.width).rounded(.up)),
            height: Int((Double(size.height) / source.part.height).rounded(.up))
        )
        return ShownExtent(transform.inverse.apply(to: whole), isCropped: background == .crop)
    }
}

/// What is drawn for one output frame: the backdrop and at most six layers, bottom first: each of three pictures may be
/// turning, and be there twice.
///
/// Fixed in size, so that the composite thread makes one without allocating.
package struct Scene: Hashable, Sendable {
    /// Whose blurred and darkened copy covers the whole canvas beneath the layers; `nil` where
    /// the bottom layer covers it all.
    package var backdrop: Role?
    /// How much of the backdrop is the other role's copy, 0 … 1, while the two change places.
    package var backdropMix = 0.0
    /// How many of the layers count.
    package private(set) var count = 0
    private var first: Layer?
    private var second: Layer?
    private var third: Layer?
    private var fourth: Layer?
    private var fifth: Layer?
    private var sixth: Layer?

    /// A scene with nothing in it.
    package init() {}

    /// Puts `layer` on top. At most six.
    package mutating func append(_ layer: Layer) {
        switch count {
        case 0: first = layer
        case 1: second = layer
        case 2: third = layer
        case 3: fourth = layer
        case 4: fifth = layer
        case 5: sixth = layer
        default: preconditionFailure("a scene has at most six layers")
        }
        count += 1
    }

    /// Layer `index`, 0 the bottom, index < `count`.
    package subscript(index: Int) -> Layer {
        let layer =
            switch index {
            case 0: first
            case 1: second
            case 2: third
            case 3: fourth
            case 4: fifth
            case 5: sixth
            default: Layer?.none
            }
        guard index < count, let layer else { preconditionFailure("no such layer") }
        return layer
    }
}
