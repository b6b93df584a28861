import Foundation
import Testing

/// Compares `text` with the file called `name` in Goldens, and shows the first difference. With
/// DUALCAM_UPDATE_GOLDENS=1 in the environment it writes the file instead.
func expectGolden(
    _ text: String,
    _ name: String,
    sourceLocation: SourceLocation = #_sourceLocation
) throws {
    let file = goldenFolder.appendingPathComponent(name)
    if ProcessInfo.processInfo.environment["DUALCAM_UPDATE_GOLDENS"] == "1" {
        try text.write(to: file, atomically: true, encoding: .utf8)
    }
    let golden = try String(contentsOf: file, encoding: .utf8)
    #expect(
        text.split(separator: "\n", omittingEmptySubsequences: false)
            == golden.split(separator: "\n", omittingEmptySubsequences: false),
        "if this is meant: DUALCAM_UPDATE_GOLDENS=1 writes \(name) anew",
        sourceLocation: sourceLocation
    )
}

func goldens() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: goldenFolder.path).sorted()
}

private let goldenFolder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .appendingPathComponent("Goldens")
