import DualCamCore

/// The first message to the helper process of a phone, beside the socket and the memory. Later ones
/// are a code, after "code", or what the page is to do as JSON, after its number.
struct PhoneRequest: Hashable {
    /// The address and port at which the socket listens, as browsers write them.
    var host: String
    /// The address, in the network's byte order.
    var address: UInt32
    /// The SHA-256 of the phone's key, in hexadecimal digits; empty: none has been given.
    var key: String
    /// The certificate and its private key, as text; empty: there is none yet.
    var certificate: String

    /// The text that `init` reads.
    var text: String { [host, "\(address)", key, certificate].joined(separator: "\n") }
}

extension PhoneRequest {
    init?(_ text: String) {
        let lines = text.split(separator: "\n", maxSplits: 3, omittingEmptySubsequences: false)
            .map(String.init)
        guard lines.count == 4, let address = UInt32(lines[1]) else { return nil }
        self.init(host: lines[0], address: address, key: lines[2], certificate: lines[3])
    }
}

/// A message of the helper process of a phone, which may have made up each byte.
enum PhoneNews: Hashable {
    /// It has made this certificate.
    case certificate(String)
    /// It listens.
    case listening
    /// Something on the network has got the page.
    case seen
    /// A page has traded the code for a key with this SHA-256.
    case paired(String)
    case told(PhoneReport)
    /// The page does not answer any more.
    case away

    init?(_ text: String) {
        let parts = text.split(separator: " ", maxSplits: 1).map(String.init)
        let rest = parts.dropFirst().first ?? ""
        switch parts.first {
        case "certificate" where rest.hasPrefix("-----BEGIN"): self = .certificate(rest)
        case "listening": self = .listening
        case "seen": self = .seen
        case "away": self = .away
        case "paired":
            guard rest.utf8.count == 64, rest.allSatisfy({ $0.isHexDigit }) else { return nil }
            self = .paired(rest)
        case "told":
            guard let report = PhoneReport(parsing: rest) else { return nil }
            self = .told(report)
        default: return nil
        }
    }
}

/// Returns `bytes` as hexadecimal digits.
func hexadecimal(_ bytes: some Sequence<UInt8>) -> String {
    let digits = Array("0123456789abcdef")
    return String(bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] })
}

/// Returns the bytes that are `digits`; `nil` if these are no hexadecimal ones.
func bytes(hexadecimal digits: String) -> [UInt8]? {
    let values = digits.compactMap(\.hexDigitValue).map(UInt8.init)
    guard values.count == digits.utf8.count, values.count % 2 == 0 else { return nil }
    return stride(from: 0, to: values.count, by: 2).map { values[$0] << 4 | values[$0 + 1] }
}
