/// How large a camera's picture is shown, and so how many of its pixels are of use.
package struct ShownExtent: Hashable, Sendable {
    /// What it is shown in, in pixels, lying as the camera's picture does; without a pixel where it is
    /// not shown. `nil` where all that the camera gives is of use.
    package var size: Size?
    /// It is cropped to that shape, and not fitted into it.
    package var isCropped = false

    /// Shown in `size`, cropped to its shape or fitted into it.
    package init(_ size: Size?, isCropped: Bool = false) {
        self.size = size
        self.isCropped = isCropped
    }

    /// Every pixel is of use.
    package static let whole = ShownExtent(nil)
    /// Small: enough to know its light, or to be seen blurred.
    package static let glance = ShownExtent(Size(width: 128, height: 72), isCropped: true)
    /// Nobody looks.
    package static let hidden = ShownExtent(Size(width: 0, height: 0))

    /// Whether nobody looks.
    package var isHidden: Bool { size.map { $0.area == 0 } ?? false }

    /// Large enough for this and for `other`.
    package func union(_ other: ShownExtent) -> ShownExtent {
        if isHidden { return other }
        if other.isHidden { return self }
        guard let size, let otherSize = other.size else { return .whole }
        let both = Size(
            width: max(size.width, otherSize.width),
            height: max(size.height, otherSize.height)
        )
        return ShownExtent(both, isCropped: isCropped || other.isCropped)
    }

    /// Extent at which a picture of `picture` is drawn, in pixels with fractions; the whole of it,
    /// where it is cropped.
    package func drawn(_ picture: Size) -> (width: Double, height: Double) {
        let (width, height) = (Double(picture.width), Double(picture.height))
        guard let size, picture.area > 0 else { return (width, height) }
        let scales = (Double(size.width) / width, Double(size.height) / height)
        let scale = isCropped ? max(scales.0, scales.1) : min(scales.0, scales.1)
        return (width * scale, height * scale)
    }
}
