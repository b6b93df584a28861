import Control
import DBusKit
import Frames
import TestSupport
import Testing

extension DaemonTests {
    @Suite("The picture", .timeLimit(.minutes(5)))
    struct PictureTests {
        private static let whole = Rect(DaemonTests.size)

        @Test func aLayoutThatIsSetIsShownInTheNextPicture() throws {
            let configuration = DaemonTests.still(back: "test:bars", front: "test:ramp")
            try Daemon.with(configuration) { daemon in
                let reader = try daemon.reader()
                _ = try reader.picture("both cameras") {
                    $0[80, 400] == .gray(235) && $0[940, 100].y > 200
                }
                for (corner, size) in [("bottom-left", 0.25), ("top-right", 0.4)] {
                    try daemon.scene.set(\.insetCorner, corner)
                    try daemon.scene.set(\.insetSize, size)
                    let picture = try reader.picture()
                    let (width, height) = (1280 * size, 720 * size)
                    let inset = Rect(
                        x: corner.hasSuffix("left") ? 26 : 1280 - 26 - width,
                        y: corner.hasPrefix("top") ? 26 : 720 - 26 - height,
                        width: width,
                        height: height
                    )
                    expect(picture, shows: .bars, in: Self.whole, besides: inset, corner)
                    // Mirrored, and one pixel spans several levels; its icon and counter are above.
                    for x in stride(from: Int(inset.x) + 6, to: Int(inset.maxX) - 6, by: 3) {
                        let place = 1 - (Double(x) + 0.5 - inset.x) / width
                        let wanted = Color.gray(Int((16 + 219 * place).rounded()))
                        #expect(
                            picture[x, Int(inset.maxY) - 30].distance(to: wanted) <= 2,
                            "\(corner)"
                        )
                    }
                }
                try daemon.scene.set(\.insetVisible, false)
                expect(try reader.picture(), shows: .bars, in: Self.whole, "hidden")

                // Halves, cropped about the middle, with a black gap between them.
                try daemon.scene.set(\.layout, "side-by-side")
                let beside = try reader.picture()
                #expect(beside.mean(PixelRect(x: 638, y: 20, width: 4, height: 680)) == 16)
                for x in [8, 160, 318, 480, 620] {
                    let place = (Double(x) + 0.5 - 318) / 1280 + 0.5
                    let gray = Color.gray(Int((16 + 219 * (1 - place)).rounded()))
                    #expect(beside[x + 644, 200].distance(to: gray) <= 2, "\(x)")
                }
                try daemon.scene.set(\.layout, "single")
                try daemon.call("Swap", of: .scene)
                let picture = try reader.picture()
                expect(picture, shows: .ramp, in: Self.whole, turned: .mirror, "single, swapped")
                try daemon.call("Reset", of: .scene)
                let inset = Rect(x: 934, y: 26, width: 320, height: 180)
                expect(try reader.picture(), shows: .bars, in: Self.whole, besides: inset, "Reset")
            }
        }

        @Test func aCameraThatIsTurnedWhileItIsOpenTakesTheModeThatFillsTheFrame() throws {
            let configuration = DaemonTests.still(
                back: "test:bars",
                front: "test:ramp",
                scene: "layout = \"single\""
            )
            try Daemon.with(configuration) { daemon in
                let reader = try daemon.reader()
                _ = try reader.picture("the camera") { $0[80, 200] == .gray(235) }
                try daemon.back.set(\.mirror, true)
                expect(try reader.picture(), shows: .bars, in: Self.whole, turned: .mirror)
                try daemon.back.set(\.mirror, false)
                try daemon.back.set(\.rotation, 90)
                let picture = try reader.picture("its new mode") { $0[1000, 45] == .gray(235) }
                expect(picture, shows: .bars, in: Self.whole, turned: .clockwise90)
                try daemon.back.wait(for: \.height, 1280)
            }
        }
    }
}
