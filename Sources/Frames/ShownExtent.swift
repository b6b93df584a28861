/// The size at which a camera's picture is shown, which limits how many of its pixels are useful.
package struct ShownExtent: Hashable, Sendable {
    /// The area that it is shown in, in pixels and in the orientation of the camera's picture;
    /// empty if it is hidden, `nil` if all the camera's pixels are useful.
    package var size: Size?
    /// `true` if the picture is cropped to that shape, `false` if it is fitted into it.
    package var isCropped = false
    /// `true` if persons in the picture are shown without their room.
    package var isCutOut = false

    package init(_ size: Size?, isCropped: Bool = false) {
        self.size = size
        self.isCropped = isCropped
    }

    /// The extent for which every pixel is useful.
    package static let whole = ShownExtent(nil)
    /// A small extent: enough to measure brightness, or to show the picture blurred.
    package static let glance = ShownExtent(Size(width: 128, height: 72), isCropped: true)
    package static let hidden = ShownExtent(Size(width: 0, height: 0))

    package var isHidden: Bool { size.map { $0.area == 0 } ?? false }

    /// Returns an extent large enough for this one and for `other`.
    package func union(_ other: ShownExtent) -> ShownExtent {
        if isHidden { return other }
        if other.isHidden { return self }
        var union = ShownExtent.whole
        union.isCutOut = isCutOut || other.isCutOut
        guard let size, let otherSize = other.size else { return union }
        union.size = Size(
            width: max(size.width, otherSize.width),
            height: max(size.height, otherSize.height)
        )
        union.isCropped = isCropped || other.isCropped
        return union
    }

    /// Returns the size at which the whole of a picture of size `picture` is drawn, in fractional
    /// pixels, including the parts that are cropped.
    package func drawn(_ picture: Size) -> (width: Double, height: Double) {
        let (width, height) = (Double(picture.width), Double(picture.height))
        guard let size, picture.area > 0 else { return (width, height) }
        let scales = (Double(size.width) / width, Double(size.height) / height)
        let scale = isCropped ? max(scales.0, scales.1) : min(scales.0, scales.1)
        return (width * scale, height * scale)
    }
}
