import Frames
import Glibc
import Platform
import TestSupport
import Testing

@testable import DBusKit

@Suite("Connection", .timeLimit(.minutes(5))) struct BusConnectionTests {
    private let stage: Stage

    init() throws { stage = try Stage() }

    private func expect(_ word: String, _ body: () throws -> Void) {
        let error = #expect(throws: DBusError.self, performing: body)
        #expect(error?.name == "org.freedesktop.DBus.Error.\(word)")
    }

    @Test func aNameBelongsToOne() throws {
        try stage.connection.requestName(Stage.name)
        let other = try stage.client()
        expect("AddressInUse") { try other.requestName(Stage.name) }
        #expect(throws: DBusError.self) { try other.requestName("no name") }
    }

    @Test func aCallWithoutAnAnswerEndsInTime() throws {
        let client = try stage.client()
        // The server's loop does not run while the call blocks, so no reply comes.
        let start = MonotonicClock.now
        let ping = MethodCall("Ping", of: "org.example.I", at: "/", on: Stage.name, timeout: 0.2)
        expect("NoReply") { _ = try client.call(ping) }
        #expect((0.19...10).contains((MonotonicClock.now - start).seconds))

        var held: [Message] = []
        stage.connection.onCall = { held.append($0) }
        var answer: Result<[Value], DBusError>?
        let call = MethodCall("Wait", of: "org.example.I", at: "/", on: Stage.name, timeout: 0.2)
        try client.call(call) { answer = $0 }
        try withExtendedLifetime(client) {
            try stage.loop.wait(for: "the end of the call") { answer != nil }
        }
        guard case .failure(let error)? = answer else { throw TimedOut("a failure", after: 0) }
        #expect(error.name == "org.freedesktop.DBus.Error.NoReply")
        #expect(held.count == 2)
    }

    @Test func nobodyThereIsSaidAtOnce() throws {
        let call = MethodCall("M", of: "org.example.I", at: "/", on: "org.example.Nobody")
        expect("ServiceUnknown") { _ = try stage.connection.call(call) }
    }

    @Test(arguments: [
        ("not a name", "org.example.I", "M"), ("org.example.Thing1", "I", "M"),
        ("org.example.Thing1", "org.example.I", "M.M"), ("", "", ""), ("a\0b", "org.e", "M"),
    ])
    func aCallWithInvalidNamesIsNotSent(_ names: (String, String, String)) throws {
        let call = MethodCall(names.2, of: names.1, at: "/", on: names.0)
        expect("InvalidArgs") { _ = try stage.connection.call(call) }
    }

    @Test func theEndOfTheBusIsTold() throws {
        var ends = 0
        var answer: Result<[Value], DBusError>?
        stage.connection.onDisconnect = { ends += 1 }
        stage.connection.onCall = { _ in }
        let client = try stage.client()
        try client.call(MethodCall("M", of: "org.example.I", at: "/", on: Stage.name)) {
            answer = $0
        }
        stage.session.kill(.bus)
        try stage.loop.wait(for: "the end") { ends > 0 }
        try withExtendedLifetime(client) {
            try stage.loop.wait(for: "the end of the call") { answer != nil }
        }
        #expect(!stage.connection.isConnected)
        #expect(throws: DBusError.self) {
            try stage.connection.call(MethodCall("M", of: "org.example.I", at: "/", on: "org.e.E"))
        }
        // Nothing more comes, and the loop is idle: it waits for the full time.
        let start = MonotonicClock.now
        for _ in 0..<3 { stage.loop.runOnce(milliseconds: 50) }
        #expect(ends == 1)
        #expect((MonotonicClock.now - start).seconds > 0.09)
    }

    @Test func aConnectionMayGoFromWithinItsOwnCallback() throws {
        var client: BusConnection? = try stage.client()
        var isCalled = false
        try client?.call(
            MethodCall("Ping", of: "org.freedesktop.DBus.Peer", at: "/", on: Stage.name)
        ) { _ in
            isCalled = true
            client = nil
        }
        try stage.loop.wait(for: "the answer") { isCalled }
        for _ in 0..<5 { stage.loop.runOnce(milliseconds: 1) }

        var second: BusConnection? = try stage.client()
        let name = second?.uniqueName
        var isGone = false
        let subscription = stage.connection.subscribe(.owner(of: try #require(name))) { _ in
            isGone = true
        }
        try stage.settle(stage.connection)
        second?.onDisconnect = { second = nil }
        second = nil
        try stage.loop.wait(for: "its name to go") { isGone }
        withExtendedLifetime(subscription) {}
    }

    @Test func signalsReachThoseWhoWantThem() throws {
        let client = try stage.client()
        let thing = Interface("org.example.I", signals: [Interface.Signal("S", ["n": "u"])])
        stage.server.export(thing, at: "/org/example/Thing1")
        stage.server.export(thing, at: "/org/example/Thing10")
        var all: [Value] = []
        var below: [Value] = []
        var others: [Value] = []
        var subscriptions = [
            client.subscribe(MatchRule(interface: "org.example.I")) { all += $0.arguments },
            client.subscribe(MatchRule(pathNamespace: "/org/example/Thing1", member: "S")) {
                below += $0.arguments
            },
            client.subscribe(MatchRule(sender: ":9.99", interface: "org.example.I")) {
                others += $0.arguments
            },
        ]
        try stage.settle(client)
        stage.server.emit("S", of: thing, at: "/org/example/Thing1", .uint32(1))
        stage.server.emit("S", of: thing, at: "/org/example/Thing10", .uint32(2))
        try stage.settle(client)
        subscriptions.removeFirst()
        stage.server.emit("S", of: thing, at: "/org/example/Thing1", .uint32(3))
        try stage.settle(client)
        #expect(all == [.uint32(1), .uint32(2)])
        #expect(below == [.uint32(1), .uint32(3)])
        #expect(others == [])
    }

    /// Removing one rule must leave the other: logind's objects differ only in their paths.
    @Test(arguments: [0, 1])
    func rulesOfDifferentPathsEndEachForItself(removed: Int) throws {
        let client = try stage.client()
        let thing = Interface("org.example.I", signals: [Interface.Signal("S", ["n": "u"])])
        let paths: [ObjectPath] = ["/org/example/Thing1", "/org/example/Thing2"]
        var received: [ObjectPath] = []
        var subscriptions: [BusConnection.Subscription] = []
        for path in paths {
            stage.server.export(thing, at: path)
            let rule = MatchRule(path: path, interface: "org.example.I")
            subscriptions.append(client.subscribe(rule) { received.append($0.path) })
        }
        subscriptions.remove(at: removed)
        try stage.settle(client)
        for path in paths { stage.server.emit("S", of: thing, at: path, .uint32(1)) }
        try stage.settle(client)
        #expect(received == [paths[1 - removed]])
        withExtendedLifetime(subscriptions) {}
    }

    @Test func nothingIsLeftOpen() throws {
        let before = entries(of: "/proc/self/fd").count
        for _ in 0..<200 {
            let client = try stage.client()
            _ = try stage.call("Ping", of: "org.freedesktop.DBus.Peer", at: "/", from: client)
        }
        for _ in 0..<5 { stage.loop.runOnce(milliseconds: 1) }
        // Other tests open some, too; a leak would be hundreds.
        #expect(entries(of: "/proc/self/fd").count < before + 100)
    }

    @Test("one that left before anybody asked is reported, too, and one that is there is not")
    func leaving() throws {
        var client: BusConnection? = try stage.client()
        let name = try #require(client?.uniqueName)
        var gone: [String] = []
        let watches = [name, ":9.99", "org.example.Nobody"].map { name in
            stage.connection.onLeaving(name) { gone.append(name) }
        }
        try stage.loop.wait(for: "those that are not there") { gone.count == 2 }
        try stage.settle(stage.connection)
        #expect(gone.sorted() == [":9.99", "org.example.Nobody"])
        client = nil
        try stage.loop.wait(for: "the one that leaves") { gone.count > 2 }
        try stage.settle(stage.connection)
        #expect(gone.dropFirst(2) == [name])
        withExtendedLifetime(watches) {}
    }
}
