import ArgumentParser
import Control
import DBusKit
import DualCamCore
import Frames
import Platform

struct AddPhone: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "phone",
        abstract: "Use a phone as a camera: its browser sends the picture.",
        discussion: """
            Prints a code for the phone's camera to scan, and waits until the phone sends. Then it \
            is the camera of the role that you named, or of the one without a camera, also after \
            restarts. Interrupted, it adds nothing.
            """
    )
    @Argument(help: "The camera that the phone is to be.")
    var role: Role?
    @Option(help: "A name, for a second phone.")
    var name = ""
    @Option(help: "The address of this computer, if it is in several networks.")
    var address: String?
    @Flag(help: "Forget the phone instead: its page is refused from now on.")
    var forget = false
    @OptionGroup var options: CommonOptions

    func validate() throws {
        try expect(
            !forget || (role == nil && address == nil),
            "--forget goes with --name alone."
        )
    }

    func run() throws {
        let client = try Client()
        guard !forget else {
            try client.call(\PhoneInterface.forget, name)
            let source = SourceSpecification.phone(name).description
            for role in Role.allCases
            where try client.get(\CameraInterface.source, at: role.path) == source {
                Output.complain(
                    "It was the \(role) camera. For another: dualcamctl use \(role) auto"
                )
            }
            return options.answer([("forgotten", .string(name))], text: "forgotten\n")
        }
        var pairing = Options<PhoneInterface.Pairing>()
        pairing.name = name
        pairing.address = address
        let (url, code) = try client.call(\PhoneInterface.pair, options: pairing, within: 15)
        // Above the code: what is said later does not push that out of a small terminal.
        Output.complain(PhoneWords.scan.joined(separator: "\n"))
        options.answer(
            [("url", .string(url)), ("code", .array(code.map(JSON.string)))],
            text: halfBlocks(code) + "\(url)\n"
        )
        let state = try wait(client, url)
        let source = SourceSpecification.phone(name).description
        let chosen =
            try role
            ?? Role.allCases.first {
                try client.get(\CameraInterface.state, at: $0.path) == "unavailable"
            }
        if let chosen { try client.call(\CameraInterface.use, at: chosen.path, source) }
        let place = chosen?.rawValue
        options.answer(
            [
                ("state", .string(state)), ("source", .string(source)),
                ("camera", place.map(JSON.string) ?? .null),
            ]
        )
        Output.complain(
            place.map { "The phone is the \($0) camera now." }
                ?? "The phone is added. To use it: dualcamctl use back \(source)"
        )
    }

    /// Waits until the phone sends pictures, and says how it goes. Returns its state.
    private func wait(_ client: Client, _ url: String) throws -> String {
        var (shown, result, isOver) = ("waiting", "", false)
        func look() {
            guard let values = try? client.getAll(of: PhoneInterface.self, startsService: false)
            else {
                isOver = true
                return client.loop.stop()
            }
            let state = values[\.state] ?? "none"
            if values[\.paired] == true, ["live", "ready"].contains(state) { result = state }
            if state == "none" { isOver = true }
            if isOver || !result.isEmpty { return client.loop.stop() }
            guard state != shown else { return }
            shown = state
            PhoneReport.State(rawValue: state)?.words.map(Output.complain)
        }
        let timer = try client.loop.timer {
            if shown == "waiting" { Output.complain("No phone yet. " + PhoneWords.nobody(url)) }
        }
        timer.arm(after: PhoneWords.patience)
        let rule = MatchRule(pathNamespace: DualCam.path)
        let signals = client.connection.subscribe(rule) { _ in look() }
        look()
        if result.isEmpty, !isOver { client.loop.run() }
        withExtendedLifetime((signals, timer)) {}
        guard !result.isEmpty else {
            throw Failure(
                status: .timedOut,
                message: "No phone was added, and its code is used up."
            )
        }
        return result
    }
}

/// Returns a code for cameras as text: two rows of modules in one of letters, with a margin of two
/// modules, in black on white whatever the terminal's colours are, each line with its end.
private func halfBlocks(_ code: [String]) -> String {
    let white = String(repeating: "0", count: code.count + 4)
    // The last row is for an odd number of them.
    let rows = [white, white] + code.map { "00\($0)00" } + [white, white, white]
    let (start, end) = Output.isTerminal ? ("\u{1b}[38;5;16;48;5;231m", "\u{1b}[0m") : ("", "")
    return stride(from: 0, to: rows.count - 1, by: 2).map { row in
        let line = zip(rows[row], rows[row + 1]).map { modules in
            switch modules {
            case ("1", "1"): "█"
            case ("1", _): "▀"
            case (_, "1"): "▄"
            default: " "
            }
        }
        return start + line.joined() + end + "\n"
    }.joined()
}
