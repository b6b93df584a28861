import Control
import DBusKit
import Foundation
import Frames
import Glibc
import TestSupport
import Testing

extension DaemonTests {
    /// Tests of the priority of the threads that keep time, which dbusmock gives as RTKit or as the
    /// portal.
    @Suite("Priority", .timeLimit(.minutes(2)))
    struct PriorityTests {
        private static let kit = "org.freedesktop.RealtimeKit1"
        private static let method = "MakeThreadRealtimeWithPID"
        /// The threads at rest, and while the stream is watched.
        private static let threads: Set = ["composite"]
        private static let streaming: Set = ["capture-back", "capture-front", "composite"]
        private static let template =
            repository
            .appending(path: "Tests/Mocks/realtime_kit.py").path

        private func startKit(in session: PrivateSession) throws -> MockedService {
            try MockedService(
                Self.kit,
                at: "/org/freedesktop/RealtimeKit1",
                interface: Self.kit,
                template: Self.template,
                on: .system,
                in: session
            )
        }

        @Test func eachThreadThatKeepsTimeHasTheKitsPriority() throws {
            try withSession { session in
                let kit = try startKit(in: session)
                let daemon = try Daemon(Self.configuration, in: session)
                try expect(kit, wasAskedBy: daemon)
                #expect(try Set(scheduling(of: daemon).keys) == Self.threads)
                let reader = try daemon.reader()
                _ = try reader.next()
                try expect(kit, wasAskedBy: daemon, for: Self.streaming)
                // The mock gives it only where it may.
                if getuid() == 0 {
                    try eventually("the priority") {
                        try scheduling(of: daemon).allSatisfy { $0.value == "realtime" }
                    }
                }
                #expect(try Set(scheduling(of: daemon).keys) == Self.streaming)
                #expect(try daemon.end().exit == .status(0))
            }
        }

        @Test("a recording's sound keeps time as well, as long as it is recorded")
        func sound() throws {
            try withSession { session in
                let kit = try startKit(in: session)
                let folder = "\(session.directory)/videos"
                let daemon = try Daemon(
                    Self.configuration + "\n[capture]\nvideo-directory = \"\(folder)\"\n",
                    in: session
                )
                try expect(kit, wasAskedBy: daemon)
                try daemon.call(
                    "StartRecording",
                    of: .capture,
                    options: ["of": .strings(["back"]), "audio": .boolean(true)]
                )
                try expect(kit, wasAskedBy: daemon, for: ["capture-back", "composite", "sound"])
                try daemon.call("StopRecording", of: .capture)
                try eventually("its end") {
                    try Set(scheduling(of: daemon).keys) == ["capture-back", "composite"]
                }
                #expect(try daemon.end().exit == .status(0))
            }
        }

        @Test("the kit is asked again after the system bus was lost and came back")
        func aBusThatComesBack() throws {
            try withSession { session in
                var kit: MockedService? = try startKit(in: session)
                let daemon = try Daemon(Self.configuration, in: session)
                try expect(#require(kit), wasAskedBy: daemon)
                session.kill(.systemBus)
                kit = nil
                try session.start(.systemBus)
                let other = try startKit(in: session)
                try expect(other, wasAskedBy: daemon)
                #expect(try daemon.end().exit == .status(0))
            }
        }

        private static let configuration = DaemonTests.still(back: "test:bars", front: "test:bars")

        private func withSession(_ body: (PrivateSession) throws -> Void) throws {
            try PrivateSession.with(PrivateSession.Service.usual + [.systemBus], body)
        }

        /// Expects that `service` is asked for each of the daemon's threads that keep time, with
        /// its numbers, and for no other.
        private func expect(
            _ service: MockedService,
            wasAskedBy daemon: Daemon,
            for threads: Set<String> = threads,
            priority: Int = 5
        ) throws {
            var calls: [[Int?]] = []
            try eventually("the requests") {
                let answer = try service.call(
                    "GetMethodCalls",
                    of: "org.freedesktop.DBus.Mock",
                    [.string(Self.method)]
                )
                calls = (answer.first?.array ?? []).map { call in
                    guard case .structure(let parts) = call else { return [] }
                    return (parts.last?.array ?? []).map { argument in
                        if case .variant(let value) = argument { value.integer } else { nil }
                    }
                }
                return calls.count >= threads.count
            }
            let process = Int(daemon.program.id)
            #expect(calls.allSatisfy { $0.count == 3 && $0[0] == process && $0[2] == priority })
            let names = try calls.map { call in
                let thread = try #require(call[1])
                let path = "/proc/\(process)/task/\(thread)/comm"
                return try String(contentsOfFile: path, encoding: .utf8).dropLast()
            }
            #expect(Set(names.map(String.init)) == threads && names.count == calls.count)
        }

        private func scheduling(of daemon: Daemon) throws -> [String: String] {
            (try daemon.statistics["scheduling"]?.named ?? [:]).compactMapValues(\.string)
        }
    }
}
