import Control
import DBusKit
import DualCamCore
import Platform

/// The result of reading a configuration file.
struct ConfigurationReading {
    /// The path of the file, or `nil` if there is none.
    let path: String?
    let configuration: Configuration
    let warnings: [ConfigurationWarning]
    /// The reason why the file cannot be accepted.
    let error: ConfigurationError?

    /// Reads the file at `path`, or the one in the usual places if `path` is `nil`.
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
    /// The configuration file named on the command line of the running daemon, if any.
    static var configurationFile: String? {
        let stream = try? Client().getAll(of: StreamInterface.self, startsService: false)
        return stream?[\.configurationFile].flatMap { $0.isEmpty ? nil : $0 }
    }
}
