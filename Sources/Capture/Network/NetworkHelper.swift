import CCurl
import CSandbox
import DualCamCore
import Frames
import Glibc
import Media
import Platform

/// The process that reads a camera on the network (`NetworkCamera`). It may open nothing, and reach
/// nothing but the camera.
package enum NetworkHelper {
    /// The most bytes of memory.
    private static let memory: UInt = 1 << 30

    /// Reads the camera that the daemon asks for, until the daemon has no use for it or it fails.
    package static func run() -> Never {
        var request: NetworkRequest?
        var addresses: [HostAddress] = []
        HelperService.stream(memory: memory) { message, _ in
            guard let asked = NetworkRequest(String(decoding: message, as: UTF8.self)) else {
                return nil
            }
            request = asked
            do throws(NetworkError) {
                // What needs files comes first: libraries, certificates, and the names of hosts.
                try load(asked.address.scheme)
                addresses = try resolve(asked.address)
            } catch {
                PictureOutlet.report(error)
                return nil
            }
            let peer = (addresses.map(\.bytes), usesDatagrams: asked.address.scheme == .srt)
            return { () throws(SystemError) in try Confinement.enter(reaching: peer) }
        } _: { files in
            guard let request else { return }
            do throws(NetworkError) {
                try read(request, addresses.map(\.number), files[0])
            } catch {
                // A camera could have said it again, in an address or a type.
                let secret = request.user?.password ?? ""
                let words =
                    secret.isEmpty ? error.detail : error.detail.replacing(secret, with: "…")
                PictureOutlet.report(NetworkError(error.code, words))
            }
        }
    }

    private static func load(_ scheme: NetworkAddress.Scheme) throws(NetworkError) {
        switch scheme {
        case .http, .https:
            guard ccurl_load(getenv("SSL_CERT_FILE")) else {
                throw NetworkError(.unsupported, "libcurl is not installed")
            }
        case .rtsp, .srt:
            guard LiveReader.isPossible else {
                throw NetworkError(.unsupported, "FFmpeg's libraries are not installed")
            }
        }
    }

    private static func read(
        _ request: NetworkRequest,
        _ addresses: [String],
        _ file: CInt
    ) throws(NetworkError) {
        let outlet: PictureOutlet
        do throws(SystemError) {
            outlet = try PictureOutlet(file)
        } catch {
            throw NetworkError(.system, "\(error)")
        }
        switch request.address.scheme {
        case .http, .https: try HTTPReader(request, addresses, outlet).read()
        case .rtsp, .srt: try readLive(request, addresses, outlet)
        }
    }

    private static func readLive(
        _ request: NetworkRequest,
        _ addresses: [String],
        _ outlet: PictureOutlet
    ) throws(NetworkError) {
        do throws(MediaError) {
            let reader = try connect(request, addresses, outlet)
            while let (picture, arrival) = try reader.next() {
                switch picture {
                case .jpeg(let bytes):
                    outlet.put(bytes.count, arrival: arrival) { $0.copyMemory(from: bytes) }
                case .planes(let layout, let color):
                    guard layout.byteCount <= PictureMessage.slotSize else {
                        throw MediaError(
                            .unsupported,
                            "av_read_frame",
                            detail: "its pictures are too large: \(layout.size)"
                        )
                    }
                    var failure: MediaError?
                    outlet.put(layout.byteCount, layout, color, arrival: arrival) { bytes in
                        do throws(MediaError) {
                            try reader.copy(into: bytes, layout)
                        } catch {
                            failure = error
                        }
                    }
                    if let failure { throw failure }
                }
            }
        } catch {
            if outlet.isEnding { return }
            // libav follows a redirection by itself, as far as it gets.
            guard request.address.scheme != .rtsp || !csandbox_has_strayed() else {
                throw NetworkError(
                    .unsupported,
                    "it redirects without end, or to another address: set that if you trust it"
                )
            }
            throw NetworkError(error)
        }
    }

    /// Connects to the first of `addresses` that answers. A name may stand for an IPv6 address at
    /// which nothing listens, and for another one.
    private static func connect(
        _ request: NetworkRequest,
        _ addresses: [String],
        _ outlet: PictureOutlet
    ) throws(MediaError) -> LiveReader {
        var failure: MediaError?
        for address in addresses {
            do throws(MediaError) {
                return try LiveReader(
                    url: liveURL(request, address),
                    as: "\(request.address.host):\(request.address.port)",
                    passphrase: request.user?.password ?? "",
                    isConnected: csandbox_is_connected
                ) { outlet.proceed() }
            } catch {
                guard error.code == .notFound, !outlet.isEnding else { throw error }
                failure = error
            }
        }
        throw failure ?? MediaError(.notFound, "connect", detail: "it has no address")
    }

    /// Returns the address with the number of its host, and for RTSP with user and
    /// password.
    private static func liveURL(_ request: NetworkRequest, _ number: String) -> String {
        let address = request.address
        let host = number.contains(":") ? "[\(number)]" : number
        var before = ""
        if let user = request.user, address.scheme == .rtsp {
            before = "\(escaped(user.name)):\(escaped(user.password))@"
        }
        return "\(address.scheme.rawValue)://\(before)\(host):\(address.port)\(address.path)"
    }

    /// Returns `text` with all but letters and digits as %XX.
    private static func escaped(_ text: String) -> String {
        text.utf8.map { byte in
            let isPlain =
                (0x30...0x39).contains(byte) || (0x41...0x5a).contains(byte)
                || (0x61...0x7a).contains(byte)
            let code = String(byte, radix: 16, uppercase: true)
            return isPlain
                ? String(UnicodeScalar(byte))
                : "%" + String(repeating: "0", count: 2 - code.count) + code
        }.joined()
    }

    /// An address of a host: its number, and with its port as the system has it.
    private typealias HostAddress = (number: String, bytes: [UInt8])

    /// Returns the addresses of the host.
    ///
    /// - Throws: `unreachable` if it has none.
    private static func resolve(_ address: NetworkAddress) throws(NetworkError) -> [HostAddress] {
        var hints = addrinfo()
        hints.ai_socktype = CInt(SOCK_STREAM.rawValue)
        hints.ai_flags = AI_NUMERICSERV | (address.isNumeric ? AI_NUMERICHOST : 0)
        var found: UnsafeMutablePointer<addrinfo>?
        let result = getaddrinfo(address.host, "\(address.port)", &hints, &found)
        defer { if let found { freeaddrinfo(found) } }
        guard result == 0 else {
            throw NetworkError(.unreachable, String(cString: gai_strerror(result)).uncapitalized)
        }
        var addresses: [HostAddress] = []
        var next = found
        while let entry = next?.pointee, addresses.count < 8 {
            var text = [CChar](repeating: 0, count: Int(NI_MAXHOST))
            let length = socklen_t(text.count)
            let (place, size) = (entry.ai_addr, entry.ai_addrlen)
            if getnameinfo(place, size, &text, length, nil, 0, CInt(NI_NUMERICHOST)) == 0 {
                let number = String(
                    decoding: text.prefix { $0 != 0 }.map(UInt8.init),
                    as: UTF8.self
                )
                addresses.append(
                    (number, Array(UnsafeRawBufferPointer(start: place, count: Int(size))))
                )
            }
            next = entry.ai_next
        }
        return addresses
    }
}

