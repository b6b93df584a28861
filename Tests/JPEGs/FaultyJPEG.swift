/// A JPEG as a real camera may write it, with one fault.
package struct FaultyJPEG: Sendable, CustomStringConvertible {
    /// What becomes of a JPEG.
    package enum Verdict: Sendable {
        /// It has no fault that matters.
        case clean
        /// The picture is whole, but most programs other than libjpeg would not show it so.
        case noise
        /// Data is missing or wrong.
        case damage
    }

    package let description: String
    package let verdict: Verdict
    package let bytes: [UInt8]

    private init(
        _ name: String,
        _ verdict: Verdict,
        _ change: (inout ScriptedJPEG) -> Void = { _ in }
    ) {
        description = name
        self.verdict = verdict
        var jpeg = ScriptedJPEG()
        change(&jpeg)
        bytes = jpeg.bytes
    }

    package static let all =
        [
            FaultyJPEG("none", .clean),
            FaultyJPEG("zeros for padding", .clean) { $0 = ScriptedJPEG(padding: 0) },
            FaultyJPEG("bytes after the end", .clean) { $0.end += [1, 2, 3, 0xff, 0xd8, 9] },
            FaultyJPEG("zeros after the end", .clean) {
                $0.end += [UInt8](repeating: 0, count: 5000)
            },
            FaultyJPEG("no end marker", .noise) { $0.end = [] },
            FaultyJPEG("half an end marker", .noise) { $0.end = [0xff] },
            FaultyJPEG("zeros before the end", .noise) {
                $0.strays[5] = [UInt8](repeating: 0, count: 400)
            },
            FaultyJPEG("a restart marker is missing", .damage) { $0.restarts[2] = nil },
            FaultyJPEG("a restart marker is another one", .damage) { $0.restarts[2] = 6 },
            FaultyJPEG("a row is missing", .damage) { $0.segments[3] = [] },
            FaultyJPEG("a row ends early", .damage) { $0.segments[3].removeLast(4) },
            FaultyJPEG("the last row ends early", .damage) { $0.segments[5].removeLast(4) },
            FaultyJPEG("the end is missing with half of the last row", .damage) {
                $0.segments[5].removeLast(6)
                $0.end = []
            },
            FaultyJPEG("a code that no table has", .damage) {
                $0.segments[3] = [0xf0, 0xf0, 0xf0]
            },
            FaultyJPEG("two rows in one", .damage) {
                $0.segments[3] += $0.segments[4] + $0.segments[5]
            },
        ]
        + (1...9).map { count in
            FaultyJPEG("\(count) bytes before some restart markers", .noise) {
                $0.strays[1] = [UInt8](repeating: 0x5a, count: count)
                $0.strays[4] = [UInt8](repeating: 0x00, count: count)
            }
        }
}
