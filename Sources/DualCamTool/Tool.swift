import ArgumentParser
import Control
import DBusKit
import DualCamCore
import Frames

/// The exit statuses of the command. They are part of its interface for scripts.
enum ExitStatus: CInt {
    case done = 0
    case failed = 1
    /// An argument that is unknown or has no meaning.
    case usage = 2
    case timedOut = 3
    /// The daemon is not running, could not be started if that was wanted, or ended early.
    case notRunning = 8
    /// There is no such camera, control or scene.
    case notFound = 10
}

/// The reason why a command failed.
struct Failure: Error {
    let status: ExitStatus
    /// The reason for people, in one or more sentences.
    let message: String
}

/// The command line.
struct Tool: CommandFamily {
    static let configuration = CommandConfiguration(
        commandName: "dualcamctl",
        abstract: "Control DualCam, which turns two cameras into one webcam.",
        discussion: """
            Exit status: 0 done, 1 failed, 2 wrong usage, 3 timed out, 8 the daemon is not \
            running or ended early, 10 no such camera, control or scene.
            """,
        version: DualCam.version,
        groupedSubcommands: [
            CommandGroup(name: "Status", subcommands: Verbs.status + Verbs.monitor + Verbs.doctor),
            CommandGroup(name: "Stream", subcommands: Verbs.stream),
            CommandGroup(name: "Scene", subcommands: Verbs.scene + Verbs.scenes),
            CommandGroup(name: "Recording", subcommands: Verbs.recording),
            CommandGroup(
                name: "Camera",
                subcommands: Verbs.use + Verbs.camera + Verbs.lens + Verbs.privacy
            ),
            CommandGroup(name: "Pro mode", subcommands: Verbs.pro),
            CommandGroup(name: "Photos", subcommands: Verbs.photos + Verbs.orient + Verbs.media),
            CommandGroup(name: "Desktop", subcommands: Verbs.desktop),
            CommandGroup(
                name: "Configuration",
                subcommands: Verbs.config + Verbs.reset + Verbs.completions
            ),
        ]
    )

    /// Returns `arguments` in a form in which no negative number is taken for an option: the one of
    /// `iso -1` after "--" at the end, the one of `--at -1,0` as `--at=-1,0`.
    private static func separated(_ arguments: [String]) -> [String] {
        guard !arguments.contains("--"),
            let index = arguments.dropFirst().firstIndex(where: {
                $0.hasPrefix("-") && $0.dropFirst().first.map { $0.isNumber || $0 == "." } ?? false
            })
        else { return arguments }
        var rest = arguments
        let number = rest.remove(at: index)
        let before = rest[index - 1]
        guard before.hasPrefix("--"), before != "--json" else { return rest + ["--", number] }
        rest[index - 1] = "\(before)=\(number)"
        return separated(rest)
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
    /// makes for options alone. `isAtVerb` is `false` if an option comes before the subcommand, of
    /// which the message may be then.
    private static func corrected(
        _ text: String,
        _ verb: (word: String, known: [String]),
        isAtVerb: Bool
    ) -> String {
        let near = verb.known.map { name in
            (name, name.hasPrefix(verb.word) ? 1 : name.distance(to: verb.word))
        }.min { $0.1 < $1.1 }
        var message = "Unknown subcommand '\(verb.word)'."
        if let near, near.1 <= 2 { message += " Did you mean '\(near.0)'?" }
        // What comes after it is unexpected too: "Error: 2 unexpected arguments: 'swpa', 'now'".
        let lines = text.split(separator: "\n", maxSplits: 1, omittingEmptySubsequences: false)
        guard let first = lines.first, let colon = first.firstIndex(of: ":"),
            first.hasPrefix("Error: "), isAtVerb || first.contains("nexpected argument")
        else { return text }
        return ([first[...colon] + " " + message] + lines.dropFirst()).joined(separator: "\n")
    }

    /// Runs the command in `arguments`. Data goes to standard output, errors to standard error.
    static func run(_ arguments: [String]) -> ExitStatus {
        do {
            // The parser would print its whole help for a subcommand that does not exist.
            if arguments.first == "help", let verb = unknownVerb(Array(arguments.dropFirst())) {
                let error = ValidationError("Unexpected argument '\(verb.word)'")
                Output.complain(corrected(fullMessage(for: error), verb, isAtVerb: true))
                return .usage
            }
            var command = try parseAsRoot(separated(arguments))
            try command.run()
            return .done
        } catch let failure as Failure {
            Output.complain("dualcamctl: \(failure.message.sentence)")
            return failure.status
        } catch let missing as MissingSubcommand {
            let words = missing.command.configuration.subcommands.map { $0._commandName }
            if missing.command != Tool.self {
                Output.complain("Error: Expected \(alternatives(words)).\n")
            }
            Output.complain(helpMessage(for: missing.command))
            return .usage
        } catch {
            let text = fullMessage(for: error)
            // The user asked for help, the version or data.
            if exitCode(for: error) == .success {
                Output.write(text.hasSuffix("\n") ? text : text + "\n")
                return .done
            }
            let verb = unknownVerb(arguments)
            let start = arguments.prefix { !$0.hasPrefix("-") }
            Output.complain(
                verb.map { corrected(text, $0, isAtVerb: start.contains($0.word)) } ?? text
            )
            return exitCode(for: error) == .validationFailure ? .usage : .failed
        }
    }
}

/// The error of a command that only has subcommands, and was given none of them.
struct MissingSubcommand: Error {
    let command: any ParsableCommand.Type
}

/// A command that only has subcommands.
protocol CommandFamily: ParsableCommand {}

extension CommandFamily {
    func run() throws { throw MissingSubcommand(command: Self.self) }
}

/// The verbs of the command line. Each file with verbs adds a list of those that it holds; a new
/// verb is added there, and nowhere else.
enum Verbs {
    typealias List = [any ParsableCommand.Type]
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

/// The camera that a verb is for when none is named.
enum DefaultCamera: String, CustomStringConvertible {
    case main
    case back
    case front

