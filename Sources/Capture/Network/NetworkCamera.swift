import DualCamCore
import Frames
import Glibc
import Platform

/// A camera on the network, read by a helper process: this program, run with other arguments and
/// confined to the network. What comes from the network is taken apart there; the daemon gets JPEGs
/// and planes in shared memory.
///
/// The process ends with this object.
///
/// - Context: bound to one thread.
final class NetworkCamera {
    /// A picture in memory that the process may change at any time, until `release(_:)`.
    struct Picture {
        /// The number of the picture, which counts those that were dropped, too.
        var sequence: UInt64 { message.sequence }
        var arrival: Timestamp { message.arrival }
        /// The layout of its planes; `nil` for a JPEG.
        var layout: FrameLayout? { message.layout }
        var color: ColorSpace { message.color }
        let bytes: UnsafeRawBufferPointer
        fileprivate let message: PictureMessage.Picture
    }

    /// The arguments of this program that call `NetworkHelper.run()`.
    static let arguments = ["--helper", "network"]
    /// The most bytes of a picture.
    static let longestPicture = PictureMessage.slotSize

    private let process: HelperProcess
    private let memory: SharedPictures
    private let patience: Timestamp
    private let message = UnsafeMutableRawBufferPointer.allocate(
        byteCount: PictureMessage.longest,
        alignment: 8
    )

    /// Starts the process, which connects to `address` with `credentials`, "USER:PASSWORD". Does
    /// not wait.
    ///
    /// - Throws: `SystemError` without memory, descriptors or processes.
    init(
        _ address: NetworkAddress,
        credentials: String?,
        arguments: [String] = arguments
    ) throws(SystemError) {
        memory = try SharedPictures()
        process = try HelperProcess(arguments)
        // A session ends with a message to its server; an HTTP connection just ends.
        patience = Timestamp(seconds: [.rtsp, .srt].contains(address.scheme) ? 0.3 : 0)
        let request = NetworkRequest(address: address, credentials: credentials)
        try process.send(Array(request.text.utf8), [memory.file])
    }

    deinit {
        process.end(within: patience)
        message.deallocate()
    }

    /// Readable when `next()` has something.
    var descriptor: CInt { process.descriptor }

    /// Returns the oldest picture that has not been taken, or `nil` if none is there. To be given
    /// back with `release(_:)`. Does not allocate.
    ///
    /// - Throws: the reason that no more come.
    func next() throws(NetworkError) -> Picture? {
        switch process.receive(into: message) {
        case .nothing: return nil
        case .message(let count):
            let bytes = UnsafeRawBufferPointer(rebasing: message[..<count])
            switch PictureMessage(bytes, now: MonotonicClock.now) {
            case .picture(let picture):
                let slot = UnsafeRawBufferPointer(memory[picture.slot])
                return Picture(
                    bytes: UnsafeRawBufferPointer(rebasing: slot[..<picture.count]),
                    message: picture
                )
            case .failed(let error): throw error
            case .said, nil:
                throw NetworkError(.system, "its reader sent something that is no picture")
            }
        case .ended(let status): throw NetworkError(.system, HelperProcess.describe(status))
        }
    }

    func release(_ picture: Picture) {
        process.send(byte: UInt8(picture.message.slot))
    }
}

/// The camera that the process is to read.
struct NetworkRequest: Hashable {
    var address: NetworkAddress
    var credentials: String?
}

extension NetworkRequest {
    /// Reads `text`; `nil` if it is no request.
    init?(_ text: String) {
        let lines = text.split(separator: "\n", maxSplits: 1).map(String.init)
        guard let address = lines.first.flatMap({ try? NetworkAddress(parsing: $0) }) else {
            return nil
        }
        self.init(address: address, credentials: lines.dropFirst().first)
    }

    /// The text that `init` reads.
    var text: String { "\(address)\n\(credentials ?? "")" }

    var user: (name: String, password: String)? {
        guard let credentials else { return nil }
        let parts = credentials.split(
            separator: ":",
            maxSplits: 1,
            omittingEmptySubsequences: false
        )
        return (String(parts[0]), parts.count == 2 ? String(parts[1]) : "")
    }
}

/// Returns the first line of the file at `path`, "USER:PASSWORD"; `path` may begin with "~/".
///
/// - Throws: `denied` if the file cannot be read, belongs to another user, or may be read by
///   others; `unsupported` if it has no such line.
func readCredentials(_ path: String) throws(NetworkError) -> String {
    let place = expandingHome(path)
    let number = open(place, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
    guard number >= 0 else {
        throw NetworkError(.denied, "\(path): \(String(cString: strerror(errno)))")
    }
    let file = Descriptor(owning: number)
    var status = stat()
    guard fstat(file.number, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
        throw NetworkError(.denied, "\(path) is not a file")
    }
    guard status.st_uid == geteuid(), status.st_mode & 0o077 == 0 else {
        throw NetworkError(.denied, "others may read \(path); run: chmod 600 \(path)")
    }
    var bytes = [UInt8](repeating: 0, count: 1025)
    let count = retryingInterrupts { read(file.number, &bytes, bytes.count) }
    let line = Array(bytes.prefix(max(0, count)).prefix { $0 != 10 && $0 != 13 })
    let text = decodeUTF8(line) ?? ""
    guard line.count <= 1024, text.contains(":"),
        text.unicodeScalars.allSatisfy({ $0.value >= 0x20 })
    else { throw NetworkError(.unsupported, "\(path) has no line user:password") }
    return text
}
