import ArgumentParser
import Control
import DBusKit
import DualCamCore
import Glibc
import Platform

extension Verbs {
    static let media: List = [Media.self]
}

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
            guard (0...Int(UInt32.max)).contains(offset) else {
                throw ValidationError("Expected --offset to be 0 or more, not \(offset).")
            }
            guard count.map({ $0 >= 0 }) ?? true else {
                throw ValidationError("Expected --count to be 0 or more, not \(count ?? 0).")
            }
        }

        func run() throws {
            let client = try Client()
            var (items, total, isWhole) = try fetch(client)
            // A file that comes or goes between two pages shifts the rest: the pages would be of
            // two lists.
            for _ in 0..<Self.tries where !isWhole { (items, total, isWhole) = try fetch(client) }
            if options.json {
                let names = ["path", "uri", "kind", "camera", "size", "seconds", "time", "movie"]
                let list = items.map { item in
                    JSON.object(names.map { ($0, JSON(item[$0])) })
                }
                let members = [("items", JSON.array(list)), ("total", .number("\(total)"))]
                Output.write(JSON.document(members))
            } else {
                Output.write(Self.lines(of: items))
                if total == 0 { Output.complain("There are no photos and no recordings yet.") }
            }
        }

        /// Returns the items, fetched page by page, their total, and `true` if that total stayed
        /// the same.
        private func fetch(
            _ client: Client
        ) throws -> (items: [[String: Value]], total: Int, isWhole: Bool) {
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
            var totals: [Int] = []
            var place = offset
            while true {
                let wanted = min(Self.page, count.map { $0 - items.count } ?? Self.page)
                let (more, total) = try list(place, wanted)
                totals.append(total)
                let new = more.filter { paths.insert($0["path"]?.string ?? "").inserted }
                items += new
                place += more.count
                guard !new.isEmpty, place < totals.last ?? 0, items.count < count ?? .max else {
                    break
                }
            }
            let total = totals.last ?? 0
            return (items, total, totals.allSatisfy { $0 == total })
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
                    local(item["time"]?.integer ?? 0),
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

        /// Returns the time in the form "2026-11-21 14:30:05", in the local time zone.
        private static func local(_ microseconds: Int) -> String {
            WallTime(microseconds: Int64(microseconds)).text("%Y-%m-%d %H:%M:%S")
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
            guard access(path, R_OK) == 0 else {
                throw Failure(
                    status: .failed,
                    message: "\(SystemError.last("open", path))".printable
                )
            }
            var id = pid_t()
            var words: [UnsafeMutablePointer<CChar>?] = [
                strdup("xdg-open"), strdup(absolutePath(path)), nil,
            ]
            defer { words.forEach { free($0) } }
            guard posix_spawnp(&id, "xdg-open", nil, nil, &words, environ) == 0 else {
                throw Failure("xdg-open is not installed; its package is xdg-utils.")
            }
            var status: CInt = 0
            while waitpid(id, &status, 0) < 0, errno == EINTR {}
            guard status == 0 else {
                throw Failure("Your desktop has no program for \(path.printable).")
            }
            report(options, [("path", .string(path))])
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
            guard (1...1024).contains(size) else {
                throw ValidationError("Expected --size to be from 1 to 1024, not \(size).")
            }
            try Output.checkPicture(to: output)
            guard output != "-" || !options.json else {
                throw ValidationError(
                    "The thumbnail and JSON cannot both go to standard output. Leave out --json."
                )
            }
        }

        func run() throws {
            let client = try Client()
            let thumbnail = try client.call(
                \LibraryInterface.thumbnail,
                (Self.whole(file), UInt32(size)),
                within: Self.timeout
            )
            do throws(SystemError) {
                // The descriptor's name is the path at which the daemon found the file.
                let link = "/proc/self/fd/\(thumbnail.number)"
                guard let found = realpath(link, nil) else { throw .last("realpath", link) }
                defer { free(found) }
                let path = String(cString: found)
                if let output { try Output.write(try readFile(link, limit: 1 << 24), to: output) }
                if options.json {
                    let members = [("path", JSON.string(file)), ("thumbnail", .string(path))]
                    Output.write(JSON.document(members))
                } else if output == nil {
                    Output.write(path.printable + "\n")
                }
            } catch {
                throw Failure(status: .failed, message: "\(error)".printable)
            }
        }

        /// Returns `path` as an absolute path, with links and ".." of its directory resolved. The
        /// daemon checks whether the file belongs to its library.
        private static func whole(_ path: String) -> String {
            let parts = path.split(separator: "/", omittingEmptySubsequences: false)
            let folder = parts.dropLast().joined(separator: "/")
            let start = path.hasPrefix("/") ? folder + "/" : folder.isEmpty ? "." : folder
            guard let name = parts.last, let found = realpath(start, nil) else {
                return absolutePath(path)
            }
            defer { free(found) }
            let whole = String(cString: found)
            return whole == "/" ? "/\(name)" : "\(whole)/\(name)"
        }
    }
}
