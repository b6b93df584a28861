package import Frames

/// The treatment of a picture whose shape differs from its frame's.
package enum Background: String, CaseIterable, Hashable, Sendable {
    /// As `crop` in halves of the canvas, and as `blur` in all other frames.
    case auto
    /// A copy of the picture, scaled to cover, blurred and darkened.
    case blur
    case black
    /// None: the picture is cropped to the frame's shape.
    case crop
}

/// The picture of a lens that is shown or is crossing in.
package struct LayerSource: Hashable, Sendable {
    /// The pipeline of the lens, within its role.
    package var pipeline = CapturePipeline.a
    /// The visible part of its upright picture, in fractions; with a perspective, of its result.
    package var part = Rect.unit
    /// The corners that become the picture, in the camera's own picture; `nil`: all of it.
    package var perspective: Perspective?
    /// The point, in fractions, about which that part is cropped to another shape if there is room.
    package var place = NormalizedPoint.middle
    package var grade = Grade.none

    /// The whole picture of pipeline A, uncorrected.
    package init() {}
}

/// One picture on the canvas, as the scene has the compositor draw it.
package struct Layer: Hashable, Sendable {
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
    /// The opacity of the black shadow around it, 0 … 1; of what is cut out, around persons.
    package var shadowOpacity: Double = 0
    /// The opacity of the swap icon in the top right corner, 0 … 1.
    package var iconOpacity: Double = 0
    /// The share of the grade for paper, 0 … 1: see `CameraSettings.isInk`.
    package var ink: Double = 0
    /// The opacity of the mark of a frozen picture in the bottom left corner, 0 … 1.
    package var frozenOpacity: Double = 0
    /// The opacity of a blurred copy in `rect` around a picture of another shape, over black.
    package var blur = 1.0
    /// The share, 0 … 1, by which a picture of another shape is cropped, not fitted into `rect`.
    package var fill = 0.0
    /// The share, 0 … 1, to which all but persons is gone, with what is around the picture.
    package var cutout = 0.0
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
    /// The reason that the camera does not deliver, written over the picture as opaque as the veil.
    package var notice: Notice?

    /// Returns how far from the edges marks and words are, at least: round corners leave less room.
    package func distance(atLeast least: Double) -> Double {
        max(least, corners.largest * (1 - 0.5.squareRoot()))
    }

    /// An opaque layer without decoration.
    package init(role: Role, rect: Rect) {
        self.role = role
        self.rect = rect
    }

    /// Returns the extent of the picture of `source`, scaled up from its visible part to the whole.
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
        var extent = ShownExtent(
            transform.inverse.apply(to: whole),
            isCropped: fill > 0 || source.perspective != nil
        )
        extent.isCutOut = cutout > 0
        return extent
    }
}

/// The drawing of one output frame: a backdrop and at most six layers, bottom first. Each of three
/// pictures may be turning, which takes two layers. The size is fixed, so that the composite thread
/// makes one without allocating.
package struct Scene: Hashable, Sendable {
    /// The role whose blurred and darkened copy covers the canvas beneath the layers; `nil` if the
    /// bottom layer covers all of it.
    package var backdrop: Role?
    /// The share of the other role's copy in the backdrop, 0 … 1, during a swap.
    package var backdropMix = 0.0
    /// The opacity of the backdrop over black, 0 … 1.
    package var backdropOpacity = 1.0
    package private(set) var count = 0
    private var first: Layer?
    private var second: Layer?
    private var third: Layer?
    private var fourth: Layer?
    private var fifth: Layer?
    private var sixth: Layer?

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
