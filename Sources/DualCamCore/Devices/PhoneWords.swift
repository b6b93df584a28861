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
            + "\(port): sudo ufw allow \(port)/tcp (Ubuntu), or "
            + "sudo firewall-cmd --add-port=\(port)/tcp (Fedora)."
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
