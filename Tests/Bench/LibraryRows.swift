import Control
import DBusKit
import Foundation
import Frames
import Platform
import TestSupport

/// The time that the daemon takes to list a large library.
struct LibraryRows {
    let pairs: Int

    private static let count = 10_000

    /// Returns the time from the call to the reply, for the first call to a daemon and for later
    /// ones.
    func rows() throws -> [Row] {
        var (first, page): ([Double], [Double]) = ([], [])
        try PrivateSession.with([.bus]) { session in
            let folder = "\(session.directory)/library"
            try makeDirectory(folder)
            for number in 0..<Self.count {
                let file = try NewFile(for: "\(folder)/\(number).jpg", mode: 0o600)
                try file.write([0])
                try file.replace(syncing: false)
            }
            for _ in 0..<pairs {
                let daemon = try Daemon(
                    "[capture]\nphoto-directory = \"\(folder)\"\nvideo-directory = \"\(folder)\"\n",
                    in: session,
                    node: false
                )
                first.append(try time { try list(daemon, 0, 100) })
                page.append(try time { try list(daemon, 5000, 100) })
                _ = try daemon.end()
            }
        }
        return [
            Row(
                "library of 10 000 files: the first page, read from the disk",
                "ms",
                target: 50,
                first
            ),
            Row("  a page of 100, once it is known", "ms", target: 5, page),
        ]
    }

    private func list(_ daemon: Daemon, _ offset: Int, _ count: Int) throws {
        let answer = try daemon.send(
            "List",
            of: Interface.library.name,
            [.uint32(UInt32(offset)), .uint32(UInt32(count)), .named([:])]
        )
        guard answer.first?.array?.count == count else { throw BenchError("a page is short") }
    }

    private func time(_ work: () throws -> Void) rethrows -> Double {
        let start = MonotonicClock.now
        try work()
        return (MonotonicClock.now - start).seconds * 1000
    }
}
