package import Frames

/// One of the tracks of a recording.
package struct Track: Hashable, Sendable {
    /// How its packets are coded.
    package enum Codec: String, Hashable, Sendable {
        /// A JPEG each picture, as cameras send them.
        case mjpeg
        /// H.264 with parameter sets in the track's header.
        case h264
        /// Opus.
        case opus
        /// FLAC.
        case flac
    }

    /// What its packets hold.
    package enum Media: Hashable, Sendable {
        /// Pictures of `size`, about `rate` a second, to be turned clockwise by `rotation` degrees
        /// (0, 90, 180 or 270) when they are shown.
        case video(size: Size, rate: Double, rotation: Int, color: ColorSpace)
        /// `rate` samples a second in each of `channels`.
        case sound(rate: Int, channels: Int)
    }

    /// How its packets are coded.
    package var codec: Codec
    /// What they hold.
    package var media: Media
    /// What a decoder has to have before the first packet: libav's "extradata". Empty for `mjpeg`.
    package var header: [UInt8]
    /// Samples that a decoder is to drop at the start.
    package var padding: Int

    /// A track of `codec` that holds `media`.
    package init(_ codec: Codec, _ media: Media, header: [UInt8] = [], padding: Int = 0) {
        self.codec = codec
        self.media = media
        self.header = header
        self.padding = padding
    }

    /// Pictures as a camera codes them.
    package static func jpeg(size: Size, rate: Double, rotation: Int = 0) -> Track {
        Track(.mjpeg, .video(size: size, rate: rate, rotation: rotation, color: .jpeg))
    }

    /// Whether it has pictures, and not sound.
    package var isVideo: Bool { if case .video = media { true } else { false } }
}

/// A coded picture, or a stretch of coded sound.
package struct Packet: Sendable {
    /// Where its bytes are.
    package enum Content: Sendable {
        /// Its own.
        case bytes([UInt8])
        /// The first `count` bytes of a buffer, which goes back to its pool with the packet.
        case pooled(FrameBuffer, count: Int)
    }

    /// Its bytes.
    package var content: Content
    /// When it was taken, on CLOCK_MONOTONIC.
    package var time: Timestamp
    /// How long it lasts; zero: not known.
    package var duration: Timestamp
    /// Whether it can be decoded by itself.
    package var isKey: Bool

    /// A packet that was taken at `time`.
    package init(
        _ content: Content,
        at time: Timestamp,
        lasting duration: Timestamp = .zero,
        isKey: Bool = true
    ) {
        self.content = content
        self.time = time
        self.duration = duration
        self.isKey = isKey
    }

    /// How many bytes it has.
    package var byteCount: Int {
        switch content {
        case .bytes(let bytes): bytes.count
        case .pooled(_, let count): count
        }
    }

    /// What `body` makes of its bytes, which are valid until it returns.
    func withBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        switch content {
        case .bytes(let bytes): bytes.withUnsafeBytes(body)
        case .pooled(let buffer, let count):
            body(UnsafeRawBufferPointer(rebasing: buffer.bytes[..<count]))
        }
    }
}
