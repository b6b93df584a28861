package import Frames

/// One track of a recording.
package struct Track: Hashable, Sendable {
    /// The codec of the packets.
    package enum Codec: String, Hashable, Sendable {
        /// A JPEG per picture, as cameras send them.
        case mjpeg
        /// H.264, with the parameter sets in the track's header.
        case h264
        case opus
        case flac
    }

    /// The kind of content.
    package enum Media: Hashable, Sendable {
        /// Pictures of `size`, about `rate` per second, to be turned clockwise by `rotation`
        /// degrees (0, 90, 180 or 270) for display.
        case video(size: Size, rate: Double, rotation: Int, color: ColorSpace)
        /// Sound of `channels` channels with `rate` samples per second each.
        case sound(rate: Int, channels: Int)
    }

    package var codec: Codec
    package var media: Media
    /// The data that a decoder needs before the first packet: libav's "extradata". Empty for
    /// `mjpeg`.
    package var header: [UInt8]
    /// The number of samples that a decoder has to drop at the start.
    package var padding: Int

    /// Creates a track of `media`, encoded with `codec`.
    package init(_ codec: Codec, _ media: Media, header: [UInt8] = [], padding: Int = 0) {
        self.codec = codec
        self.media = media
        self.header = header
        self.padding = padding
    }

    /// The range of frame rates that are believed, in pictures per second; 0 is an unknown one.
    package static let rates = 0.0...1000

    /// Checks the numbers that came from a camera.
    ///
    /// - Throws: `unsupported` for one that no camera has.
    func check() throws(MediaError) {
        guard case .video(let size, let rate, _, _) = media else { return }
        guard Self.rates.contains(rate) else {
            throw MediaError(
                .unsupported,
                "record",
                detail: "the frame rate is \(rate), expected 0 to 1000"
            )
        }
        guard (1...65535).contains(size.width), (1...65535).contains(size.height) else {
            throw MediaError(.unsupported, "record", detail: "the picture's size is \(size)")
        }
    }

    /// Returns a track of JPEGs as from a camera.
    package static func jpeg(size: Size, rate: Double, rotation: Int = 0) -> Track {
        Track(.mjpeg, .video(size: size, rate: rate, rotation: rotation, color: .jpeg))
    }

    /// `true` for pictures, `false` for sound.
    package var isVideo: Bool { if case .video = media { true } else { false } }
}

/// An encoded picture, or a block of encoded sound.
package struct Packet: Sendable {
    /// The storage of the bytes.
    package enum Content: Sendable {
        /// An array of the packet's own.
        case bytes([UInt8])
        /// The first `count` bytes of a buffer, which returns to its pool with the packet.
        case pooled(FrameBuffer, count: Int)
    }

    package var content: Content
    /// The time at which it was taken, on CLOCK_MONOTONIC.
    package var time: Timestamp
    /// The duration, or zero if unknown.
    package var duration: Timestamp
    /// `true` if the packet can be decoded on its own.
    package var isKey: Bool

    /// Creates a packet taken at `time`.
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

    package var byteCount: Int {
        switch content {
        case .bytes(let bytes): bytes.count
        case .pooled(_, let count): count
        }
    }

    /// Calls `body` with the bytes, which are valid until it returns, and returns its result.
    package func withBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        switch content {
        case .bytes(let bytes): bytes.withUnsafeBytes(body)
        case .pooled(let buffer, let count):
            body(UnsafeRawBufferPointer(rebasing: buffer.bytes[..<count]))
        }
    }
}
