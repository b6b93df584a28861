import ArgumentParser
import Control
import DBusKit
import Frames
import Platform

extension Verbs {
    static let status: List = [Status.self, Cameras.self]
}

struct Status: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show what the stream and the cameras are doing.",
        discussion: """
            Does not start the daemon.

            A format is text with names in {{ }}: {{ state }}, {{ cameras.front.name }}. status \
            --json prints all of them. cameras.main and cameras.inset are the cameras shown there \
            now. A value that is not known is empty. You can use the functions lc(x), uc(x), \
            trunc(x, length), default(x, y), choose(x, yes, no), emoji(state), markup_escape(x), \
            shell_escape(x) and json(x), with names, "text" and numbers.

            With --follow, --json, --waybar and --format print a line for every change.
            """
    )
    @Flag(help: "Print again on every change; goes on when the daemon restarts.")
    var follow = false
    @Flag(help: "Print one line of JSON for a module of Waybar.")
    var waybar = false
    @Option(help: "Print this text, with values in place of {{ names }}.")
    var format: String?
    @OptionGroup var options: CommonOptions

    func validate() throws {
        guard [options.json, waybar, format != nil].count(where: { $0 }) < 2 else {
            throw ValidationError("Expected one of --json, --waybar and --format.")
        }
        _ = try template
    }

    private var template: Template? {
        get throws {
            do throws(Template.Mistake) { return try format.map(Template.init) } catch {
                throw ValidationError(error.message)
            }
        }
    }

    func run() throws {
        let template = try template
        func rendered(_ snapshot: Snapshot?) -> String {
            if let template { return template.rendered(snapshot) + "\n" }
            if waybar { return Waybar.line(snapshot) }
            return options.json
                ? JSON.document(Snapshot.members(snapshot))
                : StatusText.lines(snapshot).joined(separator: "\n") + "\n"
        }
        guard follow else {
            return Output.write(rendered(try Snapshot.read(from: Client())))
        }
        let presence = try Presence()
        let follower = Follower(presence, rendered: rendered)
        try withExtendedLifetime(follower) { try presence.run() }
    }
}

struct Cameras: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "List the two cameras.",
        discussion: "Does not start the daemon."
    )
    @Flag(help: "List every video device and why it is used or not.")
    var all = false
    @OptionGroup var options: CommonOptions

    func run() throws {
        if all {
            let stream = try Client().getAll(of: StreamInterface.self, startsService: false)
            let devices = stream[\.devices] ?? []
            return Output.write(
                options.json
                    ? JSON.document([("devices", JSON(devices))]) : DeviceText.table(devices)
            )
        }
        let snapshot = try Snapshot.read(from: Client())
        Output.write(
            options.json
                ? JSON.document([("cameras", Snapshot.cameras(snapshot))])
                : StatusText.cameraLines(snapshot).joined(separator: "\n") + "\n"
        )
    }
}

extension Snapshot {
    /// Asks the daemon for its state and waits for the reply.
    fileprivate static func read(from client: Client) throws(Failure) -> Snapshot {
        var result: Result<Snapshot, DBusError>?
        let start = MonotonicClock.now
        do throws(DBusError) {
            try read(from: client.connection) {
                result = $0
                client.loop.stop()
            }
            client.loop.run()
            guard let result else { throw .failed("there was no answer") }
            return try result.get()
        } catch {
            throw client.failure(error, after: (MonotonicClock.now - start).seconds)
        }
    }
}

/// Prints the state of the daemon again on every change.
private final class Follower {
    private let presence: Presence
    private let rendered: (Snapshot?) -> String
    private var isPresent = false
    private var isReading = false
    private var isStale = false
    private var printed = ""

    init(_ presence: Presence, rendered: @escaping (Snapshot?) -> String) {
        self.presence = presence
        self.rendered = rendered
        presence.onChange = { [unowned self] isPresent in
            self.isPresent = isPresent
            if isPresent { read() } else { show(nil) }
        }
        presence.onSignal = { [unowned self] _ in read() }
    }

    /// Reads the state again, and once more if it changed meanwhile.
    private func read() {
        guard !isReading else {
            isStale = true
            return
        }
        isReading = true
        isStale = false
        let isAsked: Void? = try? Snapshot.read(from: presence.connection) {
            [unowned self] result in
            isReading = false
            if isStale, isPresent { return read() }
            if isPresent, let snapshot = try? result.get() { show(snapshot) }
        }
        // The bus is gone, which ends the program.
        if isAsked == nil { isReading = false }
    }

    private func show(_ snapshot: Snapshot?) {
        let text = rendered(snapshot)
        guard text != printed else { return }
        let isBlock = text.dropLast().contains("\n") || printed.dropLast().contains("\n")
        if Output.isTerminal, !printed.isEmpty {
            // In place: moves up to the first line and erases everything below.
            let height = printed.count { $0 == "\n" }
            Output.write("\u{1b}[\(height)A\u{1b}[J")
        } else if isBlock, !printed.isEmpty {
            Output.write("\n")
        }
        printed = text
        Output.write(text)
    }
}
