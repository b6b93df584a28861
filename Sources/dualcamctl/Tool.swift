import ArgumentParser
import Control
import DBusKit
import DualCamCore

/// The exit statuses of the command. They are part of its interface for scripts.
enum ExitStatus: CInt {
    case done = 0
    case failed = 1
    /// An argument that is unknown or has no meaning.
    case usage = 2
    case timedOut = 3
    /// The daemon is not running, and could not be started if that was wanted.
    case notRunning = 8
    /// There is no such camera or control.
    case notFound = 10
}

/// The reason why a command failed.
struct Failure: Error {
    let status: ExitStatus
    /// The reason for people, in one or more sentences.
    let message: String
}

/// The command line.
struct Tool: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "dualcamctl",
        abstract: "Control DualCam, which turns two cameras into one webcam.",
        discussion: """
            Exit status: 0 done, 1 failed, 2 wrong usage, 3 timed out, 8 the daemon is not \
            running, 10 no such camera or control.
            """,
        version: DualCam.version,
        groupedSubcommands: [
            CommandGroup(
                name: "Status",
                subcommands: [Status.self, Cameras.self, Monitor.self, Doctor.self]
            ),
            CommandGroup(
                name: "Stream",
                subcommands: [Start.self, Stop.self, Toggle.self, Restore.self]
            ),
            CommandGroup(
                name: "Scene",
                subcommands: [SwapPictures.self, SetLayout.self, Inset.self]
            ),
            CommandGroup(name: "Recording", subcommands: [Record.self]),
            CommandGroup(
                name: "Camera",
                subcommands: [
                    Mirror.self, Rotate.self, Orientation.self, SelectLens.self, SetZoom.self,
                    Torch.self,
                    Privacy.self,
                ]
            ),
            CommandGroup(
                name: "Pro mode",
                subcommands: [
                    ProMode.self, TurnDial.self, SetISO.self, SetShutter.self, SetFocus.self,
                    SetWhiteBalance.self, Compensate.self, Controls.self,
                ]
            ),
            CommandGroup(
                name: "Photos",
                subcommands: [TakePhoto.self, LivePhoto.self, Orient.self, Media.self]
            ),
            CommandGroup(name: "Configuration", subcommands: [Config.self, Completions.self]),
        ]
    )

    func run() throws { throw ValidationError("Expected a subcommand.") }

    /// Returns `arguments` with "--" before a negative number, as in `iso -1`, so that it is not
    /// taken for an option.
    private static func separated(_ arguments: [String]) -> [String] {
        guard !arguments.contains("--"),
            let index = arguments.dropFirst().firstIndex(where: {
                $0.hasPrefix("-") && $0.dropFirst().first?.isNumber ?? false
            })
        else { return arguments }
        var rest = arguments
        let number = rest.remove(at: index)
        return rest + ["--", number]
    }

    /// Returns the first of `arguments` that is no subcommand where one is expected, and those that
    /// exist.
    private static func unknownVerb(_ arguments: [String]) -> (word: String, known: [String])? {
        var command: any ParsableCommand.Type = Tool.self
        for word in arguments where !word.hasPrefix("-") {
            let known = command.configuration.subcommands
            guard !known.isEmpty else { return nil }
            guard let next = known.first(where: { $0._commandName == word }) else {
                return (word, known.map { $0._commandName })
            }
            command = next
        }
        return nil
    }

    /// Returns the parser's message for an unknown subcommand with a suggestion, which the parser
    /// makes for options alone.
    private static func corrected(
        _ text: String,
        _ verb: (word: String, known: [String])
    ) -> String {
        let near = verb.known.map { name in
            (name, name.hasPrefix(verb.word) ? 1 : name.distance(to: verb.word))
        }.min { $0.1 < $1.1 }
        var message = "Unknown subcommand '\(verb.word)'."
        if let near, near.1 <= 2 { message += " Did you mean '\(near.0)'?" }
        return text.replacing("Unexpected argument '\(verb.word)'", with: message)
    }

    /// Runs the command in `arguments`. Data goes to standard output, errors to standard error.
    static func run(_ arguments: [String]) -> ExitStatus {
        do {
            var command = try parseAsRoot(separated(arguments))
            try command.run()
            return .done
        } catch let failure as Failure {
            Output.complain("dualcamctl: \(failure.message)")
            return failure.status
        } catch {
            let text = fullMessage(for: error)
            // The user asked for help, the version or data.
            if exitCode(for: error) == .success {
                Output.write(text.hasSuffix("\n") ? text : text + "\n")
                return .done
            }
            Output.complain(unknownVerb(arguments).map { corrected(text, $0) } ?? text)
            return exitCode(for: error) == .validationFailure ? .usage : .failed
        }
    }
}

/// The options of every command.
struct CommonOptions: ParsableArguments {
    @Flag(help: "Print one line of JSON.")
    var json = false
}

/// Prints `members` if JSON was asked for.
func report(
    _ options: CommonOptions,
    _ members: @autoclosure () throws -> [(String, JSON)]
) rethrows {
    if options.json { Output.write(JSON.document(try members())) }
}

extension Role: ExpressibleByArgument {}

/// The option for the camera of a command.
struct CameraOption: ParsableArguments {
    @Option(name: .customLong("camera"), help: "The camera to use.")
    var role: Role?
}

/// An argument that switches something.
enum Switch: String, CaseIterable, ExpressibleByArgument {
    case on
    case off
    case toggle

    /// Switches a property of the daemon or of a camera. Prints its new value as JSON under `name`
    /// if asked to.
    func `switch`<Members: InterfaceMembers>(
        _ property: KeyPath<Members, PropertyMember<Bool>>,
        of role: Role? = nil,
        _ name: String,
        _ options: CommonOptions
    ) throws {
        let client = try Client()
        let path = role?.path ?? DualCam.path
        // Only a toggle needs the present value.
        let isOn =
            switch self {
            case .on: true
            case .off: false
            case .toggle: !(try client.get(property, at: path))
            }
        try client.set(property, at: path, to: isOn)
        let camera = role.map { [("camera", JSON.string($0.rawValue))] } ?? []
        report(options, camera + [(name, .boolean(isOn))])
    }
}
