import ArgumentParser

/// The entry point of the program `dualcam-view`.
package enum EntryPoint {
    /// Does what the command line asks for, and exits where it asks for what is wrong.
    @MainActor
    package static func main() { ViewCommand.main() }
}
