import FoundationEssentials
import Frames

/// The findings of `dualcamctl doctor --json`.
package struct DoctorReport: Hashable, Sendable, Decodable {
    /// One thing that was looked at.
    package struct Check: Hashable, Sendable, Decodable {
        /// The name, which `doctor --fix` takes.
        package let name: String
        /// `true` if it is well, `false` if not; `nil` if it is unknown.
        package let isWell: Bool?
        package let text: String
        /// The command that mends it; `nil` if there is none.
        package let command: String?
        /// `true` if `doctor --fix` can mend it by this name.
        package let isFixable: Bool

        /// The subject, for people.
        package var title: String {
            switch name {
            case "configuration": "Settings"
            case "mirror": "Mirroring"
            case "permissions": "Permission for cameras"
            case "in-use": "Cameras in use"
            case "usb": "USB"
            case "pipewire", "wireplumber", "node": "Connection to apps"
            case "unit": "Start at login"
            case "daemon": "DualCam"
            case "portal": "Apps in sandboxes"
            case "refusals": "Apps that were refused"
            case "access": "Apps that may use it"
            case "hide-cameras": "Hidden cameras"
            case "loopback": "Zoom and others"
            case "stream": "The picture"
            default: name.capitalizedFirst
            }
        }

        /// `true` if it is about one app.
        package var isApp: Bool {
            ["chromium", "chrome", "edge", "brave", "vivaldi", "firefox"].contains(name)
        }

        /// The outcome, for people.
        package var words: String {
            guard isApp, isWell == true || isFixable else { return text.sentence.withoutCommands }
            return isWell == true ? "Ready" : "Its camera support is off"
        }

        private enum CodingKeys: String, CodingKey {
            case name, text, command
            case isWell = "ok"
            case isFixable = "fix"
        }
    }

    package let checks: [Check]

    /// Reads the document that doctor wrote; `nil` if it is something else.
    package init?(json: String) {
        guard let report = try? JSONDecoder().decode(Self.self, from: Data(json.utf8)) else {
            return nil
        }
        self = report
    }
}
