import Glibc
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

    @Test func `that is too little is told in numbers`() {
        let space = DiskSpace(free: 95_500_000, total: 900_000_000)
        #expect(space.left == 0)
        #expect(
            space.shortage
                == "the disk is nearly full: 95 MB are left, and DualCam keeps 100 MB free"
        )
        #expect(DiskSpace(free: 350_000_000, total: 900_000_000).left == 250_000_000)
    }

    @Test(
        "is not what is missing where the error says something else",
        arguments: [
            (ENOSPC, "the disk is full"), (EDQUOT, "your disk quota is used up"),
            (EFBIG, "the file is too large"), (EROFS, "the file system is read-only"),
            (EACCES, "permission denied"), (ENOENT, "there is no directory /a"),
        ]
    )
    func errors(_ errno: CInt, _ words: String) {
        let error = MediaError(.init(errno: errno), "create", "/a/b.mkv", errno: errno)
        #expect(error.description == "cannot create /a/b.mkv: \(words)")
    }
}
