import ArgumentParser
import Control
import DBusKit
import Glibc
import Platform

struct Media: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "The photographs and movies that were kept.",
        subcommands: [List.self]
    )

    func run() throws { throw ValidationError("Expected list.") }

    struct List: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List photographs and movies, the newest first.",
            discussion: """
                A line each: kind, camera, bytes, local time and path. The movie of a live photo has no line; --json tells \
                of it.
                """
        )

        @Option(help: "How many of the newest to pass over.")
        var offset = 0
        @Option(help: "How many to list; all without it.")
        var count: Int?
        @OptionGroup var options: CommonOptions

        /// How many are asked for at a time, and the seconds that a slow disk may take.
        private static let (page, patience) = (500, 60.0)

        func validate() throws {
            guard (0...Int(UInt32.max)).contains(offset) else {
                throw ValidationError("--offset is \(offset), expected 0 or more.")
            }
            guard count.map({ $0 >= 0 }) ?? true else {
                throw ValidationError("--count is \(count ?? 0), expected 0 or more.")
            }
        }

        func run() throws {
            let client = try Client()
            var items: [[String: Value]] = []
            var total = 0
            repeat {
                let wanted = min(Self.page, count.map { $0 - items.count } ?? Self.page)
                let place = UInt32(clamping: offset + items.count)
                let answer = try client.call(
                    "List",
                    of: .library,
                    [.uint32(place), .uint32(UInt32(clamping: wanted))],
                    within: Self.patience
                )
                let more = (answer.first?.array ?? []).compactMap(\.named)
                total = answer.last?.integer ?? 0
                items += more
                if more.isEmpty { break }
            } while items.count < count ?? .max && offset + items.count < total
            if options.json {
                let names = ["path", "uri", "kind", "camera", "size", "time", "movie"]
                let list = items.map { item in
                    JSON.object(names.map { ($0, JSON(item[$0])) })
                }
                let members = [("items", JSON.array(list)), ("total", .number("\(total)"))]
                Output.write(JSON.document(members))
            } else {
                Output.write(Self.lines(of: items))
            }
        }

        /// A line each, in columns, the path last.
        static func lines(of items: [[String: Value]]) -> String {
            let width = items.map { "\($0["size"]?.integer ?? 0)".count }.max() ?? 0
            return items.map { item in
                let size = "\(item["size"]?.integer ?? 0)"
                let columns = [
                    (item["kind"]?.string ?? "").printable.padded(to: 5),
                    (item["camera"]?.string ?? "-").printable.padded(to: 6),
                    String(repeating: " ", count: width - size.count) + size,
                    local(item["time"]?.integer ?? 0),
                    (item["path"]?.string ?? "").printable,
                ]
                return columns.joined(separator: " ") + "\n"
            }.joined()
        }

        /// "2026-11-21 14:30:05", by the time zone of this machine.
        private static func local(_ microseconds: Int) -> String {
            var seconds = time_t(microseconds / 1_000_000)
            var parts = tm()
            localtime_r(&seconds, &parts)
            var text = [CChar](repeating: 0, count: 32)
            let count = strftime(&text, text.count, "%Y-%m-%d %H:%M:%S", &parts)
            return String(decoding: text.prefix(count).map(UInt8.init(bitPattern:)), as: UTF8.self)
        }
    }
}
