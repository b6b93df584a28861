package import Frames

/// Decodes one camera's JPEGs to frames, each at the size that its picture is shown at, or not at
/// all. It keeps the newest JPEG, so that the same picture can be decoded larger when it is needed.
/// Bound to the camera's thread. Frames may be released on any thread.
package final class FrameDecoder {
    /// The result of decoding a JPEG.
    package enum Outcome {
        case frame(Frame)
        /// Nothing shows the picture, so it was not decoded.
        case unseen
        /// The JPEG is damaged, or no memory is free. The next one may be better.
        case damaged
    }

    private let decoder: JPEGDecoder
    /// The most pixels of a picture: four times those that the camera announced, or those of Full
    /// HD, which a phone may send for a photograph.
    private let largest: Int
    private var pool: GrowingPool
    /// The size of the first whole picture.
    private var size: Size?
    /// The number of pictures that were whole in spite of noise in their files.
    package private(set) var noisyCount: UInt64 = 0
    /// The fault of the newest JPEG, if its header or its data have one.
    package private(set) var fault: JPEGError?
    /// The newest JPEG, and the scale it was decoded at last; `nil` if it was not decoded.
    private var newest: (jpeg: JPEGFrame, header: JPEGDecoder.Header, scale: JPEGScale?)?

    /// Another size that the last pictures had, and their number.
    private var other: (size: Size, count: Int)?

    /// The number of pictures in a row that make another size the camera's own.
    private static let otherCount = 3
    /// Creates a decoder for a camera that announced pictures of `size`, of which so many `frames`
    /// may be held at once. `proceed` is that of `JPEGDecoder`. Throws `noDecoder`.
    package init(
        expecting size: Size,
        frames: Int = 6,
        proceed: @escaping () -> Bool = { true }
    ) throws(JPEGError) {
        decoder = try JPEGDecoder(proceed: proceed)
        largest = max(4 * size.area, 1920 * 1080)
        pool = GrowingPool(count: frames)
    }

    /// Decodes `jpeg`, the newest one, at the size that `extent` needs. Allocates for the first,
    /// and for one that needs more memory than all before.
    package func decode(_ jpeg: JPEGFrame, for extent: ShownExtent) -> Outcome {
        newest = nil
        fault = nil
        do throws(JPEGError) {
            return try outcome(of: jpeg, for: extent)
        } catch {
            // It may come from a damaged header, and the next one may be better.
            fault = error
            return .damaged
        }
    }

    private func outcome(
        of jpeg: JPEGFrame,
        for extent: ShownExtent
    ) throws(JPEGError) -> Outcome {
        let header = try decoder.header(of: jpeg.bytes)
        // The first whole picture sets the size, and one of another size is then damaged. Until
        // then one much larger than the mode is damaged: a header may not claim any amount of
        // memory.
        if let size, header.size != size {
            // A camera that was turned sends another size from now on.
            other =
                other?.size == header.size
                ? (header.size, (other?.count ?? 0) + 1) : (header.size, 1)
            guard let other, other.count >= Self.otherCount, header.size.area <= largest
            else { return .damaged }
            self.size = nil
        }
        if size == nil, header.size.area > largest { return .damaged }
        // So the first picture is decoded in any case.
        let scale =
            JPEGScale.smallest(for: extent, of: header.size) ?? (size == nil ? .eighth : nil)
        guard let scale else {
            newest = (jpeg, header, nil)
            return .unseen
        }
        guard let (frame, isNoisy) = try decode(jpeg, header, scale) else { return .damaged }
        if isNoisy { noisyCount += 1 }
        size = header.size
        other = nil
        newest = (jpeg, header, scale)
        return .frame(frame)
    }

    /// Decodes the newest picture again if `extent` needs it larger; `nil` if not, or if it fails.
    package func sharpen(for extent: ShownExtent) -> Frame? {
        guard let (jpeg, header, made) = newest,
            let scale = JPEGScale.smallest(for: extent, of: header.size),
            made.map({ scale.rawValue < $0.rawValue }) ?? true
        else { return nil }
        // Tried only once, since a damaged picture stays damaged.
        newest?.scale = scale
        return try? decode(jpeg, header, scale)?.frame
    }

    /// Forgets the newest JPEG: it is too old to be shown.
    package func forget() { newest = nil }

    private func decode(
        _ jpeg: JPEGFrame,
        _ header: JPEGDecoder.Header,
        _ scale: JPEGScale
    ) throws(JPEGError) -> (frame: Frame, isNoisy: Bool)? {
        // Each scale fits in a whole picture's memory, whose unused pages are never allocated.
        let whole = header.layout(at: .full).byteCount
        let layout = header.layout(at: scale)
        guard let buffer = pool.draw(byteCount: whole) else { return nil }
        let isNoisy = try decoder.decode(
            jpeg.bytes,
            header: header,
            scale: scale,
            into: buffer,
            layout: layout
        )
        let frame = Frame(
            buffer: buffer,
            layout: layout,
            color: .jpeg,
            timestamp: jpeg.timestamp,
            sequence: jpeg.sequence,
            pictureSize: header.size,
            reduction: scale.rawValue
        )
        return (frame, isNoisy)
    }
}

extension JPEGFrame {
    /// Returns the picture decoded once, as large as `extent` needs it; `nil` if it cannot be.
    package func decoded(for extent: ShownExtent = .whole) -> Frame? {
        let largest = Size(width: 8192, height: 8192)
        guard
            case .frame(let frame)? = try? FrameDecoder(expecting: largest).decode(
                self,
                for: extent
            )
        else { return nil }
        return frame
    }
}
