import Glibc

/// The entry point of the program `dualcamctl`.
package enum EntryPoint {
    /// Does what the command line asks for, and exits.
    package static func main() -> Never {
        exit(Tool.run(Array(CommandLine.arguments.dropFirst())).rawValue)
    }
}
