import Media
import Testing

@Suite("The room on a disk") struct DiskSpaceTests {
    private static let million: Int64 = 1_000_000

    /// A disk, in millions of bytes.
    @Test(
        "is judged by what is left, on a small disk by its share",
        arguments: [
            (1_000_000, 600, false, false), (1_000_000, 500, false, false),
            (1_000_000, 499, true, false), (1_000_000, 100, true, false),
            (1_000_000, 99, true, true), (1_000_000, 0, true, true),
            // A small one, such as a memory stick of long ago, can be filled to seven eighths.
            (400, 200, false, false), (400, 199, true, false), (400, 50, true, false),
            (400, 49, true, true), (16, 16, false, false), (16, 2, true, false),
            (16, 1, true, true), (0, 0, false, false),
        ]
    )
    func levels(_ total: Int64, _ free: Int64, isLow: Bool, isExhausted: Bool) {
        let space = DiskSpace(free: free * Self.million, total: total * Self.million)
        #expect(space.isLow == isLow && space.isExhausted == isExhausted)
    }
}
