import Foundation
import Glibc
import TestSupport

/// A counter of a program's allocations by thread: a library loaded before all others
/// (allocations.c).
struct AllocationCounter {
    private static let byteCount = 256 * 16
    private let library: String
    private let file: String

    /// The environment variables of a program whose allocations are counted.
    var environment: [String: String] { ["LD_PRELOAD": library, "ALLOCATIONS": file] }

    init(in directory: String) throws {
        let directory = URL(fileURLWithPath: directory).standardizedFileURL.path
        library = try preloadable("Tests/Bench/allocations.c", in: directory)
        file = "\(directory)/allocations"
        try Data(count: Self.byteCount).write(to: URL(fileURLWithPath: file))
    }

    /// Returns the number of allocations so far, by thread name.
    func counts(_ process: Watched) -> [String: Int] {
        let names = process.threadNames
        var counts: [String: Int] = [:]
        for (thread, count) in entries {
            if let name = names[thread] { counts[name, default: 0] += count }
        }
        return counts
    }

    var total: Int { entries.reduce(0) { $0 + $1.count } }

    private var entries: [(thread: Int, count: Int)] {
        let bytes = (try? Data(contentsOf: URL(fileURLWithPath: file))) ?? Data()
        return bytes.withUnsafeBytes { bytes in
            stride(from: 0, to: bytes.count - 15, by: 16).map { offset in
                (
                    bytes.loadUnaligned(fromByteOffset: offset, as: Int.self),
                    bytes.loadUnaligned(fromByteOffset: offset + 8, as: Int.self)
                )
            }
        }
    }
}
