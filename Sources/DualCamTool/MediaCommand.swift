import ArgumentParser
import Control
import DBusKit
import Doctor
import DualCamCore
import Glibc
import Platform

struct Media: CommandFamily {
    static let configuration = CommandConfiguration(
        abstract: "List photos and movies, open them, and make thumbnails.",
        subcommands: [List.self, Open.self, Thumbnail.self]
    )

    struct List: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "List photos and movies, newest first.",
            discussion: """
                Each line has the kind, the camera, the size, the length, the local time \
                and the path. The movie of a live photo has no line of its own; --json names it.
                """
        )

        @Option(help: "Skip this many of the newest.")
        var offset = 0
        @Option(help: "List at most this many (default: all).")
        var count: Int?
        @OptionGroup var options: CommonOptions

        /// The number of items per call, and the time that a slow disk may take, in seconds.
        private static let (page, timeout) = (500, 60.0)
        /// The number of retries for a list that changed while it was fetched.
        private static let tries = 3

        func validate() throws {
            for (name, value) in [("offset", offset), ("count", count ?? 0)] {
                try expect(value >= 0, "Expected --\(name) to be 0 or more, not \(value).")
            }
        }

        func run() throws {
            let client = try Client()
            func fetch() throws -> (items: [[String: Value]], total: Int, isWhole: Bool) {
                try Self.gather(from: offset, count: count) { place, wanted in
                    let (more, total) = try client.call(
                        \LibraryInterface.list,
                        (UInt32(clamping: place), UInt32(clamping: wanted)),
                        startsService: false,
                        within: Self.timeout
                    )
                    return (more, Int(total))
                }
            }
            var (items, total, isWhole) = try fetch()
            // A file that comes or goes between two pages shifts the rest: the pages would be of
            // two lists.
            for _ in 0..<Self.tries where !isWhole { (items, total, isWhole) = try fetch() }
            let names = ["path", "uri", "kind", "camera", "size", "seconds", "time", "movie"]
            let list = items.map { item in JSON.object(names.map { ($0, JSON(item[$0])) }) }
            options.answer(
                [("items", .array(list)), ("total", .number("\(total)"))],
                text: Self.lines(of: items)
            )
            if total == 0, !options.json {
                Output.complain("There are no photos and no recordings yet.")
            }
        }

        /// Gathers at most `count` files from `offset` on, in pages that `list` returns for an
        /// offset and a count, with the number of all files.
        ///
        /// - Returns: each file once, and `true` for `isWhole` if that number was the same on all
        ///   pages.
        static func gather(
            from offset: Int,
            count: Int?,
            _ list: (Int, Int) throws -> ([[String: Value]], Int)
        ) rethrows -> (items: [[String: Value]], total: Int, isWhole: Bool) {
            var items: [[String: Value]] = []
            var paths: Set<String> = []
            var totals: Set<Int> = []
            var place = offset
            while true {
                let wanted = min(Self.page, count.map { $0 - items.count } ?? Self.page)
                let (more, total) = try list(place, wanted)
                totals.insert(total)
                let new = more.filter { paths.insert($0["path"]?.string ?? "").inserted }
                items += new
                place += more.count
                guard !new.isEmpty, place < total, items.count < count ?? .max else {
                    return (items, total, totals.count == 1)
                }
            }
        }

        /// Returns one line per item, in columns, with the path last.
        static func lines(of items: [[String: Value]]) -> String {
            let width = items.map { ($0["size"]?.integer ?? 0).asBytes.count }.max() ?? 0
            return items.map { item in
                let size = (item["size"]?.integer ?? 0).asBytes
                let columns = [
                    (item["kind"]?.string ?? "").printable.padded(to: 5),
                    (item["camera"]?.string ?? "-").printable.padded(to: 6),
                    String(repeating: " ", count: width - size.count) + size,
                    length(item["seconds"]?.double),
                    WallTime(microseconds: Int64(item["time"]?.integer ?? 0))
                        .text("%Y-%m-%d %H:%M:%S"),
                    (item["path"]?.string ?? "").printable,
                ]
                return columns.joined(separator: " ") + "\n"
            }.joined()
        }

        /// Returns a length in the form "1:05" or "1:02:03", in a column; "-" if there is none.
        private static func length(_ seconds: Double?) -> String {
            let text = seconds.flatMap { Int(exactly: $0.rounded()) }.map(Clock.text) ?? "-"
            return String(repeating: " ", count: max(0, 7 - text.count)) + text
        }
    }

    struct Open: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Open a photo or movie in the program that your desktop has for it."
        )
        @Argument(help: "The photo or movie (default: the newest).", completion: .media)
        var file: String?
        @OptionGroup var options: CommonOptions

        func run() throws {
            var path = file
            if path == nil {
                let newest = (UInt32(0), UInt32(1))
                let (items, _) = try Client().call(
                    \LibraryInterface.list,
                    newest,
                    startsService: false,
                    within: 60
                )
                path = items.first?["path"]?.string
            }
            guard let path else { throw Failure("There are no photos and no recordings yet.") }
            guard access(path, R_OK) == 0 else { throw SystemError.last("open", path) }
            guard let status = try? Program.status(of: ["xdg-open", absolutePath(path)]) else {
                throw Failure("xdg-open is not installed; its package is xdg-utils.")
            }
            guard status == 0 else {
                throw Failure("Your desktop has no program for \(path.printable).")
            }
            options.answer([("path", .string(path))])
        }
    }

    struct Thumbnail: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Make a thumbnail of a photo or movie, and print where it is.",
            discussion:
                "Other programs share these thumbnails. If there is one already, it is used."
        )

        @Argument(help: "A photo or movie in DualCam's directories.", completion: .media)
        var file: String
        @Option(help: "The size at which it will be shown, in pixels, at most 1024.")
        var size = 256
        @Option(
            name: .short,
            help: .init(
                "Write the thumbnail, a PNG, to this file; - is standard output.",
                valueName: "file"
            )
        )
        var output: String?
        @OptionGroup var options: CommonOptions

        /// The time that a large file on a slow disk may take, in seconds.
        private static let timeout = 60.0

        func validate() throws {
            try expect(
                (1...1024).contains(size),
                "Expected --size to be from 1 to 1024, not \(size)."
            )
            try Output.check("thumbnail", to: output, json: options.json)
        }

        func run() throws {
            let client = try Client()
            let thumbnail = try client.call(
                \LibraryInterface.thumbnail,
                (Self.whole(file), UInt32(size)),
                within: Self.timeout
            )
            // The descriptor's name is the path at which the daemon found the file.
            let link = "/proc/self/fd/\(thumbnail.number)"
            guard let path = resolvedPath(link) else { throw SystemError.last("realpath", link) }
            if let output { try Output.write(try readFile(link, limit: 1 << 24), to: output) }
            options.answer(
                [("path", .string(file)), ("thumbnail", .string(path))],
                text: output == nil ? path.printable + "\n" : ""
            )
        }

        /// Returns `path` as an absolute path, with links and ".." of its directory resolved. The
        /// daemon checks whether the file belongs to its library.
        private static func whole(_ path: String) -> String {
            let parts = path.split(separator: "/", omittingEmptySubsequences: false)
            let folder = parts.dropLast().joined(separator: "/")
            let start = path.hasPrefix("/") ? folder + "/" : folder.isEmpty ? "." : folder
            guard let name = parts.last, let whole = resolvedPath(start) else {
                return absolutePath(path)
            }
            return whole == "/" ? "/\(name)" : "\(whole)/\(name)"
        }
    }
}
