import Control
import DBusKit
import Glibc
import Platform
import TestSupport
import Testing

extension DaemonTests {
    /// Tests of what one program may ask for at once, and of what becomes of it when it leaves.
    @Suite("Requests", .timeLimit(.minutes(2)))
    struct RequestTests {
        private static let configuration = DaemonTests.still(back: "test", front: "test")
        private static let busy = "org.dualcam.DualCam1.Error.Busy"

        /// Runs `dualcamctl photo --of back` into a file.
        private func photo(_ session: PrivateSession) throws -> Child {
            try session.run(
                Programs.path(of: "dualcamctl"),
                ["photo", "--of", "back", "-o", "\(session.directory)/photo.jpg"]
            )
        }

        @Test("who asks for 900 photographs is refused most, and harms nobody")
        func manyPhotographs() throws {
            try Daemon.with(Self.configuration) { daemon in
                // Of one page, and nobody reads it.
                let ends = try onePagePipe()
                let writer = SharedDescriptor(owning: ends.writer)
                var answers: [String] = []
                let call = MethodCall.photo(to: writer)
                for number in 1...900 {
                    try daemon.bus.call(call) { answer in
                        if case .failure(let error) = answer { return answers.append(error.name) }
                        answers.append("a photograph")
                    }
                    guard number % 50 == 0 else { continue }
                    // Of one program, the test's bus lets 128 calls wait, and DualCam eight.
                    try eventually("all but eight answers", within: 60) {
                        try daemon.settle()
                        return answers.count >= number - 8
                    }
                }
                try eventually("the refusals", within: 60) {
                    try daemon.settle()
                    return answers.count >= 892
                }
                // All at once, unless the machine is so slow that the first have timed out.
                #expect(answers.count { $0 == Self.busy } >= 850, "\(Set(answers))")
                let other = try photo(daemon.session)
                #expect(try other.wait(within: 60) == .status(0), "\(other.errors)")
                close(ends.reader)
                try eventually("the other answers", within: 60) {
                    try daemon.settle()
                    return answers.count == 900
                }
                #expect(daemon.program.exit == nil)
            }
        }

        @Test("a program with two connections has the photographs of one")
        func twoConnections() throws {
            try Daemon.with(Self.configuration) { daemon in
                let ends = try onePagePipe()
                let writer = SharedDescriptor(owning: ends.writer)
                defer { close(ends.reader) }
                let call = MethodCall.photo(to: writer)
                // Once the ninth is refused, eight are waiting.
                var isFull = false
                for _ in 1...9 {
                    try daemon.bus.call(call) { answer in
                        if case .failure(let error) = answer { isFull = error.name == Self.busy }
                    }
                }
                try eventually("the refusal of one", within: 60) {
                    try daemon.settle()
                    return isFull
                }
                let address = daemon.session.environment["DBUS_SESSION_BUS_ADDRESS"] ?? ""
                let other = try BusConnection(to: .address(address), loop: try EventLoop())
                #expect {
                    try other.call(call)
                } throws: {
                    ($0 as? DBusKit.DBusError)?.name == Self.busy
                }
            }
        }

        @Test("a photograph of a program that leaves is dropped, and its camera closes")
        func leaving() throws {
            try PrivateSession.with([.bus]) { session in
                let silent = try SilentSocket("\(session.directory)/silent")
                let daemon = try Daemon(
                    DaemonTests.still(back: "pipewire:phone", front: "test"),
                    in: session,
                    node: false,
                    adding: ["PIPEWIRE_REMOTE": silent.path]
                )
                let tool = try photo(session)
                try eventually("the camera's opening", within: 20) {
                    try daemon.state(of: DualCam.backPath) == "opening"
                }
                tool.end()
                try eventually("its end", within: 20) {
                    try daemon.state(of: DualCam.backPath) == "closed"
                }
                // Not the end of its own time.
                let log = daemon.program.errors
                #expect(log.contains("The caller has left"), "\(log)")
                #expect(!log.contains("does not deliver"), "\(log)")
            }
        }

        @Test("a message with many descriptors is refused, and the bus is not lost")
        func manyDescriptors() throws {
            try Daemon.with(Self.configuration) { daemon in
                let ends = try unsharedPipe()
                let reader = Descriptor(owning: ends.reader)
                let writer = SharedDescriptor(owning: ends.writer)
                let files = [Value](repeating: .descriptor(writer), count: 200)
                #expect {
                    try daemon.call(
                        "Swap",
                        of: .scene,
                        options: ["files": .array(files, of: .descriptor)]
                    )
                } throws: {
                    ($0 as? DBusKit.DBusError)?.name == "org.freedesktop.DBus.Error.LimitsExceeded"
                }
                #expect(try daemon.get("Active", of: .stream) == .boolean(true))
                withExtendedLifetime(reader) {}
            }
        }
    }
}
