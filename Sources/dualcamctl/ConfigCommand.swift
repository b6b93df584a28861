import ArgumentParser
import DualCamCore
import Platform

struct Config: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show or check the configuration.",
        subcommands: [Show.self, Check.self]
    )

    struct Show: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Print every value that counts, as a configuration file."
        )
        @Argument(help: "The file; without it the one that the daemon reads.")
        var file: String?
        @OptionGroup var options: CommonOptions

        func run() throws {
            let reading = try Reading(file)
            if let error = reading.error {
                throw Failure(status: .failed, message: "\(error)".printable)
            }
            let text = reading.configuration.rendered
            Output.write(
                options.json
                    ? JSON.document([("path", reading.path), ("toml", .string(text))]) : text
            )
        }
    }

    struct Check: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Say whether the configuration is valid, and what in it has no effect."
        )
        @Argument(help: "The file; without it the one that the daemon reads.")
        var file: String?
        @OptionGroup var options: CommonOptions

        func run() throws {
            let reading = try Reading(file)
            if options.json {
                Output.write(
                    JSON.document([
                        ("path", reading.path),
                        ("valid", .boolean(reading.error == nil)),
                        ("error", reading.error.map { .string("\($0)") } ?? .null),
                        ("warnings", .array(reading.warnings.map { .string("\($0)") })),
                    ])
                )
            } else {
                for warning in reading.warnings { Output.complain("warning: \(warning)".printable) }
            }
            if let error = reading.error {
                throw Failure(status: .failed, message: "\(error)".printable)
            }
            guard !options.json else { return }
            if case .string(let path) = reading.path {
                Output.write("\(path.printable) is valid\n")
            } else {
                Output.write("there is no configuration file; every value is the default\n")
            }
        }
    }

    /// A configuration file as it was read.
    private struct Reading {
        /// Where it is; null where there is none.
        let path: JSON
        let configuration: Configuration
        let warnings: [ConfigurationWarning]
        /// Why it cannot be accepted.
        let error: ConfigurationError?

        init(_ path: String?) throws(Failure) {
            let file: ConfigurationFile?
            do throws(SystemError) {
                file = try ConfigurationFile.load(override: path)
            } catch {
                throw Failure(status: .failed, message: "\(error)".printable)
            }
            self.path = file.map { .string($0.path) } ?? .null
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
}
