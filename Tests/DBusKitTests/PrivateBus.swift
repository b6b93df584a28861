import Foundation
import Frames
import Platform
import Testing

@testable import DBusKit

/// A message bus of its own for one test, gone with it.
final class PrivateBus {
    let address: String
    private let daemon = Process()

    init() throws {
        daemon.executableURL = URL(fileURLWithPath: "/usr/bin/dbus-daemon")
        daemon.arguments = ["--session", "--nofork", "--nopidfile", "--print-address=1"]
        let output = Pipe()
        daemon.standardOutput = output
        try daemon.run()
        var line = Data()
        while !line.contains(UInt8(ascii: "\n")) {
            let piece = output.fileHandleForReading.availableData
            if piece.isEmpty { break }
            line += piece
        }
        address = String(decoding: line, as: UTF8.self).trimmingCharacters(
            in: .whitespacesAndNewlines
        )
        try #require(!address.isEmpty, "dbus-daemon says no address")
    }

    deinit { end() }

    /// Ends the bus while there are still connections to it.
    func end() {
        guard daemon.isRunning else { return }
        // Not SIGTERM: the threads of a test run block it, and children inherit that.
        kill(daemon.processIdentifier, SIGKILL)
        daemon.waitUntilExit()
    }
}

/// A bus, a loop, and a connection that serves objects on it.
final class Stage {
    static let name = "org.example.Thing1"
    let bus: PrivateBus
    let loop: EventLoop
    let connection: Connection
    let server: ObjectServer

    init(managing root: ObjectPath = "/org/example/Thing1") throws {
        bus = try PrivateBus()
        loop = try EventLoop()
        connection = try Connection(to: .address(bus.address), loop: loop)
        server = ObjectServer(on: connection, managing: root)
        try connection.requestName(Stage.name)
    }

    /// Another connection on the same loop.
    func client() throws -> Connection { try Connection(to: .address(bus.address), loop: loop) }

    /// Goes round until `condition` holds. Fails the test after ten seconds.
    func wait(_ what: String = "", until condition: () -> Bool) throws {
        let deadline = MonotonicClock.now + Timestamp(seconds: 10)
        while !condition() {
            try #require(MonotonicClock.now < deadline, "waited in vain: \(what)")
            loop.runOnce(milliseconds: 20)
        }
    }

    /// Calls from `client` and waits for the answer.
    func call(
        _ client: Connection,
        _ member: String,
        of interface: String,
        at path: ObjectPath,
        _ arguments: [Value] = []
    ) throws -> Result<[Value], DBusError> {
        var answer: Result<[Value], DBusError>?
        let call = MethodCall(member, of: interface, at: path, on: Stage.name, arguments)
        try client.call(call) { answer = $0 }
        try wait(member) { answer != nil }
        return try #require(answer)
    }

    /// Runs a program against the bus while the loop goes round.
    func run(
        _ program: String,
        _ arguments: String...
    ) throws -> (
        status: Int32, output: String, errors: String
    ) {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = [program] + arguments
        var environment = ProcessInfo.processInfo.environment
        environment["DBUS_SESSION_BUS_ADDRESS"] = bus.address
        process.environment = environment
        let directory = FileManager.default.temporaryDirectory
        let outputs = [UUID(), UUID()].map { directory.appendingPathComponent($0.uuidString) }
        defer { for output in outputs { try? FileManager.default.removeItem(at: output) } }
        for output in outputs { try Data().write(to: output) }
        process.standardOutput = try FileHandle(forWritingTo: outputs[0])
        process.standardError = try FileHandle(forWritingTo: outputs[1])
        try process.run()
        try wait(program) { !process.isRunning }
        let texts = try outputs.map { try String(contentsOf: $0, encoding: .utf8) }
        return (process.terminationStatus, texts[0], texts[1])
    }
}
