import Control
import Glibc
import Platform

/// The entry point of the program `dualcamctl`.
package enum EntryPoint {
    /// Does what the command line asks for, and exits.
    package static func main() -> Never {
        ProgramStart.prepare()
        exit(Tool.run(Array(CommandLine.arguments.dropFirst())).rawValue)
    }
}
