import DualCamCore

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
            guard isKeyHash(rest) else { return nil }
            self = .paired(rest)
        case "told":
            guard let report = PhoneReport(parsing: rest) else { return nil }
            self = .told(report)
        default: return nil
        }
    }
}

/// `true` for the SHA-256 of a key, in hexadecimal digits.
func isKeyHash(_ digits: some StringProtocol) -> Bool {
    digits.utf8.count == 64 && digits.allSatisfy(\.isHexDigit)
}
