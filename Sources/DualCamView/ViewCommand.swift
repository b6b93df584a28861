import ArgumentParser
import Control
import Glibc
import Platform
import ViewCore

struct ViewCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "dualcam-view",
        abstract: "Show DualCam's picture in a small window above the others.",
        discussion: """
            Click the inset to swap the pictures, drag it elsewhere, and turn the wheel over it to \
            resize it, or over the main picture to zoom. The right button, and ⋯, open the menu; ? \
            lists the keys. While nobody sees the window, the cameras are closed.

            With --pick it shows the pictures taken instead, and prints the path of the one that the \
            user chooses. Without a choice it prints nothing, and the exit status is 1; \
            without a session bus it is 8.
            """,
        version: DualCam.version
    )

    /// The exit status where there is no session bus, as `dualcamctl` has it.
    private static let noSession: CInt = 8

    @Flag(
        name: .customLong("gapplication-service"),
        help: ArgumentHelp("Wait for the desktop to show the window.", visibility: .private)
    )
    var isService = false

    @Flag(help: "Let the user choose a picture, or take one, and print its path.")
    var pick = false

    @Flag(help: "Let the user choose several pictures; each path is a line.")
    var multiple = false

    @Option(help: "What can be chosen; by default both.")
    var type: PickType?

    /// A kind of picture, as it is typed.
    enum PickType: String, CaseIterable, ExpressibleByArgument {
        case photo
        case video
    }

    func validate() throws {
        guard !pick, multiple || type != nil else { return }
        throw ValidationError("--multiple and --type are for --pick.")
    }

    func run() throws {
        let program = ViewProgram(isUnique: !pick)
        if pick {
            let kind: LibraryItem.Kind? = type.map { $0 == .photo ? .photo : .movie }
            let wish = PickWindow.Wish(isMultiple: multiple, kind: kind)
            guard let paths = program.pick(wish) else { throw ExitCode(Self.noSession) }
            if paths.isEmpty { throw ExitCode(1) }
            return StandardOutput.write(paths.map { "\($0)\n" }.joined().utf8, by: "dualcam-view")
        }
        let status = program.run(isService: isService)
        if status != 0 { throw ExitCode(status) }
    }
}
