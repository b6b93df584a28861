import Control
import DualCamCore

/// The change of a file.
package struct FileStep {
    /// Whose file it is, for people: "Chromium (Flatpak)".
    let title: String
    let path: String
    /// The folder of the sandbox that may write here; `nil` if none may.
    var home: String?
    let form: FileForm
    /// The new content of a file that is all ours.
    var content: [UInt8]?
    /// The folder of a browser that has to be closed first.
    var closed: String?
    /// `true` if the folder of the file is made where it is missing.
    var makesFolders = false
    var removes = false

    /// The step in words, as a sentence without its full stop.
    var text: String {
        switch form {
        case .chromiumFlags, .firefoxPreferences:
            "Make \(title) look for cameras in PipeWire: one setting in \(path)"
        case .own: "\(removes ? "Remove" : "Write") \(title): \(path)"
        case .configuration: "Copy the stream to a loopback device: one setting in \(path)"
        case .hiding: "Note that you want this: hide-cameras = true in \(path)"
        case .desktopEntry, .switches:
            "Make \(title) look for cameras in PipeWire: the switch \(BrowserSwitch.word) in "
                + path
        case .seed: "Give \(title), which was never started, its first profile: \(path)"
        }
    }

    var isDone: Bool { (try? contents()).map { $0.before == $0.after } ?? false }

    /// Returns the file as it is, and as it is to be; `nil` for none.
    func contents() throws(Failure) -> (before: FileContent?, after: FileContent?) {
        // The folder of a new file need not be there.
        let before = isThere(path) ? try FixedFile(path, inside: home).read() : nil
        if removes { return (before, nil) }
        let after: [UInt8]
        do throws(Failure) {
            if let content { after = content } else { after = try form.fixed(before?.bytes) }
        } catch {
            throw Failure("\(path) is left as it is: \(error.message)")
        }
        let isSecret = form == .chromiumFlags || form == .firefoxPreferences
        return (before, FileContent(bytes: after, mode: before?.mode ?? (isSecret ? 0o600 : 0o644)))
    }
}

/// The form of a file that a fix changes: what is set in it, and how that alone is taken back when
/// the file has changed since. The words are those of the records.
enum FileForm: String {
    /// `Local State` of Chromium and its kin.
    case chromiumFlags = "chromium-flags"
    /// `user.js` of Firefox.
    case firefoxPreferences = "firefox-preferences"
    /// DualCam's configuration, where a device of v4l2loopback is set.
    case configuration
    /// DualCam's configuration, where it is set that cameras are hidden.
    case hiding
    /// The desktop entry of a browser that takes only a switch.
    case desktopEntry = "desktop-entry"
    /// The switches of such a browser's Flatpak.
    case switches
    /// A file that is all ours.
    case own
    /// A file of a Firefox that has not started yet. It is Firefox's own once it has been changed.
    case seed

    /// Returns `bytes`, a file or `nil` for none, with what apps need to see the camera.
    func fixed(_ bytes: [UInt8]?) throws(Failure) -> [UInt8] {
        let bytes = bytes ?? (self == .chromiumFlags ? Array("{}".utf8) : [])
        return switch self {
        case .chromiumFlags: try ChromiumFlags.setting(ChromiumFlags.enabled, in: bytes)
        case .firefoxPreferences: try FirefoxPreferences(bytes).setting("true")
        case .configuration: try Self.setting(Self.device, .text("auto"), in: bytes)
        case .hiding: try Self.setting(Self.wish, .bool(true), in: bytes)
        case .desktopEntry: try BrowserSwitch.adding(to: bytes, isEntry: true)
        case .switches: try BrowserSwitch.adding(to: bytes, isEntry: false)
        case .own, .seed: bytes
        }
    }

    /// Returns `now` with the setting put back to what it is in `before`; `nil` if somebody has
    /// changed the setting since. Throws `Failure` if it cannot be separated from other changes.
    func restored(_ now: [UInt8], from before: [UInt8]?) throws(Failure) -> [UInt8]? {
        switch self {
        case .chromiumFlags:
            guard try ChromiumFlags.option(in: now) == ChromiumFlags.enabled else { return nil }
            let former = try before.flatMap(ChromiumFlags.option)
            return try ChromiumFlags.setting(former, in: now)
        case .firefoxPreferences:
            guard try FirefoxPreferences(now).value == "true" else { return nil }
            let former = try before.map(FirefoxPreferences.init)?.value
            return try FirefoxPreferences(now).setting(former)
        case .configuration:
            guard try Self.configuration(in: now).loopback == .auto else { return nil }
            let former = try before.map(Self.configuration)?.plain.first { $0.key == Self.device }
            return try Self.setting(Self.device, former?.value ?? .text(""), in: now)
        case .hiding:
            guard try Self.configuration(in: now).hidesCameras else { return nil }
            return try Self.setting(Self.wish, .bool(false), in: now)
        case .desktopEntry: return try BrowserSwitch.removing(from: now, isEntry: true)
        case .switches: return try BrowserSwitch.removing(from: now, isEntry: false)
        case .own: throw Failure("it was changed since")
        case .seed: return now
        }
    }

    // MARK: Configuration

    private static let (device, wish) = ("loopback.device", "desktop.hide-cameras")

    private static func configuration(in bytes: [UInt8]) throws(Failure) -> Configuration {
        try reading(bytes) { text throws(ConfigurationError) in
            try Configuration.parse(text, file: "").0
        }
    }

    private static func setting(
        _ key: String,
        _ value: Plain,
        in bytes: [UInt8]
    ) throws(Failure) -> [UInt8] {
        try reading(bytes) { text throws(ConfigurationError) in
            Array(try Configuration.setting([.init(key, value)], in: text, file: "").utf8)
        }
    }

    private static func reading<Result>(
        _ bytes: [UInt8],
        _ read: (String) throws(ConfigurationError) -> Result
    ) throws(Failure) -> Result {
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw Failure("it is not UTF-8 text")
        }
        do throws(ConfigurationError) { return try read(text) } catch {
            throw Failure(error.problem)
        }
    }
}
