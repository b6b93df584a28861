import CCurl
import DualCamCore
import Frames
import Glibc
import Media
import Platform

/// A camera that sends JPEGs over HTTP, read by libcurl.
final class HTTPReader {
    private let request: NetworkRequest
    private let outlet: PictureOutlet
    private let handle: OpaquePointer
    /// The hosts that are the camera: its name and its numbers.
    private let hosts: [String]
    private var reader: MultipartReader?
    private var fault: NetworkError?
    /// The answers to one request, and the bytes of their headers.
    private var (answers, headers) = (0, 0)
    private var location: String?
    private var pauses = LivePauses()
    private var lastSign = MonotonicClock.now

    /// The milliseconds to connect, as few as a network at home allows: a camera that was cut off
    /// is to be back soon.
    private static let connecting = 1500
    /// Some ways of authentication take three answers.
    private static let (mostRedirections, mostAnswers, mostHeaders) = (5, 8, 1 << 16)

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
        guard let handle = ccurl_make(place, request.credentials, Self.connecting) else {
            throw NetworkError(.system, "no memory")
        }
        self.handle = handle
        hosts = [address.host.lowercased()] + addresses
        self.request = request
        self.outlet = outlet
    }

    deinit { ccurl_free(handle) }

    /// Reads pictures until the daemon wants no more.
    ///
    /// - Throws: the reason why there are no more.
    func read() throws(NetworkError) {
        var address = request.address
        for _ in 0...Self.mostRedirections {
            let result = get(address.description)
            if outlet.isEnding { return }
            if let fault { throw fault }
            guard (300..<400).contains(status), let location else { throw failure(result) }
            address = try redirection(from: address, to: location)
        }
        throw NetworkError(.unsupported, "it redirects from one address to another without end")
    }

    private var status: Int { ccurl_status(handle) }

    private func get(_ url: String) -> ccurl_result {
        (reader, location, lastSign) = (nil, nil, MonotonicClock.now)
        (answers, headers) = (0, 0)
        let context = Unmanaged.passUnretained(self).toOpaque()
        return ccurl_get(
            handle,
            url,
            context,
            { context, isHeader, bytes, count in
                guard let context else { return false }
                let reader = Unmanaged<HTTPReader>.fromOpaque(context).takeUnretainedValue()
                reader.lastSign = MonotonicClock.now
                let bytes = UnsafeRawBufferPointer(start: bytes, count: count)
                return isHeader ? reader.takeHeader(bytes) : reader.take(bytes)
            },
            { context in
                guard let context else { return false }
                return Unmanaged<HTTPReader>.fromOpaque(context).takeUnretainedValue().proceed()
            }
        )
    }

    private func proceed() -> Bool {
        if (MonotonicClock.now - lastSign).seconds > pauses.patience, fault == nil {
            fault = NetworkError(.ended, "it is silent")
        }
        return fault == nil && outlet.proceed()
    }

    /// Takes a line of a header. Returns `false` if no more is wanted.
    private func takeHeader(_ bytes: UnsafeRawBufferPointer) -> Bool {
        headers += bytes.count
        let line = String(decoding: bytes.prefix { $0 != 13 && $0 != 10 }, as: UTF8.self)
        if line.hasPrefix("HTTP/") { (answers, location) = (answers + 1, nil) }
        if answers > Self.mostAnswers {
            fault = NetworkError(.unsupported, "it answers one request again and again")
        } else if headers > Self.mostHeaders {
            fault = NetworkError(.unsupported, "its answer has a header without an end")
        }
        if line.lowercased().hasPrefix("location:") {
            location = String(line.dropFirst(9).drop { $0 == " " || $0 == "\t" })
        }
        // What else comes with a redirection is of no use.
        let isLedOn = line.isEmpty && location != nil && (300..<400).contains(status)
        return fault == nil && !isLedOn
    }

    /// Takes a piece of the body. Returns `false` if no more is wanted.
    private func take(_ bytes: UnsafeRawBufferPointer) -> Bool {
        // The bodies of other answers are words for people.
        guard status == 200 else { return false }
        if reader == nil {
            let type = ccurl_type(handle).map { String(cString: $0) } ?? ""
            reader = MultipartReader(type: type)
            if reader == nil {
                let kind = type.lowercased().prefix { $0 != ";" }
                let what =
                    switch kind {
                    case "text/html": "a web page, not with pictures"
                    case _ where kind.hasPrefix("image/"): "one picture, not with a video"
                    default: "\(kind), not with pictures"
                    }
                fault = NetworkError(.unsupported, "it answers with \(what)")
                return false
            }
        }
        do throws(MultipartReader.Fault) {
            try reader?.read(bytes) { picture in
                pauses.count(MonotonicClock.now)
                outlet.put(picture.count) { $0.copyMemory(from: picture) }
            }
        } catch {
            fault = NetworkError(.unreadable, error.text)
            return false
        }
        return outlet.proceed()
    }

    /// Returns where `location` leads from `address` on: another path of the camera's own.
    private func redirection(
        from address: NetworkAddress,
        to location: String
    ) throws(NetworkError) -> NetworkAddress {
        let path = address.path.prefix { $0 != "?" && $0 != "#" }
        let folder = path.lastIndex(of: "/").map { path[...$0] } ?? "/"
        let origin = address.description.dropLast(address.path.count)
        let text =
            switch location {
            case _ where location.contains("://"): location
            case _ where location.hasPrefix("//"): "\(address.scheme.rawValue):\(location)"
            case _ where location.hasPrefix("/"): "\(origin)\(location)"
            default: "\(origin)\(folder)\(location)"
            }
        let asked = request.address
        guard let next = try? NetworkAddress(parsing: text), next.scheme == asked.scheme,
            hosts.contains(next.host.lowercased()), next.port == asked.port
        else {
            let place = NetworkAddress.redacted(text)
            throw NetworkError(
                .unsupported,
                "it redirects to another place, \(place); set that as the source if you trust it"
            )
        }
        return next
    }

    private func failure(_ result: ccurl_result) -> NetworkError {
        let reason = String(cString: ccurl_reason(handle))
        return switch result {
        // libcurl's words repeat the address.
        case ccurl_unreached where ccurl_errno(handle) == ECONNREFUSED:
            NetworkError(.unreachable, "it refuses the connection")
        case ccurl_unreached: NetworkError(.unreachable, "it does not answer")
        case ccurl_done where status == 200: NetworkError(.ended, "it has ended its video")
        case ccurl_done, ccurl_stopped: refusal
        case ccurl_lost: NetworkError(.ended, "it has closed the connection")
        case ccurl_untrusted: NetworkError(.denied, "its https is not trusted: \(reason)")
        default: NetworkError(.unreadable, "it gives no answer that makes sense")
        }
    }

    /// The words for an answer that is no video.
    private var refusal: NetworkError {
        switch status {
        case 401 where request.credentials == nil:
            NetworkError(
                .denied,
                "it wants a user and a password: see credentials in the configuration"
            )
        case 401: NetworkError(.denied, "it refuses the user or the password")
        case 403: NetworkError(.denied, "it does not let you see this (403)")
        case 404, 410: NetworkError(.unsupported, "it has nothing at this address (\(status))")
        case 408, 429, 503:
            NetworkError(.unsupported, "it is busy, perhaps with another viewer (\(status))")
        case 400..<500: NetworkError(.unsupported, "it refuses the request (\(status))")
        case 500..<600: NetworkError(.unsupported, "it has an error of its own (\(status))")
        default: NetworkError(.unsupported, "it answers without a picture (\(status))")
        }
    }
}

extension MultipartReader.Fault {
    fileprivate var text: String {
        switch self {
        case .longHeader: "it sends a header without an end"
        case .longPart: "it sends a picture of more than \(MultipartReader.longestPart) bytes"
        case .noParts: "it sends no JPEG"
        }
    }
}
