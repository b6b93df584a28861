import Control
import DBusKit
import Foundation
import Frames
import Glibc
import Platform
import TestSupport
import Testing

extension DaemonTests {
    /// The photographs and movies that were kept, as others see them on the bus and in the shell.
    @Suite("Library", .timeLimit(.minutes(3)))
    struct LibraryTests {
        /// A daemon with directories and a cache of its own.
        private func with(_ body: (Daemon) throws -> Void) throws {
            try PrivateSession.with { session in
                let daemon = try Daemon(
                    Self.configuration(session, "pictures"),
                    in: session,
                    adding: ["XDG_CACHE_HOME": "\(session.directory)/cache", "TZ": "UTC"]
                )
                try body(daemon)
                #expect(try daemon.end().exit == .status(0))
            }
        }

        private static func configuration(_ session: PrivateSession, _ name: String) -> String {
            """
            [cameras.back]
            source = "test:bars"
            [cameras.front]
            source = "test:bars"
            [capture]
            photo-directory = "\(session.directory)/\(name)"
            video-directory = "\(session.directory)/videos"
            """
        }

        private func folder(_ daemon: Daemon, _ name: String = "pictures") throws -> String {
            let path = "\(daemon.session.directory)/\(name)"
            try FileManager.default.createDirectory(
                atPath: path,
                withIntermediateDirectories: true
            )
            return path
        }

        private func write(_ path: String, _ text: String = "x") throws {
            try Data(text.utf8).write(to: URL(filePath: path))
        }

        private func list(
            _ daemon: Daemon,
            _ offset: UInt32 = 0,
            _ count: UInt32 = 100
        ) throws -> (items: [[String: Value]], total: Int) {
            let answer = try daemon.send(
                "List",
                of: Interface.library.name,
                [.uint32(offset), .uint32(count), .named([:])]
            )
            let items = try #require(answer.first?.array)
            return (items.compactMap(\.named), try #require(answer.last?.integer))
        }

        private func run(_ daemon: Daemon, _ arguments: [String]) throws -> Child {
            let child = try daemon.session.run(
                Programs.path(of: "dualcamctl"),
                ["media"] + arguments,
                adding: ["TZ": "UTC"]
            )
            try child.wait(within: 60)
            return child
        }

        /// Waits for a Changed, and for no more of them.
        private func change(_ daemon: Daemon) throws {
            try eventually("Changed", within: 20) {
                try daemon.settle()
                return daemon.signals(of: .library).contains("Changed")
            }
            try daemon.forgetSignals()
        }

        @Test func itIsListedAndToldOfAndNothingIsReadUnasked() throws {
            try with { daemon in
                let (pictures, videos) = (try folder(daemon), try folder(daemon, "videos"))
                try write("\(pictures)/DualCam_2026-11-21_143005.123_back.jpg", "photo")
                try daemon.settle()
                #expect(daemon.signals(of: .library) == [])
                let threads = try FileManager.default.contentsOfDirectory(
                    atPath: "/proc/\(daemon.program.id)/task"
                ).map { (content("/proc/\(daemon.program.id)/task/\($0)/comm") ?? "") }
                #expect(!threads.contains("library"))

                let (items, total) = try list(daemon)
                #expect(items.count == 1 && total == 1)
                let path = "\(pictures)/DualCam_2026-11-21_143005.123_back.jpg"
                #expect(
                    items.first == [
                        "path": .string(path), "uri": .string("file://\(path)"),
                        "kind": .string("photo"), "camera": .string("back"), "size": .uint64(5),
                        "time": .int64(1_795_271_405_123_000),
                    ]
                )
                // Newer than any name says, since it is written now.
                try write("\(videos)/a b\u{e4}.mkv", "movie")
                try change(daemon)
                try write("\(pictures)/DualCam_2026-11-21_143005.123_back.mkv", "live")
                try change(daemon)
                let (more, all) = try list(daemon)
                #expect(all == 2)
                #expect(more.map { $0["kind"]?.string } == ["movie", "photo"])
                #expect(more[0]["uri"] == .string("file://\(videos)/a%20b%C3%A4.mkv"))
                #expect(more[0]["camera"] == nil)
                #expect(
                    more[1]["movie"]
                        == .string("\(pictures)/DualCam_2026-11-21_143005.123_back.mkv")
                )
                #expect(try list(daemon, 1, 5).items == [more[1]])
                #expect(try list(daemon, 2, 5).items == [])
                #expect(try list(daemon, 0, 0).total == 2)

                unlink("\(videos)/a b\u{e4}.mkv")
                try change(daemon)
                #expect(try list(daemon).total == 1)
                // The directory goes, and another takes its place.
                rename(pictures, "\(pictures)-old")
                try change(daemon)
                #expect(try list(daemon).total == 0)
                rename("\(pictures)-old", pictures)
                try change(daemon)
                #expect(try list(daemon).total == 1)
                // Another one is configured.
                try write("\(try folder(daemon, "other"))/x.jpg")
                try write("\(try folder(daemon, "other"))/y.jpg")
                try daemon.reload(Self.configuration(daemon.session, "other"))
                try change(daemon)
                #expect(try list(daemon).total == 2)
            }
        }

