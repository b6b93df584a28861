package import Frames

/// The two cameras, by what they look at.
package enum Role: String, CaseIterable, Hashable, Sendable {
    /// The camera that looks at the world, or the desk.
    case back
    /// The camera that looks at the user.
    case front

    /// The other role.
    package var other: Role { self == .back ? .front : .back }
}

/// The treatment of a picture whose shape differs from its frame's.
package enum Background: String, CaseIterable, Hashable, Sendable {
    /// As `crop` in halves of the canvas, and as `blur` in all other frames.
    case auto
    /// A copy of the picture, scaled to cover, blurred and darkened.
    case blur
    /// Black.
    case black
    /// None: the picture is cropped to the frame's shape.
    case crop
}

/// The picture of a lens that is shown or is crossing in.
package struct LayerSource: Hashable, Sendable {
    /// The pipeline of the lens, within its role.
    package var pipeline = CapturePipeline.a
    /// The visible part of its upright picture, in fractions of its size; with a perspective, of
    /// what that makes the picture.
    package var part = Rect.unit
    /// The corners that become the picture, in the picture as the camera delivers it; `nil` if all
    /// of it is.
    package var perspective: Perspective?
    /// The point about which that part is cropped to another shape, as far as there is room, in
    /// fractions of the picture's size.
    package var place = NormalizedPoint.middle
    /// The correction of its colours.
    package var grade = Grade.none

    /// The whole picture of pipeline A, uncorrected.
    package init() {}
}

/// One picture on the canvas, as the scene has the compositor draw it.
package struct Layer: Hashable, Sendable {
    /// The role whose picture it is.
    package var role: Role
    /// The area on the canvas, in canvas pixels. The picture is clipped to it.
    package var rect: Rect
    /// The opacity, 0 … 1, of picture, border, shadow and icon together.
    package var opacity: Double = 1
    /// The radii of the rounded corners, in canvas pixels.
    package var corners = CornerRadii.none
    /// The width of the border inside the edge, in canvas pixels.
    package var borderWidth: Double = 0
    /// The opacity of the white border, 0 … 1.
    package var borderOpacity: Double = 0
    /// The opacity of the black shadow around it, 0 … 1.
    package var shadowOpacity: Double = 0
    /// The opacity of the swap icon in the top right corner, 0 … 1.
    package var iconOpacity: Double = 0
    /// The share of the grade for paper, 0 … 1: see `CameraEvent.setInk`.
    package var ink: Double = 0
    /// The opacity of the mark of a frozen picture in the bottom left corner, 0 … 1.
    package var frozenOpacity: Double = 0
    /// The opacity of a blurred copy in `rect` around a picture of another shape, over black.
    package var blur = 1.0
    /// The share, 0 … 1, by which a picture of another shape is cropped rather than fitted into
    /// `rect`: at 1 it fills it.
    package var fill = 0.0
    /// The transform of the camera's picture before it is fitted into `rect`.
    package var transform: Transform = .identity
    /// The lens whose picture is shown, and the visible part.
    package var source = LayerSource()
    /// The picture of the lens that is crossing in, if any.
    package var next: LayerSource?
    /// The opacity of `next`, 0 … 1.
    package var nextShare = 0.0
    /// The strength of blur and darkening while the camera does not deliver, 0 … 1.
    package var veil: Double = 0
    /// The reason that the camera does not deliver, written over the picture with the opacity of
    /// the veil.
    package var notice: Notice?

    /// An opaque layer without decoration.
    package init(role: Role, rect: Rect) {
        self.role = role
        self.rect = rect
    }

    /// Returns the extent at which the picture of `source` is shown here, scaled up from its
    /// visible part to the whole picture.
    package func extent(of source: LayerSource) -> ShownExtent {
        let size = PixelRect(covering: rect).size
        let bounds = transform.apply(to: source.perspective?.bounds ?? .unit)
        func whole(_ shown: Int, _ part: Double, _ bounds: Double) -> Int {
            Int((Double(shown) / part / max(bounds, 0.01)).rounded(.up))
        }
        let whole = Size(
            width: whole(size.width, source.part.width, bounds.width),
            height: whole(size.height, source.part.height, bounds.height)
        )
        return ShownExtent(
            transform.inverse.apply(to: whole),
            isCropped: fill > 0 || source.perspective != nil
        )
    }
}

/// The drawing of one output frame: a backdrop and at most six layers, bottom first. Each of three
/// pictures may be turning, which takes two layers.
///
/// The size is fixed, so that the composite thread makes one without allocating.
package struct Scene: Hashable, Sendable {
    /// The role whose blurred and darkened copy covers the canvas beneath the layers; `nil` if the
    /// bottom layer covers all of it.
    package var backdrop: Role?
    /// The share of the other role's copy in the backdrop, 0 … 1, during a swap.
    package var backdropMix = 0.0
    /// The opacity of the backdrop over black, 0 … 1.
    package var backdropOpacity = 1.0
    /// The number of layers.
    package private(set) var count = 0
    private var first: Layer?
    private var second: Layer?
    private var third: Layer?
    private var fourth: Layer?
    private var fifth: Layer?
    private var sixth: Layer?

    /// An empty scene.
    package init() {}

    /// Adds `layer` on top; at most six.
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

    /// The layer at `index`, from 0 (bottom) up to `count` - 1.
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