/// The place where the helper process leaves its pictures. The newest wins: one that finds no free
/// slot is dropped, and the daemon takes the last of several.
final class PictureOutlet {
    private let memory: SharedPictures
    private var isFree = [Bool](repeating: true, count: PictureMessage.slotCount)
    private var sequence: UInt64 = 0
    /// `true` once the daemon has no use for pictures any more.
    private(set) var isEnding = false
    /// The work since the last picture; `nil`: as much as it takes.
    private var work: WorkBudget?
    /// The closure called with a message of the daemon that is no slot.
    private let command: ((UnsafeRawBufferPointer) -> Void)?

    /// Leaves pictures in the memory behind `file`. With `command`, the process takes messages
    /// beside those that free slots, and may wait for pictures without an end.
    ///
    /// - Throws: the errno of mmap(2).
    init(_ file: CInt, command: ((UnsafeRawBufferPointer) -> Void)? = nil) throws(SystemError) {
        memory = try SharedPictures(of: file)
        self.command = command
        work = command == nil ? WorkBudget() : nil
    }

    /// Reports to the daemon why there are no pictures.
    static func report(_ error: NetworkError) { send(.failed(error)) }

    /// Reads the daemon's messages. Returns `false` if it wants no more pictures. Ends the process
    /// after `WorkBudget` without a picture: an attacker can send data without end.
    func proceed() -> Bool {
        if work?.isUsedUp ?? false {
            Self.report(NetworkError(.unreadable, "it sends much, but no picture"))
            _exit(EXIT_SUCCESS)
        }
        return withUnsafeTemporaryAllocation(byteCount: PictureMessage.longest, alignment: 8) {
            bytes in
            while !isEnding {
                switch HelperService.take(into: bytes) {
                case .message(1): if Int(bytes[0]) < isFree.count { isFree[Int(bytes[0])] = true }
                case .message(let count):
                    command?(UnsafeRawBufferPointer(rebasing: bytes[..<count]))
                case .nothing: return true
                case .ended: isEnding = true
                }
            }
            return false
        }
    }

    /// Leaves a picture of `count` bytes, which `fill` writes; a JPEG if there is no `layout`.
    func put(
        _ count: Int,
        _ layout: FrameLayout? = nil,
        _ color: ColorSpace = .jpeg,
        arrival: Timestamp = MonotonicClock.now,
        fill: (UnsafeMutableRawBufferPointer) -> Void
    ) {
        if work != nil { work = WorkBudget() }
        _ = proceed()
        sequence += 1
        guard count <= PictureMessage.slotSize, let slot = isFree.firstIndex(of: true) else {
            return
        }
        fill(UnsafeMutableRawBufferPointer(rebasing: memory[slot][..<count]))
        isFree[slot] = false
        Self.send(
            .picture(
                PictureMessage.Picture(
                    slot: slot,
                    sequence: sequence,
                    arrival: arrival,
                    count: count,
                    layout: layout,
                    color: color
                )
            )
        )
    }

    /// Sends `message` to the daemon.
    static func send(_ message: PictureMessage) {
        withUnsafeTemporaryAllocation(byteCount: PictureMessage.longest, alignment: 8) { bytes in
            let count = message.write(to: bytes)
            HelperService.send(UnsafeRawBufferPointer(rebasing: bytes[..<count]))
        }
    }
}

/// The processor's time that may pass until there is a picture.
private struct WorkBudget {
    private let start = HelperService.processorTime
    /// The seconds of it, in which a slow computer comes to a video's first whole picture.
    private static let most: UInt = 10

    var isUsedUp: Bool { HelperService.processorTime > start + Self.most }
}

extension NetworkError {
    fileprivate init(_ error: MediaError) {
        let code: Code =
            switch error.code {
            case .notFound where error.operation == "connect": .unreachable
            case .notFound: .ended
            case .denied: .denied
            case .unsupported: .unsupported
            case .unreadable: .unreadable
            case .noSpace, .busy, .harmful, .system: .system
            }
        self.init(code, error.detail.isEmpty ? error.description : error.detail)
    }
}