    /// "(default: the back camera)", for the help of the verb.
    var description: String { "(default: the \(rawValue) camera)" }
}

/// A verb for one camera.
protocol CameraVerb: ParsableCommand {
    /// The camera when none is named. The verb's `abstract` tells it.
    static var defaultCamera: DefaultCamera { get }
    /// The camera that is named.
    var camera: CameraOption { get }
}

extension CameraVerb {
    /// Returns the camera that is named, or else the verb's default.
    func role(_ client: Client) throws(Failure) -> Role {
        if let role = camera.role ?? Role(rawValue: Self.defaultCamera.rawValue) { return role }
        guard let role = Role(try client.get(\SceneInterface.main)) else {
            throw Failure(status: .notFound, message: "There is no main camera.")
        }
        return role
    }
}

/// An argument that switches something.
enum Switch: String, CaseIterable, ExpressibleByArgument {
    case on
    case off
    case toggle

    /// The help of each argument of this type.
    static var help: ArgumentHelp { "Turn it on or off; toggle switches from one to the other." }

    /// Switches a property of the daemon. Prints its new value as JSON under `name` if asked to.
    func `switch`<Members: InterfaceMembers>(
        _ property: KeyPath<Members, PropertyMember<Bool>>,
        _ name: String,
        _ options: CommonOptions
    ) throws {
        try `switch`(property, of: nil, name, options, try Client())
    }

    /// Switches a property of the camera of `verb`. Prints its new value as JSON under `name` if
    /// asked to.
    func `switch`<Members: InterfaceMembers>(
        _ property: KeyPath<Members, PropertyMember<Bool>>,
        of verb: some CameraVerb,
        _ name: String,
        _ options: CommonOptions
    ) throws {
        let client = try Client()
        try `switch`(property, of: try verb.role(client), name, options, client)
    }

    private func `switch`<Members: InterfaceMembers>(
        _ property: KeyPath<Members, PropertyMember<Bool>>,
        of role: Role?,
        _ name: String,
        _ options: CommonOptions,
        _ client: Client
    ) throws {
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
