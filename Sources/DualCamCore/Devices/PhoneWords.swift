/// A library that phones need, which is loaded when one is used.
package struct PhoneLibrary: Sendable {
    /// A literal: the installer of the archive looks for these in the program.
    package let file: StaticString
    package let name: String

    package static let (server, encryption, code) = (
        PhoneLibrary(file: "libmicrohttpd.so.12", name: "libmicrohttpd"),
        PhoneLibrary(file: "libgnutls.so.30", name: "GnuTLS"),
        PhoneLibrary(file: "libqrencode.so.4", name: "libqrencode")
    )
    package static let all = [server, encryption, code]
}

/// The words for people while a phone is added.
package enum PhoneWords {
    /// The words beside the code, in lines.
    package static let scan = [
        "Scan this with the phone's camera. Both must be on the same Wi-Fi.",
        "The phone warns once: the certificate is this computer's own.",
        "Android: Advanced, Proceed. iPhone: Show Details, visit this website.",
    ]

    /// Returns the words for a phone that does not come to the place in `url`.
    package static func nobody(_ url: String) -> String {
        let port = url.split(separator: ":").last?.prefix { $0 != "/" } ?? ""
        return "A guest network keeps devices apart, and a firewall may block port "
            + "\(port): \(ufw(port)) (Ubuntu), or \(firewalld(port)) (Fedora)."
    }

    /// Returns the command that lets phones through the firewall ufw.
    package static func ufw(_ port: some StringProtocol) -> String { "sudo ufw allow \(port)/tcp" }
    /// Returns the command that lets phones through the firewall firewalld.
    package static func firewalld(_ port: some StringProtocol) -> String {
        "sudo firewall-cmd --add-port=\(port)/tcp"
    }

    /// The seconds after which a phone that does not come needs help.
    package static let patience = 20.0
}

extension PhoneReport.State {
    /// The words for people while the phone is added; `nil` if there is nothing to say.
    package var words: String? {
        switch self {
        case .waiting, .live, .ready: nil
        case .asking: "Phone found. Allow the camera on it."
        case .hidden: "The phone's page is in the background."
        case .refused: "Allow the camera on the phone."
        case .busy: "Another app on the phone uses the camera."
        case .stopped: "It was stopped on the phone."
        case .away: "The phone does not answer."
        }
    }
}
