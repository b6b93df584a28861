import Control
import Frames
import Platform
import ViewCore

/// The window's settings on the disk: `window` in ~/.local/state/dualcam.
final class SettingsFile {
    private let file: StateFile?
    /// The settings. A change is written at once.
    var settings = ViewSettings() { didSet { if settings != oldValue { store() } } }
    /// The last failure in a sentence; `nil` if all went well.
    private(set) var failure: String? { didSet { failure.map(onFailure) } }
    var onFailure: (String) -> Void = { _ in }

    /// Reads the settings. A file that cannot be read keeps its content under another name.
    init(_ file: StateFile? = StateFile("window")) {
        self.file = file
        do throws(SystemError) {
            if let text = try file?.load() { settings = ViewSettings(parsing: text) }
        } catch {
            let aside = try? file?.setAside()
            failure = "\(error); \(aside.map { "it is \($0) now" } ?? "it stays as it is")".sentence
        }
    }

    private func store() {
        guard let file else {
            failure = "\(DualCam.forgetting)there is no home directory".sentence
            return
        }
        do throws(SystemError) {
            try file.store(settings.text)
        } catch {
            failure = "\(DualCam.forgetting)\(error)".sentence
        }
    }
}
