import Frames
import Imaging
import Testing

@testable import Compositing
@testable import DualCamCore

@Suite("The title's picture") struct TitlePictureTests {
    /// The pixels of a grey canvas that a title has changed.
    private struct Touched {
        var bounds = PixelRect.none
        var brightest: UInt8 = 0
    }

    private func lay(
        _ title: Title,
        _ corner: Corner,
        on canvas: Size,
        opacity: Double = 1
    ) -> Touched {
        let picture = TitlePicture(ShownTitle(title: title, corner: corner), canvas: canvas)
        var rows = [UInt8](repeating: 128, count: 2 * canvas.area)
        picture.lay(over: &rows, stride: 2 * canvas.width, opacity: opacity)
        var (left, top, right, bottom) = (canvas.width, canvas.height, 0, 0)
        var touched = Touched()
        for row in 0..<canvas.height {
            for column in 0..<canvas.width where rows[2 * (row * canvas.width + column)] != 128 {
                (left, right) = (min(left, column), max(right, column + 1))
                (top, bottom) = (min(top, row), max(bottom, row + 1))
                touched.brightest = max(touched.brightest, rows[2 * (row * canvas.width + column)])
            }
        }
        if right > left {
            touched.bounds = PixelRect(x: left, y: top, width: right - left, height: bottom - top)
        }
        return touched
    }

    private static let texts = [
        "Ada", "Ada Lovelace\nAnalytical Engines", String(repeating: "W", count: 60),
        "a\n" + String(repeating: "W", count: 60), "👩‍🏫 دانشگاه 日本語",
    ]

    @Test(
        arguments: [
            Size(width: 1280, height: 720), Size(width: 1920, height: 1080),
            Size(width: 640, height: 360), Size(width: 320, height: 180),
            Size(width: 720, height: 1280),
        ],
        texts
    )
    func itStandsInItsCornerAndLeavesRoom(_ canvas: Size, _ text: String) throws {
        let title = try #require(try Title(text))
        for corner in Corner.allCases {
            let touched = lay(title, corner, on: canvas)
            let bounds = touched.bounds
            let distance = 26 * Double(canvas.height) / 720
            let isLeft = corner == .topLeft || corner == .bottomLeft
            let isTop = corner == .topLeft || corner == .topRight
            let across = Double(isLeft ? bounds.x : canvas.width - bounds.maxX)
            let along = Double(isTop ? bounds.y : canvas.height - bounds.maxY)
            #expect(abs(across - distance) <= 2 && abs(along - distance) <= 2, "\(corner)")
            #expect(Double(bounds.width) <= 0.46 * Double(canvas.width))
            #expect(bounds.height < canvas.height / 3)
            #expect(touched.brightest > 200)
        }
        #expect(lay(title, .topLeft, on: canvas, opacity: 0).bounds.isEmpty)
    }

    @Test("that is cut says so with an ellipsis, and one that has room stays as it is")
    func ellipsis() {
        /// Returns the text as it is cut for `room`, where a W is as wide as two other characters.
        func cut(_ text: String, _ room: Double) -> String {
            TitlePicture.cut(text, to: room) { text in text.reduce(0) { $0 + ($1 == "W" ? 2 : 1) } }
        }
        #expect(cut("Lovelace", 8) == "Lovelace")
        #expect(cut("Lovelace", 7) == "Lovela…")
        #expect(cut("Lovelace", 2) == "L…")
        #expect(cut("Lovelace", 1) == "…")
        #expect(cut("WWWWaaaa", 9) == "WWWW…")
    }

    @Test(
        "is cut to nothing if need be, where not even one of its characters has room",
        arguments: [
            String(repeating: "\u{1100}", count: 16) + "ab",
            "ab" + String(repeating: "\u{1100}", count: 16),
            String(repeating: "\u{1100}", count: 16),
        ]
    )
    func wideCharacters(_ text: String) throws {
        let title = try #require(try Title(text))
        let canvas = Size(width: 320, height: 180)
        #expect(lay(title, .topLeft, on: canvas).bounds.width < canvas.width)
    }
}
