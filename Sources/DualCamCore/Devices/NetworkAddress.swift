/// The user and the password of a camera on the network.
package struct NetworkLogin: Hashable, Sendable {
    /// "USER:PASSWORD", as in a file.
    package let line: String

    /// Throws `UnreadableValue`, without them, if no file can have them.
    package init(user: String, password: String) throws(UnreadableValue) {
        line = "\(user):\(password)"
        guard !user.isEmpty, !user.contains(":"), line.utf8.count <= 1024,
            line.unicodeScalars.allSatisfy({ $0.value >= 0x20 && $0.value != 0x7f })
        else {
            throw UnreadableValue(
                "…",
                expected: "a user without a colon, and a password, of at most 1000 characters"
            )
        }
    }
}

/// The address of a camera on the network, as in `url:http://phone:8080/video`.
package struct NetworkAddress: Hashable, Sendable, CustomStringConvertible {
    /// The way in which a camera sends its pictures.
    package enum Scheme: String, CaseIterable, Hashable, Sendable {
        /// JPEGs over HTTP (multipart/x-mixed-replace).
        case http
        /// The same, encrypted.
        case https
        /// A session of the Real-Time Streaming Protocol.
        case rtsp
        /// MPEG transport stream over Secure Reliable Transport.
        case srt

        /// The port where an address names none; 0 if it has to.
        package var port: Int {
            switch self {
            case .http: 80
            case .https: 443
            case .rtsp: 554
            case .srt: 0
            }
        }
    }

    /// The whole address. It holds no user and no password, but its query may be a key.
    package let description: String
    package let scheme: Scheme
    /// The name or the number of the host; of an IPv6 address without brackets.
    package let host: String
    /// The port, 1 to 65535.
    package let port: Int

    private static let form =
        "url:http://HOST:PORT/PATH, or https, rtsp or srt (with a port), without spaces"
    private static let longest = 1024

    /// Parses an address. Throws `UnreadableValue`, without what may be secret, if it is of another
    /// form, or names a user or a password.
    package init(parsing text: String) throws(UnreadableValue) {
        let parts = Self.parts(of: text)
        func refusal(_ expected: String) -> UnreadableValue {
            UnreadableValue(Self.redacted(text), expected: expected)
        }
        guard let parts, let scheme = Scheme(rawValue: parts.scheme.lowercased()),
            text.utf8.count <= Self.longest,
            // What the libraries' own URL parsers might take apart differently is left out.
            text.utf8.allSatisfy({ (0x21..<0x7f).contains($0) && !#""<>\^`{|}"#.utf8.contains($0) })
        else { throw refusal(Self.form) }
        guard !parts.authority.contains("@"), !Self.hasPassphrase(parts.rest) else {
            throw refusal(
                "no user or password: put them into a file, and its path into credentials"
            )
        }
        guard let (host, port) = Self.place(parts.authority, scheme) else {
            throw refusal(Self.form)
        }
        self.scheme = scheme
        self.host = host
        self.port = port
        description = text
    }

    /// The address as people may see it: without the query.
    package var shown: String {
        let plain = description.prefix { $0 != "?" && $0 != "#" }
        return plain.count < description.count ? "\(plain)?…" : description
    }

    /// The identity of its camera: "url:" and the address, with a hash of the query, maybe a key.
    package var identity: String {
        let plain = description.prefix { $0 != "?" && $0 != "#" }
        let query = description.dropFirst(plain.count)
        guard !query.isEmpty else { return "url:\(plain)" }
        // FNV-1a: the same in each run.
        let hash = query.utf8.reduce(UInt64(0xcbf2_9ce4_8422_2325)) {
            ($0 ^ UInt64($1)) &* 0x100_0000_01b3
        }
        return "url:\(plain)?\(String(hash, radix: 36))"
    }

    /// The name of the file with its user and password, beside the configuration.
    package var loginFile: String { "\(host)-\(port).login" }

    /// `true` if the host is a number, not a name.
    package var isNumeric: Bool {
        host.contains(":") || host.utf8.allSatisfy { (0x30...0x39).contains($0) || $0 == 0x2e }
    }

    /// Path and query, as they follow the host.
    package var path: String { Self.parts(of: description)?.rest ?? "" }

    /// Returns `text` of any form without an address's secrets: a user and password, and a query.
    package static func redacted(_ text: String) -> String {
        var plain = text.prefix { $0 != "?" && $0 != "#" }
        if text.contains("@") {
            let host = text.split(separator: "@", omittingEmptySubsequences: false).last ?? ""
            let scheme = text.firstRange(of: "://").map { text[..<$0.upperBound] } ?? ""
            plain = "\(scheme)…@\(host.prefix { $0 != "?" && $0 != "#" })"
        }
        return plain.count < text.count && !text.contains("@") ? "\(plain)?…" : String(plain)
    }

    private static func parts(of text: String) -> (scheme: String, authority: String, rest: String)?
    {
        guard let mark = text.firstRange(of: "://") else { return nil }
        let after = text[mark.upperBound...]
        let authority = after.prefix { !"/?#".contains($0) }
        return (
            String(text[..<mark.lowerBound]), String(authority),
            String(after[authority.endIndex...])
        )
    }

    private static func place(_ authority: String, _ scheme: Scheme) -> (String, Int)? {
        let host: Substring
        let rest: Substring
        if authority.hasPrefix("[") {
            guard let end = authority.firstIndex(of: "]") else { return nil }
            host = authority[authority.index(after: authority.startIndex)..<end]
            rest = authority[authority.index(after: end)...]
            guard host.contains(":"), host.allSatisfy({ $0.isHexDigit || $0 == ":" || $0 == "." })
            else { return nil }
        } else {
            host = authority.prefix { $0 != ":" }
            rest = authority[host.endIndex...]
            guard host.allSatisfy({ $0.isLetter || $0.isNumber || "-._".contains($0) }),
                !host.hasPrefix("-"), !host.hasPrefix(".")
            else { return nil }
        }
        guard !host.isEmpty, host.utf8.count <= 253, rest.isEmpty || rest.hasPrefix(":") else {
            return nil
        }
        let digits = rest.dropFirst()
        let port = rest.isEmpty ? scheme.port : Int(digits) ?? 0
        guard (1...65535).contains(port), digits.allSatisfy(\.isNumber) else { return nil }
        return (String(host), port)
    }

    /// Returns `true` if the query holds the password of an SRT stream.
    private static func hasPassphrase(_ rest: String) -> Bool {
        rest.lowercased().contains("passphrase")
    }
}
