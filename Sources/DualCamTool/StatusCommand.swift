import ArgumentParser
import Control
import DBusKit
import Frames
import Platform

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
        try expect(
            [options.json, waybar, format != nil].count(where: { $0 }) < 2,
            "Expected one of --json, --waybar and --format."
        )
        _ = try format.map(Template.init)
    }

    func run() throws {
        let template = try format.map(Template.init)
        func rendered(_ snapshot: Snapshot?) -> String {
            if let template { return template.rendered(snapshot) + "\n" }
            if waybar { return Waybar.line(snapshot) }
            return options.json
                ? JSON.document(Snapshot.members(snapshot))
                : StatusText.lines(snapshot).joined(separator: "\n") + "\n"
        }
        let client = try Client()
        guard follow else { return Output.write(rendered(try Snapshot.read(from: client))) }
        var (isPresent, isReading, isStale, printed) = (false, false, false, "")
        func show(_ snapshot: Snapshot?) {
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
        /// Reads the state again, and once more if it changed meanwhile.
        func read() {
            isStale = isReading
            guard !isReading else { return }
            isReading = true
            Snapshot.read(from: client.connection) { result in
                isReading = false
                if isStale, isPresent { return read() }
                if isPresent, let snapshot = try? result.get() { show(snapshot) }
            }
        }
        try client.follow {
            isPresent = $0
            if $0 { read() } else { show(nil) }
        } onSignal: { _ in
            read()
        }
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
            let devices = try Client().get(\StreamInterface.devices, startsService: false)
            return options.answer(
                [("devices", JSON(devices))],
                text: DeviceText.table(devices)
            )
        }
        let snapshot = try Snapshot.read(from: Client())
        options.answer(
            [("cameras", Snapshot.cameras(snapshot))],
            text: StatusText.cameraLines(snapshot).joined(separator: "\n") + "\n"
        )
    }
}

extension Snapshot {
    /// Asks the daemon for its state and waits for the reply.
    fileprivate static func read(from client: Client) throws(Failure) -> Snapshot {
        var result: Result<Snapshot, DBusError>?
        let start = MonotonicClock.now
        read(from: client.connection) {
            result = $0
            client.loop.stop()
        }
        client.loop.run()
        do throws(DBusError) {
            guard let result else { throw .failed("there was no answer") }
            return try result.get()
        } catch {
            throw client.failure(error, after: (MonotonicClock.now - start).seconds)
        }
    }
}
