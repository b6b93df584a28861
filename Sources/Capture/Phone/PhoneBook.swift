import Platform

/// The phones that were added: for each its port, and the SHA-256 of the key that its page has.
/// Beside it is the certificate, the computer's own. The thread `phone`.
struct PhoneBook {
    struct Phone: Hashable {
        var port: Int
        /// In hexadecimal digits.
        var key: String
    }

    private(set) var phones: [String: Phone] = [:]
    private(set) var certificate = ""
    private let file = StateFile("phones")
    private let certificateFile = StateFile("phone.pem")

    /// Reads what was stored; what cannot be read counts as nothing, so that phones are added anew.
    init() {
        certificate = ((try? certificateFile?.load()) ?? nil) ?? ""
        // Not one of ours, and too long for a message to the helper.
        if certificate.utf8.count > 1 << 13 { certificate = "" }
        phones = Self.parse(((try? file?.load()) ?? nil) ?? "")
    }

    static func parse(_ text: String) -> [String: Phone] {
        var phones: [String: Phone] = [:]
        for line in text.split(separator: "\n") {
            let parts = line.split(separator: " ", omittingEmptySubsequences: false)
            guard parts.count == 3, let port = Int(parts[1]), PhoneListener.ports.contains(port),
                isKeyHash(parts[2])
            else { continue }
            phones[String(parts[0])] = Phone(port: port, key: String(parts[2]))
        }
        return phones
    }

    /// The text that `parse` reads.
    static func text(_ phones: [String: Phone]) -> String {
        phones.sorted { $0.key < $1.key }.map { "\($0) \($1.port) \($1.key)\n" }.joined()
    }

    /// Remembers `phone`, or forgets it if it is `nil`.
    ///
    /// - Throws: as `StateFile.store`.
    mutating func set(_ name: String, _ phone: Phone?) throws(SystemError) {
        phones[name] = phone
        if phones.isEmpty { try file?.remove() } else { try file?.store(Self.text(phones)) }
    }

    /// Remembers the certificate and its private key, in a file that nobody else may read.
    ///
    /// - Throws: as `StateFile.store`.
    mutating func set(certificate: String) throws(SystemError) {
        self.certificate = certificate
        try certificateFile?.store(certificate)
    }
}
