import CCurl
import DualCamCore
import Frames
import Glibc

/// A camera that sends JPEGs over HTTP, read by libcurl.
final class HTTPReader {
    private let request: NetworkRequest
    private let outlet: PictureOutlet
    private let handle: OpaquePointer
    private var reader: MultipartReader?
    /// The reason why the body cannot be read.
    private var fault: NetworkError?

    /// The time to connect in milliseconds, and to answer in seconds, as short as a network at home
    /// allows: a camera that was cut off is to be back soon.
    private static let (connecting, silence) = (1500, 3)
    private static let mostRedirections = 5

    /// Prepares to read the camera of `request`, whose host is at one of `addresses`.
    ///
    /// - Throws: `system` without memory.
    init(
        _ request: NetworkRequest,
        _ addresses: [String],
        _ outlet: PictureOutlet
    ) throws(NetworkError) {
        let address = request.address
        // libcurl wants IPv6 addresses in brackets.
        let numbers = addresses.map { $0.contains(":") ? "[\($0)]" : $0 }.joined(separator: ",")
        let place = address.isNumeric ? nil : "\(address.host):\(address.port):\(numbers)"
        guard
            let handle = ccurl_make(place, request.credentials, Self.connecting, Self.silence)
        else { throw NetworkError(.system, "no memory") }
        self.handle = handle
        self.request = request
        self.outlet = outlet
    }

    deinit { ccurl_free(handle) }

    /// Reads pictures until the daemon wants no more.
    ///
    /// - Throws: the reason why there are no more.
    func read() throws(NetworkError) {
        var url = request.address.description
        for _ in 0...Self.mostRedirections {
            let result = get(url)
            if outlet.isEnding { return }
            if let fault { throw fault }
            guard result == ccurl_done, (300..<400).contains(status) else { throw failure(result) }
            url = try redirection()
        }
        throw NetworkError(.unsupported, "it redirects from one address to another without end")
    }

    private var status: Int { ccurl_status(handle) }

    private func get(_ url: String) -> ccurl_result {
        reader = nil
        let context = Unmanaged.passUnretained(self).toOpaque()
        return ccurl_get(
            handle,
            url,
            context,
            { context, bytes, count in
                guard let context else { return false }
                let reader = Unmanaged<HTTPReader>.fromOpaque(context).takeUnretainedValue()
                return reader.take(UnsafeRawBufferPointer(start: bytes, count: count))
            },
            { context in
                guard let context else { return false }
                let reader = Unmanaged<HTTPReader>.fromOpaque(context).takeUnretainedValue()
                return reader.outlet.proceed()
            }
        )
    }

    /// Takes a piece of the body. Returns `false` if no more is wanted.
    private func take(_ bytes: UnsafeRawBufferPointer) -> Bool {
        // The bodies of other answers are words for people.
        guard status == 200 else { return (300..<400).contains(status) || status == 401 }
        if reader == nil {
            let type = ccurl_type(handle).map { String(cString: $0) } ?? "nothing that it names"
            reader = MultipartReader(type: type)
            if reader == nil {
                let kind = type.prefix { $0 != ";" }
                fault = NetworkError(
                    .unsupported,
                    "it sends \(kind), not a video of JPEGs; is this the address of its video?"
                )
                return false
            }
        }
        do throws(MultipartReader.Fault) {
            try reader?.read(bytes) { picture in
                outlet.put(picture.count) { $0.copyMemory(from: picture) }
            }
        } catch {
            fault = NetworkError(.unreadable, error.text)
            return false
        }
        return outlet.proceed()
    }

    /// Returns where the camera leads on to: another path of its own.
    private func redirection() throws(NetworkError) -> String {
        let url = ccurl_location(handle).map { String(cString: $0) } ?? ""
        let asked = request.address
        guard let next = try? NetworkAddress(parsing: url), next.scheme == asked.scheme,
            next.host == asked.host, next.port == asked.port
        else {
            let place = NetworkAddress.redacted(url)
            throw NetworkError(
                .unsupported,
                "it redirects to another place, \(place); set that as the source if you trust it"
            )
        }
        return url
    }

    private func failure(_ result: ccurl_result) -> NetworkError {
        let host = "\(request.address.host):\(request.address.port)"
        let reason = String(cString: ccurl_reason(handle))
        switch result {
        case ccurl_done where status == 401 || status == 403:
            let needs = "it wants a user and a password: see credentials in the configuration"
            return NetworkError(
                .denied,
                request.credentials == nil ? needs : "it refuses the user or the password"
            )
        case ccurl_done where status == 404:
            return NetworkError(.unsupported, "it has nothing at this address (404)")
        case ccurl_done where status != 200:
            return NetworkError(.unsupported, "it answers with status \(status)")
        case ccurl_stopped: return NetworkError(.unsupported, "it answers with status \(status)")
        case ccurl_done: return NetworkError(.unreachable, "\(host) has ended its video")
        case ccurl_lost, ccurl_silent: return NetworkError(.unreachable, "\(host): \(reason)")
        case ccurl_untrusted:
            return NetworkError(.denied, "the certificate of \(host) is not trusted: \(reason)")
        default: return NetworkError(.unreadable, "\(host): \(reason)")
        }
    }
}

extension MultipartReader.Fault {
    /// The fault in words.
    fileprivate var text: String {
        switch self {
        case .longHeader: "a header without an end"
        case .longPart: "a picture of more than \(MultipartReader.longestPart) bytes"
        case .noParts: "no picture in what it sends"
        }
    }
}
