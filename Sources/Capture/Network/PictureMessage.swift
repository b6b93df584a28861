import Frames

/// A message of the helper process to the daemon: one picture, or its end.
enum PictureMessage: Hashable {
    /// A picture in the shared memory.
    case picture(Picture)
    /// There will be no pictures.
    case failed(NetworkError)
    /// Something else, in words that only some helper has.
    case said(String)

    /// A picture in the shared memory, until the daemon gives its slot back.
    struct Picture: Hashable {
        var slot: Int
        /// The number of the picture, which counts those that were dropped, too.
        var sequence: UInt64
        /// The time of its arrival, on CLOCK_MONOTONIC.
        var arrival: Timestamp
        /// The number of bytes.
        var count: Int
        /// The layout of its planes, as `FrameLayout(size:format:)` has it; `nil` for a JPEG.
        var layout: FrameLayout?
        var color: ColorSpace
    }

    /// The slots of the shared memory, and the bytes of each: a picture of 4096x2560 in 4:2:0, or
    /// the longest JPEG.
    static let (slotCount, slotSize) = (4, 1 << 24)
    /// The most bytes of a message.
    static let longest = 4096

    private static let (pictureTag, failureTag, wordsTag) = (UInt8(1), UInt8(2), UInt8(3))
    private static let pictureLength = 44

    /// Writes the message to `bytes`, which have room for `longest`, and returns its length.
    func write(to bytes: UnsafeMutableRawBufferPointer) -> Int {
        switch self {
        case .picture(let picture):
            bytes[0] = Self.pictureTag
            bytes[1] = UInt8(picture.slot)
            bytes[2] = picture.color.matrix == .bt709 ? 1 : 0
            bytes[3] = picture.color.range == .full ? 1 : 0
            let layout = picture.layout
            let numbers: [4 of UInt32] = [
                UInt32(picture.count), layout?.format.rawValue ?? 0,
                UInt32(layout?.size.width ?? 0), UInt32(layout?.size.height ?? 0),
            ]
            for index in numbers.indices {
                bytes.storeBytes(of: numbers[index], toByteOffset: 4 + 4 * index, as: UInt32.self)
            }
            bytes.storeBytes(of: picture.sequence, toByteOffset: 24, as: UInt64.self)
            bytes.storeBytes(of: picture.arrival.nanoseconds, toByteOffset: 32, as: Int64.self)
            return Self.pictureLength
        case .failed(let error):
            return Self.write(
                "\(error.code.rawValue) \(error.detail)",
                as: Self.failureTag,
                to: bytes
            )
        case .said(let words): return Self.write(words, as: Self.wordsTag, to: bytes)
        }
    }

    private static func write(
        _ text: String,
        as tag: UInt8,
        to bytes: UnsafeMutableRawBufferPointer
    ) -> Int {
        let text = text.utf8.prefix(longest - 1)
        bytes[0] = tag
        UnsafeMutableRawBufferPointer(rebasing: bytes[1...]).copyBytes(from: text)
        return 1 + text.count
    }

    /// Reads a message, of which the process may have made up every byte; `nil` if it is none. A
    /// picture lies within its slot, and arrived within the second before `now`.
    init?(_ bytes: UnsafeRawBufferPointer, now: Timestamp) {
        switch bytes.first {
        case Self.pictureTag where bytes.count == Self.pictureLength:
            guard let picture = Picture(bytes, now: now) else { return nil }
            self = .picture(picture)
        case Self.failureTag:
            let words = String(decoding: bytes.dropFirst(), as: UTF8.self)
                .split(separator: " ", maxSplits: 1).map(String.init)
            guard let code = words.first.flatMap(NetworkError.Code.init(rawValue:)) else {
                return nil
            }
            self = .failed(NetworkError(code, words.dropFirst().first ?? ""))
        case Self.wordsTag: self = .said(String(decoding: bytes.dropFirst(), as: UTF8.self))
        default: return nil
        }
    }
}

extension PictureMessage.Picture {
    fileprivate init?(_ bytes: UnsafeRawBufferPointer, now: Timestamp) {
        func number(_ index: Int) -> UInt32 {
            bytes.loadUnaligned(fromByteOffset: 4 + 4 * index, as: UInt32.self)
        }
        slot = Int(bytes[1])
        color = ColorSpace(
            matrix: bytes[2] == 1 ? .bt709 : .bt601,
            range: bytes[3] == 1 ? .full : .limited
        )
        count = Int(number(0))
        sequence = bytes.loadUnaligned(fromByteOffset: 24, as: UInt64.self)
        let stamp = bytes.loadUnaligned(fromByteOffset: 32, as: Int64.self)
        let isRecent = stamp <= now.nanoseconds && stamp > now.nanoseconds - 1_000_000_000
        arrival = isRecent ? Timestamp(nanoseconds: stamp) : now
        guard slot < PictureMessage.slotCount, (1...PictureMessage.slotSize).contains(count) else {
            return nil
        }
        let format = PixelFormat(rawValue: number(1))
        guard format.rawValue != 0 else { return }
        let (width, height) = (number(2), number(3))
        guard format.planarSubsampling != nil || format == .gray,
            (1...16384).contains(width), (1...16384).contains(height)
        else { return nil }
        let layout = FrameLayout(size: Size(width: Int(width), height: Int(height)), format: format)
        guard layout.byteCount == count else { return nil }
        self.layout = layout
    }
}

/// The reason that a camera on the network gives no pictures.
struct NetworkError: Error, Hashable, CustomStringConvertible {
    enum Code: String, CaseIterable, Sendable {
        case unreachable
        /// It has ended the connection, or is silent.
        case ended
        /// It wants a user and a password, or others; or its certificate is not trusted.
        case denied
        /// It sends something else than pictures, or in a way that DualCam does not know.
        case unsupported
        case unreadable
        case system
    }

    let code: Code
    /// The reason in words. From a process that an attacker may control, cut and without
    /// control characters.
    let detail: String

    init(_ code: Code, _ detail: String) {
        self.code = code
        self.detail = String(
            String.UnicodeScalarView(
                detail.unicodeScalars.filter { $0.value >= 0x20 && $0.value != 0x7f }.prefix(200)
            )
        )
    }

    var description: String { detail.isEmpty ? code.rawValue : detail }
}
