import Control
import DBusKit
import DualCamCore
import Platform

/// A configuration file as it was read.
struct ConfigurationReading {
    /// Where it is; nil where there is none.
    let path: String?
    let configuration: Configuration
    let warnings: [ConfigurationWarning]
    /// Why it cannot be accepted.
    let error: ConfigurationError?

    /// Reads the file at `path`; without that, the one in the usual places.
    init(_ path: String?) throws(Failure) {
        let file: ConfigurationFile?
        do throws(SystemError) {
            file = try ConfigurationFile.load(override: path)
        } catch {
            throw Failure(status: .failed, message: "\(error)".printable)
        }
        self.path = file?.path
        do throws(ConfigurationError) {
            (configuration, warnings) =
                try file.map { file throws(ConfigurationError) in
                    try Configuration.parse(file.text, file: file.path)
                } ?? (Configuration(), [])
            error = nil
        } catch {
            (configuration, warnings) = (Configuration(), [])
            self.error = error
        }
    }
}

extension Client {
    /// The configuration file that the running daemon's command line names, if it does.
    static var configurationFile: String? {
        let stream = try? Client().getAll(of: .stream, startsService: false)
        return stream?["ConfigurationFile"]?.string.flatMap { $0.isEmpty ? nil : $0 }
    }
}
