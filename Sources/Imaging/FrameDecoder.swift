package import Frames

/// Makes frames of one camera's JPEGs: each as large as its picture is shown just then, or not at all.
///
/// It keeps the newest JPEG, so that the same picture can be had larger when it is to be shown so.
///
/// - Context: bound to the camera's thread. Frames may be released by any.
package final class FrameDecoder {
    /// What became of a JPEG.
    package enum Outcome {
        /// A picture.
        case frame(Frame)
        /// Nobody looks at it, so it was not decoded.
        case unseen
        /// It is no good, or all memory is held. The next one may be better.
        case damaged
    }

    private let decoder: JPEGDecoder
    /// What the camera said that its pictures are like.
    private let expected: Size
    private var pool: FramePool?
    private var capacity = 0
    /// Extent of its pictures, as the first whole one has it.
    private var size: Size?
    /// The newest JPEG, and how much smaller it was decoded last; `nil` where it was not.
    private var newest: (jpeg: JPEGFrame, header: JPEGDecoder.Header, scale: JPEGScale?)?

    /// How many frames may be held at once.
    private static let poolCount = 6

    /// A decoder for a camera that said that its pictures are `size`. Throws `noDecoder`.
    package init(expecting size: Size) throws(JPEGError) {
        decoder = try JPEGDecoder()
        expected = size
    }

    /// Makes a frame of `jpeg`, the newest one, as large as `extent` asks.
    ///
    /// Allocates for the first, and for one with more memory than any before.
    package func decode(_ jpeg: JPEGFrame, for extent: ShownExtent) -> Outcome {
        newest = nil
        // Whatever is wrong with it, a damaged header may have said it, and the next may be better.
        guard let header = try? decoder.header(of: jpeg.bytes) else { return .damaged }
        // The first whole picture decides; one of another size among them is a damaged one. Until
        // then, one much larger than the mode is: memory is not to be had for any claim.
        if let size {
            guard header.size == size else { return .damaged }
        } else {
            guard header.size.area <= 4 * expected.area else { return .damaged }
        }
        // So the first one is looked at in any case.
        let scale =
            JPEGScale.smallest(for: extent, of: header.size) ?? (size == nil ? .eighth : nil)
        guard let scale else {
            newest = (jpeg, header, nil)
            return .unseen
        }
        guard let frame = decode(jpeg, header, scale) else { return .damaged }
        size = header.size
        newest = (jpeg, header, scale)
        return .frame(frame)
    }

    /// The newest picture again, where `extent` asks for a larger one than was made of it; `nil` where
    /// it does not, or it cannot be had.
    package func sharpen(for extent: ShownExtent) -> Frame? {
        guard let (jpeg, header, made) = newest,
            let scale = JPEGScale.smallest(for: extent, of: header.size),
            made.map({ scale.rawValue < $0.rawValue }) ?? true
        else { return nil }
        // Tried once: what is damaged stays so.
        newest?.scale = scale
        return decode(jpeg, header, scale)
    }

    private func decode(
        _ jpeg: JPEGFrame,
        _ header: JPEGDecoder.Header,
        _ scale: JPEGScale
    ) -> Frame? {
        // Any scale has room in the memory of a whole picture, which is not taken unless it is used.
        let whole = header.layout(at: .full).byteCount
        if whole > capacity {
            capacity = whole
            pool = FramePool(count: Self.poolCount, byteCount: whole)
        }
        let layout = header.layout(at: scale)
        guard let buffer = pool?.draw(),
            (try? decoder.decode(
                jpeg.bytes,
                header: header,
                scale: scale,
                into: buffer,
                layout: layout
            )) != nil
        else { return nil }
        return Frame(
            buffer: buffer,
            layout: layout,
            color: .jpeg,
            timestamp: jpeg.timestamp,
            sequence: jpeg.sequence,
            pictureSize: header.size,
            reduction: scale.rawValue
        )
    }
}
