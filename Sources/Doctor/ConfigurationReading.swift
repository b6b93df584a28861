package import Control
package import DualCamCore
import Platform

/// The configuration file as it is, with all that is wrong in it.
package struct ConfigurationReading {
    /// The path of the file, or `nil` if there is none.
    package let path: String?
    /// The settings, as far as they can be read.
    package let configuration: Configuration
    /// The mistakes that keep nothing else from being read.
    package let warnings: [ConfigurationWarning]
    /// The reasons why the file cannot be accepted, in the order of its lines.
    package let errors: [ConfigurationError]

    /// Reads the file at `path`, or the one in the usual places if `path` is `nil`.
    package init(_ path: String?) throws(Failure) {
        let file: ConfigurationFile?
        do throws(SystemError) {
            file = try ConfigurationFile.load(override: path)
        } catch {
            throw Failure(status: .failed, message: "\(error)".printable)
        }
        self.path = file?.path
        (configuration, errors, warnings) =
            file.map { Configuration.check($0.text, file: $0.path) } ?? (Configuration(), [], [])
    }
}