        @Test func theToolListsInColumnsAndInJSON() throws {
            try with { daemon in
                let pictures = try folder(daemon)
                #expect(try run(daemon, ["list"]).output == "")
                for number in 1...3 {
                    try write(
                        "\(pictures)/DualCam_2026-11-21_14300\(number).123_back.jpg",
                        String(repeating: "x", count: number * 5)
                    )
                }
                let child = try run(daemon, ["list", "--offset", "1"])
                #expect(child.exit == .status(0) && child.errors == "")
                #expect(
                    child.output == """
                        photo back   10 2026-11-21 14:30:02 \(pictures)/DualCam_2026-11-21_143002.123_back.jpg
                        photo back    5 2026-11-21 14:30:01 \(pictures)/DualCam_2026-11-21_143001.123_back.jpg

                        """
                )
                let json = try run(daemon, ["list", "--json", "--count", "1"]).output
                let object = try JSONSerialization.jsonObject(with: Data(json.utf8))
                let document = try #require(object as? [String: Any])
                #expect(document["total"] as? Int == 3 && document["version"] as? Int == 1)
                let items = try #require(document["items"] as? [[String: Any]])
                #expect(items.map { $0["size"] as? Int } == [15])
                #expect(items.first?["movie"] is NSNull)
                #expect(try run(daemon, ["list", "--count=-1"]).exit == .status(2))
                #expect(try run(daemon, []).exit == .status(2))
            }
        }

        @Test func tenThousandFilesAreListedAtOnce() throws {
            try with { daemon in
                let pictures = try folder(daemon)
                let names = (0..<10_000).map {
                    "DualCam_2026-11-21_143005.123_back-\($0).jpg"
                }
                for name in names {
                    let number = open("\(pictures)/\(name)", O_WRONLY | O_CREAT, 0o600)
                    #expect(Glibc.write(number, "x", 1) == 1)
                    close(number)
                }
                func measured(_ work: () throws -> Void) throws -> Double {
                    let start = MonotonicClock.now
                    try work()
                    return (MonotonicClock.now - start).seconds
                }
                let first = try measured {
                    let total = try list(daemon).total
                    #expect(total == names.count)
                }
                // The shortest of some tells what it takes; the others what else the machine had to do.
                let pages = try (0..<20).map { page in
                    try measured {
                        let items = try list(daemon, UInt32(page * 100)).items
                        #expect(items.count == 100)
                    }
                }
                var found: Set<String> = []
                let all = try measured {
                    while found.count < names.count {
                        let items = try list(daemon, UInt32(found.count), 1000).items
                        #expect(items.count == 1000)
                        guard !items.isEmpty else { break }
                        found.formUnion(items.compactMap { $0["path"]?.string })
                    }
                }
                #expect(found.count == names.count)
                let best = pages.min() ?? 0
                print(
                    "10 000 files: first \(milliseconds(first)), a page \(milliseconds(best)), all \(milliseconds(all))"
                )
                #expect(best < 0.05)
            }
        }
    }
}
