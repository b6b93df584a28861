import ArgumentParser
import Control
import DBusKit
import DualCamCore
import Frames
import Platform

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
            CommandGroup(
                name: "Status",
                subcommands: [Status.self, Cameras.self, Monitor.self, DoctorCommand.self]
            ),
            CommandGroup(
                name: "Stream",
                subcommands: [Start.self, Stop.self, Toggle.self, Restore.self]
            ),
            CommandGroup(
                name: "Picture",
                subcommands: [
                    SwapPictures.self, Inset.self, Adjust<MainCamera>.self,
                    Adjust<LayoutKind>.self, Adjust<SwapIcon>.self, Adjust<Hud>.self, Scenes.self,
                    SetTitle.self, Adjust<AwayPicture>.self,
                ]
            ),
            CommandGroup(name: "Recording", subcommands: [Record.self]),
            CommandGroup(
                name: "Camera",
                subcommands: [
                    UseDevice.self, AddPhone.self, Adjust<Mirror>.self, Adjust<Rotation>.self,
                    Adjust<OrientationMode>.self, Adjust<Torch>.self, Adjust<Freeze>.self,
                    Adjust<Ink>.self, Adjust<RoomKind>.self, Adjust<RoomBlur>.self,
                    Adjust<FramingKind>.self, Adjust<FramingTightness>.self, SelectLens.self,
                    SetZoom.self, SetPerspective.self, Desk.self, SetImage.self,
                    Adjust<Privacy>.self,
                ]
            ),
            CommandGroup(
                name: "Pro mode",
                subcommands: [
                    Adjust<ProMode>.self, Adjust<ISO>.self, Adjust<Shutter>.self,
                    Adjust<Focus>.self, Adjust<WhiteBalanceKind>.self, Adjust<Compensation>.self,
                    Adjust<MeteringKind>.self, TurnDial.self, Lock.self, Unlock.self, Controls.self,
                ]
            ),
            CommandGroup(
                name: "Photos",
                subcommands: [TakePhoto.self, Adjust<LivePhoto>.self, Orient.self, Media.self]
            ),
            CommandGroup(name: "Desktop", subcommands: [View.self, Tray.self]),
            CommandGroup(
                name: "Configuration",
                subcommands: [Config.self, ResetAll.self, Completions.self]
            ),
        ]
    )

    /// Returns `arguments` in a form in which no negative number is taken for an option: the one of
    /// `iso -1` after "--" at the end, the one of `--at -1,0` as `--at=-1,0`.
    static func separated(_ arguments: [String]) -> [String] {
        guard !arguments.contains("--"),
            let index = arguments.dropFirst().firstIndex(where: {
                $0.hasPrefix("-") && $0.dropFirst().first.map { $0.isNumber || $0 == "." } ?? false
            })
        else { return arguments }
        var rest = arguments
        let number = rest.remove(at: index)
        let before = rest[index - 1]
        guard before.hasPrefix("--"), !["--json", "--wait"].contains(before) else {
            return rest + ["--", number]
        }
        rest[index - 1] = "\(before)=\(number)"
        return separated(rest)
    }

    /// Returns `arguments` with the verb that a family of commands has where none is named: "scene"
    /// lists the scenes, "scene away" shows one.
    static func completed(_ arguments: [String]) -> [String] {
        let names = [Scenes._commandName, Media._commandName]
        guard let family = arguments.first, names.contains(family) else { return arguments }
        let rest = arguments.dropFirst()
        guard let word = rest.first(where: { !$0.hasPrefix("-") }) else {
            let asksForHelp = rest.contains { ["-h", "--help"].contains($0) }
            return asksForHelp ? arguments : [family, "list"] + rest
        }
        let known = Scenes.configuration.subcommands.map { $0._commandName } + ["help"]
        let isAlone = rest.prefix { !$0.hasPrefix("-") }.count < 2
        guard family == Scenes._commandName, isAlone, !known.contains(word) else {
            return arguments
        }
        return [family, "apply"] + rest
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
        var message = "Unknown subcommand '\(verb.word)'."
        if verb.known.contains("swap"), let sentence = FirstWords.sentence(verb.word) {
            message += " " + sentence
        } else if let guess = FirstWords.guess(verb.word, among: verb.known) {
            message += " Did you mean '\(guess)'?"
        }
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
            var command = try parseAsRoot(separated(completed(arguments)))
            try command.run()
            return .done
        } catch let failure as Failure {
            Output.complain("dualcamctl: \(failure.message.sentence)")
            return failure.status
        } catch  where error is SystemError || error is SceneBook.Refusal {
            Output.complain("dualcamctl: \("\(error)".printable.sentence)")
            return .failed
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
            let whole = completed(arguments)
            let verb = unknownVerb(whole)
            let start = whole.prefix { !$0.hasPrefix("-") }
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

struct CommonOptions: ParsableArguments {
    @Flag(help: "Print one line of JSON.")
    var json = false

    /// Prints `members` if JSON was asked for, and `text` otherwise.
    func answer(
        _ members: @autoclosure () throws -> [(String, JSON)],
        text: @autoclosure () -> String = ""
    ) rethrows {
        Output.write(try json ? JSON.document(members()) : text())
    }
}

/// Refuses the command line with `message` unless `isRight`.
func expect(
    _ isRight: Bool,
    _ message: @autoclosure () -> String
) throws(ValidationError) {
    guard isRight else { throw ValidationError(message()) }
}

extension Role: ExpressibleByArgument {}

enum Switch: String, CaseIterable, ExpressibleByArgument {
    case on
    case off
    case toggle
}
