import ArgumentParser
import Platform

/// The entry point of the program `dualcam-view`.
package enum EntryPoint {
    /// Does what the command line asks for, and exits where it asks for what is wrong.
    @MainActor
    package static func main() {
        ProgramStart.prepare()
        do {
            var command = try ViewCommand.parseAsRoot()
            try command.run()
        } catch {
            leave(
                saying: ViewCommand.fullMessage(for: error),
                status: ViewCommand.exitCode(for: error).rawValue,
                of: "dualcam-view"
            )
        }
    }
}
