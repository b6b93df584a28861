import Platform
import ViewCore

/// The window's settings on the disk: `window` in ~/.local/state/dualcam.
///
/// - Context: bound to GTK's thread.
final class SettingsFile {
    private let file = StateFile("window")
    /// The settings. A change is written at once.
    var settings: ViewSettings {
        didSet { if settings != oldValue { try? file?.store(settings.text) } }
    }

    init() {
        let text = try? file?.load()
        settings = text.map { ViewSettings(parsing: $0) } ?? ViewSettings()
    }
}
