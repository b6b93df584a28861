import DualCamCore

/// The form of a file that a fix changes: what is set in it, and how that alone is taken back when
/// the file has changed since.
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
    /// A file that Firefox makes at its first start, made for it before that. It is Firefox's own
    /// once it has been changed.
    case seed

    /// Returns `bytes`, a file or `nil` for none, with what apps need to see the camera.
    ///
    /// - Throws: `Failure` if the file is not of this form.
    func fixed(_ bytes: [UInt8]?) throws(Failure) -> [UInt8] {
        switch self {
        case .chromiumFlags:
            try ChromiumFlags.setting(
                ChromiumFlags.camera,
                to: ChromiumFlags.enabled,
                in: bytes ?? Array("{}".utf8)
            )
        case .firefoxPreferences:
            try FirefoxPreferences(bytes ?? [])
                .setting(FirefoxPreferences.camera, to: "true")
        case .configuration: try Self.setting(.auto, in: bytes ?? [])
        case .hiding: try Self.setting(hidesCameras: true, in: bytes ?? [])
        case .desktopEntry: try BrowserSwitch.setting(in: bytes ?? [], .entry)
        case .switches: try BrowserSwitch.setting(in: bytes ?? [], .switches)
        case .own, .seed: bytes ?? []
        }
    }

    /// Returns `now` with what was set here as it is in `before`; `nil` if somebody has set it
    /// otherwise since.
    ///
    /// - Throws: `Failure` if that cannot be told apart from what others changed.
    func restored(_ now: [UInt8], from before: [UInt8]?) throws(Failure) -> [UInt8]? {
        switch self {
        case .chromiumFlags:
            let set = try ChromiumFlags.option(of: ChromiumFlags.camera, in: now)
            guard set == ChromiumFlags.enabled else { return nil }
            let option = try before.flatMap { bytes throws(Failure) in
                try ChromiumFlags.option(of: ChromiumFlags.camera, in: bytes)
            }
            return try ChromiumFlags.setting(ChromiumFlags.camera, to: option, in: now)
        case .firefoxPreferences:
            let set = try FirefoxPreferences(now).value(of: FirefoxPreferences.camera)
            guard set == "true" else { return nil }
            let value = try before.flatMap { bytes throws(Failure) in
                try FirefoxPreferences(bytes).value(of: FirefoxPreferences.camera)
            }
            return try FirefoxPreferences(now).setting(FirefoxPreferences.camera, to: value)
        case .configuration:
            guard try Self.loopback(in: now) == .auto else { return nil }
            let device = try before.map { bytes throws(Failure) in try Self.loopback(in: bytes) }
            return try Self.setting(device ?? .none, in: now)
        case .hiding:
            guard try Self.configuration(in: now).desktop.hidesCameras else { return nil }
            return try Self.setting(hidesCameras: false, in: now)
        case .desktopEntry: return try BrowserSwitch.removing(from: now, .entry)
        case .switches: return try BrowserSwitch.removing(from: now, .switches)
        case .own: throw Failure("it was changed since")
        case .seed: return now
        }
    }

    /// Returns the loopback device that the configuration in `bytes` names.
    static func loopback(
        in bytes: [UInt8]
    ) throws(Failure) -> Configuration.LoopbackDevice {
        try configuration(in: bytes).loopback.device
    }

    private static func configuration(in bytes: [UInt8]) throws(Failure) -> Configuration {
        do throws(ConfigurationError) {
            return try Configuration.parse(String(decoding: bytes, as: UTF8.self), file: "").0
        } catch {
            throw Failure(error.problem)
        }
    }

    private static func setting(
        _ device: Configuration.LoopbackDevice,
        in bytes: [UInt8]
    ) throws(Failure) -> [UInt8] {
        try edited(bytes) { text throws(ConfigurationError) in
            try Configuration.setting(loopback: device, in: text, file: "")
        }
    }

    private static func setting(
        hidesCameras: Bool,
        in bytes: [UInt8]
    ) throws(Failure) -> [UInt8] {
        try edited(bytes) { text throws(ConfigurationError) in
            try Configuration.setting(hidesCameras: hidesCameras, in: text, file: "")
        }
    }

    private static func edited(
        _ bytes: [UInt8],
        _ edit: (String) throws(ConfigurationError) -> String
    ) throws(Failure) -> [UInt8] {
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw Failure("it is not UTF-8 text")
        }
        do throws(ConfigurationError) {
            return Array(try edit(text).utf8)
        } catch {
            throw Failure(error.problem)
        }
    }
}
