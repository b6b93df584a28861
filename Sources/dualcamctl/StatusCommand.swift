import ArgumentParser
import DBusKit
import Platform

struct Status: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show what the stream and the cameras are doing.",
        discussion: "Does not start the daemon."
    )
    @Flag(help: "Print again on every change, also through a restart of the daemon.")
    var follow = false
    @Flag(help: "Print for Waybar: a line of JSON on every change, also through a restart.")
    var waybar = false
    @OptionGroup var options: CommonOptions

    func run() throws {
        guard follow || waybar else {
            return Output.write(rendered(try Snapshot.read(from: Client())))
        }
        let presence = try Presence()
        let follower = Follower(presence) { [self] in rendered($0) }
        try withExtendedLifetime(follower) { try presence.run() }
    }

    private func rendered(_ snapshot: Snapshot?) -> String {
        if waybar { return Waybar.line(snapshot) }
        return options.json
            ? JSON.document(Snapshot.members(snapshot))
            : StatusText.lines(snapshot).joined(separator: "\n") + "\n"
    }
}

struct Cameras: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "List the two cameras.",
        discussion: "Does not start the daemon."
    )
    @OptionGroup var options: CommonOptions

    func run() throws {
        let snapshot = try Snapshot.read(from: Client())
        Output.write(
            options.json
                ? JSON.document([("cameras", Snapshot.cameras(snapshot))])
                : StatusText.cameraLines(snapshot).joined(separator: "\n") + "\n"
        )
    }
}

extension Snapshot {
    /// Asks the daemon and waits for the answer.
    fileprivate static func read(from client: Client) throws(Failure) -> Snapshot {
        var result: Result<Snapshot, DBusError>?
        do throws(DBusError) {
            try read(from: client.connection) {
                result = $0
                client.loop.stop()
            }
            client.loop.run()
            guard let result else { throw .failed("there was no answer") }
            return try result.get()
        } catch {
            throw client.failure(error)
        }
    }
}

/// Prints what the daemon shows, anew on every change.
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

    /// Asks for all anew; once more when something changed while it was asking.
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
            // In place: up to where it began, and down with all below.
            let height = printed.count { $0 == "\n" }
            Output.write("\u{1b}[\(height)A\u{1b}[J")
        } else if isBlock, !printed.isEmpty {
            Output.write("\n")
        }
        printed = text
        Output.write(text)
    }
}
