import Dispatch
import Foundation
import TestSupport
import Testing

/// Tests of the installed daemon under real systemd, in a user's session, with cameras bound to the
/// real uvcvideo driver. Each script of `Tests/VM` is a row, which runs inside a virtual machine
/// that it shares with others: `Tests/VM/rows` starts them, and says what became of each.
@Suite("The virtual machine")
struct VMTests {
    /// A script of `Tests/VM`.
    struct Row: CustomTestStringConvertible {
        var name: String
        /// What it shows, for people.
        var purpose = ""
        var testDescription: String { "\(name): \(purpose)" }

        init(_ name: String, _ purpose: String = "") {
            (self.name, self.purpose) = (name, purpose)
        }
    }

    /// All rows by the machine that plays them. Both machines take about as long.
    private static let machines = [
        [
            Row("package", "installs, upgrades and purges the package, and mirrors the stream"),
            Row("stream", "streams two USB cameras in a session of its own"),
            Row("photos", "photographs USB cameras as they are, at their largest, and live"),
            Row("pro", "sets a camera by hand, and shows it"),
            Row("metering", "gives a face the light that it should have"),
            Row("scenes", "keeps scenes, locks and mountings over a replug"),
            Row("lenses", "changes lenses without a cut"),
        ],
        [
            Row("faults", "keeps the stream whole through each fault of a camera"),
            Row("zoo", "shows planes of memory, HDMI, interlaced video, and faulty webcams"),
            Row(
                "network",
                "shows a camera on the network, through a pulled cable and lost packets"
            ),
            Row("doctor", "hides the cameras in use, enables the unit, and takes both back"),
            Row("orientation", "shows the pictures of a turned tablet upright"),
        ],
    ]

    /// The rows to play: those that DUALCAM_VM_ROWS names, all in one machine, or every one. What
    /// is not chosen is no test, for one that is skipped would count as a failure.
    private static let chosen: [[Row]] = {
        let names = ProcessInfo.processInfo.environment["DUALCAM_VM_ROWS", default: ""]
        guard !names.isEmpty else { return machines }
        return [
            names.split(separator: " ").map { name in
                machines.joined().first { $0.name == name } ?? Row(String(name))
            }
        ]
    }()

    @Test("plays a row", .timeLimit(.minutes(90)), arguments: chosen.joined())
    func plays(_ row: Row) async throws {
        let output = try await Self.output.value
        let console = Self.results.appending(path: "\(row.name).console")
        let outcome = try #require(output.outcomes[row.name], "\(output.text)")
        if let reason = outcome.reason {
            let said = (try? String(contentsOf: console, encoding: .utf8)) ?? ""
            print(said.split(separator: "\n").suffix(150).joined(separator: "\n"))
            Issue.record("\(row.name): \(reason); see \(console.path)")
        } else {
            try FileManager.default.removeItem(at: console)
        }
    }

    private struct Output: Sendable {
        struct Outcome: Sendable {
            /// Why it failed, if it did.
            var reason: String?
        }

        var outcomes: [String: Outcome] = [:]
        var text = ""
    }

    /// Where a failure leaves the machine's console. `rows.xml` there has a test case for each row,
    /// with its time, as a case of this test has none.
    private static let results = repository.appending(path: ".build/test-results")

    private static let output = Task {
        try await withCheckedThrowingContinuation { continuation in
            // The wait would take a thread from all other tests.
            DispatchQueue.global().async {
                continuation.resume(with: Result { try play() })
            }
        }
    }

    /// Plays all rows that are chosen, and prints how long their machines took.
    private static func play() throws -> Output {
        var environment = ProcessInfo.processInfo.environment
        environment["DUALCAM_BIN_DIR"] = Programs.directory
        let child = try Child(
            repository.appending(path: "Tests/VM/rows").path,
            ["-o", results.path] + chosen.map { $0.map(\.name).joined(separator: " ") },
            environment: environment
        )
        try child.wait(within: 88 * 60)
        var output = Output()
        output.text = child.output + child.errors
        print(output.text)
        let table = try? String(contentsOf: results.appending(path: "rows.tsv"), encoding: .utf8)
        for line in (table ?? "").split(separator: "\n") {
            let fields = line.split(separator: "\t", omittingEmptySubsequences: false).map(
                String.init
            )
            output.outcomes[fields[0]] = .init(reason: fields[1] == "passed" ? nil : fields[3])
        }
        return output
    }
}
