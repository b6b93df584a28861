import Control
import DBusKit
import Frames
import TestSupport
import Testing

extension DaemonTests {
    @Suite("The picture", .timeLimit(.minutes(5)))
    struct PictureTests {
        /// Returns the place of the inset at rest on 1280x720; `size` is a fraction of the width.
        private static func inset(_ corner: String, size: Double = 0.25) -> Rect {
            let (width, height) = (1280 * size, 720 * size)
            return Rect(
                x: corner.hasSuffix("left") ? 26 : 1280 - 26 - width,
                y: corner.hasPrefix("top") ? 26 : 720 - 26 - height,
                width: width,
                height: height
            )
        }

        private static let whole = Rect(DaemonTests.size)

        @Test func everyLayoutAndCornerIsAtItsPlace() throws {
            let configuration = DaemonTests.still(back: "test:bars", front: "test:ramp")
            try Daemon.with(configuration) { daemon in
                let reader = try daemon.reader()
                defer { reader.close() }
                _ = try reader.picture("both cameras") {
                    $0[80, 400] == .gray(235) && $0[940, 100].y > 200
                }
                for corner in ["top-left", "bottom-left", "bottom-right", "top-right"] {
                    try daemon.set("InsetCorner", of: .scene, to: .string(corner))
                    let picture = try reader.picture()
                    let inset = Self.inset(corner)
                    expect(picture, shows: .bars, in: Self.whole, besides: inset, corner)
                    // The icon is in the inset's top right corner, the counter in its top left.
                    let below = Rect(
                        x: inset.x,
                        y: inset.y + 40,
                        width: inset.width,
                        height: inset.height - 40
                    )
                    expectRamp(picture, in: below, of: inset, corner)
                }
                try daemon.set("InsetVisible", of: .scene, to: .boolean(false))
                expect(try reader.picture(), shows: .bars, in: Self.whole, "hidden")
                try daemon.set("InsetVisible", of: .scene, to: .boolean(true))
                for size in [0.1, 0.4] {
                    try daemon.set("InsetSize", of: .scene, to: .double(size))
                    let picture = try reader.picture()
                    let inset = Self.inset("top-right", size: size)
                    expect(picture, shows: .bars, in: Self.whole, besides: inset, "\(size)")
                    let lower = Rect(
                        x: inset.x,
                        y: inset.y + 0.6 * inset.height,
                        width: inset.width,
                        height: 0.4 * inset.height
                    )
                    expectRamp(picture, in: lower, of: inset, "\(size)")
                }

                // Halves, cropped about the middle, with a black gap between them.
                try daemon.set("Layout", of: .scene, to: .string("side-by-side"))
                let beside = try reader.picture()
                #expect(beside.mean(PixelRect(x: 638, y: 20, width: 4, height: 680)) == 16)
                for x in [8, 160, 318, 480, 620] {
                    let place = (Double(x) + 0.5 - 318) / 1280 + 0.5
                    for y in [60, 200, 700] {
                        let wanted = Chart.bars.color(place, (Double(y) + 0.5) / 720)
                        if let wanted { #expect(beside[x, y].distance(to: wanted) <= 2) }
                        let gray = Color.gray(Int((16 + 219 * (1 - place)).rounded()))
                        #expect(beside[x + 644, y].distance(to: gray) <= 2, "(\(x), \(y))")
                    }
                }
                try daemon.set("Layout", of: .scene, to: .string("stacked"))
                let stacked = try reader.picture()
                #expect(stacked.mean(PixelRect(x: 20, y: 358, width: 1240, height: 4)) == 16)
                for x in [40, 400, 900, 1240] {
                    let place = (Double(x) + 0.5) / 1280
                    for y in [10, 178, 340] {
                        let wanted = Chart.bars.color(place, (Double(y) + 0.5 - 178) / 720 + 0.5)
                        if let wanted { #expect(stacked[x, y].distance(to: wanted) <= 2) }
                        let gray = Color.gray(Int((16 + 219 * (1 - place)).rounded()))
                        #expect(stacked[x, y + 364].distance(to: gray) <= 2, "(\(x), \(y))")
                    }
                }
                try daemon.set("Layout", of: .scene, to: .string("single"))
                expect(try reader.picture(), shows: .bars, in: Self.whole, "single")
                try daemon.call("Swap", of: .scene)
                let picture = try reader.picture()
                expect(picture, shows: .ramp, in: Self.whole, turned: .mirror, "single, swapped")
                try daemon.call("Reset", of: .scene)
                let again = try reader.picture()
                let inset = Self.inset("top-right")
                expect(again, shows: .bars, in: Self.whole, besides: inset, "after Reset")
            }
        }

        /// Expects the mirrored ramp of the picture in `inset` at the pixels of `area`.
        private func expectRamp(
            _ picture: StreamPicture,
            in area: Rect,
            of inset: Rect,
            _ comment: String
        ) {
            var worst = 0
            for y in stride(from: Int(area.y) + 14, to: Int(area.maxY) - 14, by: 3) {
                for x in stride(from: Int(area.x) + 6, to: Int(area.maxX) - 6, by: 3) {
                    let place = 1 - (Double(x) + 0.5 - inset.x) / inset.width
                    let wanted = Color.gray(Int((16 + 219 * place).rounded()))
                    worst = max(worst, picture[x, y].distance(to: wanted))
                }
            }
            // One pixel of the inset spans several levels of the ramp.
            let tolerance = 1 + Int((219 / inset.width).rounded(.up))
            #expect(worst <= tolerance, "inset \(comment)")
        }

        /// Bars that stay 1280x720 whatever the rotation of the camera.
        private static let wideBars = "source = \"test:bars\"\ncapture = \"1280x720@30\""

        @Test func camerasAreMirroredAndTurnedAsTheyAreMounted() throws {
            let configuration = DaemonTests.still(
                back: "test:bars",
                front: "test:bars",
                scene: "layout = \"single\""
            ).replacing("source = \"test:bars\"", with: Self.wideBars)
            try Daemon.with(configuration) { daemon in
                let reader = try daemon.reader()
                defer { reader.close() }
                let back = try reader.picture("the camera") { $0[80, 200] == .gray(235) }
                expect(back, shows: .bars, in: Self.whole, "back")
                try daemon.set("Mirror", of: .camera, at: DualCam.backPath, to: .boolean(true))
                let mirrored = try reader.picture()
                expect(mirrored, shows: .bars, in: Self.whole, turned: .mirror, "back mirrored")
                for isMirrored in [true, false] {
                    let mirror = Value.boolean(isMirrored)
                    try daemon.set("Mirror", of: .camera, at: DualCam.backPath, to: mirror)
                    for turns in 0...3 {
                        try daemon.set(
                            "Rotation",
                            of: .camera,
                            at: DualCam.backPath,
                            to: .uint32(UInt32(90 * turns))
                        )
                        let transform = Transform(quarterTurns: turns)
                            .followed(by: Transform(mirrored: isMirrored))
                        let upright = transform.apply(to: DaemonTests.size)
                        expect(
                            try reader.picture(),
                            shows: .bars,
                            in: Self.whole.fitting(aspect: upright.aspect),
                            turned: transform,
                            "turned by \(90 * turns), mirrored: \(isMirrored)"
                        )
                    }
                }
                // The front camera is mirrored by default.
                try daemon.call("Swap", of: .scene)
                let front = try reader.picture()
                expect(front, shows: .bars, in: Self.whole, turned: .mirror, "front")
                try daemon.set("Mirror", of: .camera, at: DualCam.frontPath, to: .boolean(false))
                expect(try reader.picture(), shows: .bars, in: Self.whole, "front as it is")
            }
        }

        @Test func aCameraMountedOnItsSideFillsTheFrame() throws {
            let configuration = DaemonTests.still(
                back: "test:bars",
                front: "test:ramp",
                scene: "layout = \"single\""
            ).replacing("source = \"test:bars\"", with: "source = \"test:bars\"\nrotation = 90")
            try Daemon.with(configuration) { daemon in
                let reader = try daemon.reader()
                defer { reader.close() }
                let picture = try reader.picture("the camera") { $0[640, 45] == .gray(235) }
                expect(picture, shows: .bars, in: Self.whole, turned: .clockwise90)
                let height = try daemon.get("Height", of: .camera, at: DualCam.backPath)
                #expect(height == .uint32(1280))
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
                defer { reader.close() }
                _ = try reader.picture("the camera") { $0[80, 200] == .gray(235) }
                try daemon.set("Rotation", of: .camera, at: DualCam.backPath, to: .uint32(90))
                let picture = try reader.picture("its new mode") { $0[1000, 45] == .gray(235) }
                expect(picture, shows: .bars, in: Self.whole, turned: .clockwise90)
                try eventually("the mode") {
                    try daemon.get("Height", of: .camera, at: DualCam.backPath) == .uint32(1280)
                }
            }
        }

        @Test(arguments: ["auto", "blur", "black", "crop"])
        func aPictureOfAnotherShapeIsShownWholeOrCropped(background: String) throws {
            let configuration = DaemonTests.still(
                back: "test:bars",
                front: "test:ramp",
                scene: "layout = \"single\"\nbackground = \"\(background)\""
            ).replacing("source = \"test:bars\"", with: Self.wideBars)
            try Daemon.with(configuration) { daemon in
                let reader = try daemon.reader()
                defer { reader.close() }
                let camera = DualCam.backPath
                _ = try reader.picture("the camera") { $0[80, 200] == .gray(235) }
                try daemon.set("Rotation", of: .camera, at: camera, to: .uint32(90))
                let picture = try reader.picture()
                let fitted = Self.whole.fitting(aspect: 9.0 / 16)
                let cut = Self.whole.covering(aspect: 9.0 / 16)
                // Turned clockwise, the white bar is on top and the ramp on the left.
                let beside = picture.mean(PixelRect(x: 1000, y: 4, width: 200, height: 40))
                switch background {
                case "auto", "blur":
                    expect(picture, shows: .bars, in: fitted, turned: .clockwise90)
                    #expect((60...155).contains(beside))
                case "black":
                    expect(picture, shows: .bars, in: fitted, turned: .clockwise90)
                    #expect(beside == 16)
                default:
                    // The colours and places of the visible part of the picture.
                    for y in [40, 200, 520, 680] {
                        let place = (Double(y) + 0.5 - cut.y) / cut.height
                        let wanted = Chart.bars.color(place, 0.4)
                        if let wanted { #expect(picture[900, y].distance(to: wanted) <= 2) }
                    }
                }
            }
        }

        @Test func theInsetHasABorderAShadowRoundCornersAndAnIcon() throws {
            try PrivateSession.with { session in
                let (light, dark) = ("\(session.directory)/a.y4m", "\(session.directory)/b.y4m")
                let small = Size(width: 320, height: 180)
                try writeMovie([180], size: small, to: light)
                try writeMovie([40], size: small, to: dark)
                let daemon = try Daemon(
                    DaemonTests.still(back: "file:\(light)", front: "file:\(dark)"),
                    in: session
                )
                let reader = try daemon.reader()
                defer { reader.close() }
                _ = try reader.picture("both pictures") {
                    $0[640, 400] == .gray(180) && $0[1100, 160] == .gray(40)
                }
                let still = try reader.stillPicture()

                // The inset is at 934, 26, 320 wide and 180 high; its border is two pixels wide.
                #expect(still[640, 400] == .gray(180))
                #expect(still[1090, 150] == .gray(40))
                for edge in [0, 1] {
                    for (x, y) in [
                        (934 + edge, 115), (1253 - edge, 115), (1094, 26 + edge),
                        (1094, 205 - edge),
                    ] {
                        #expect((195...215).contains(still[x, y].y), "border at \(x), \(y)")
                    }
                }
                for (x, y) in [(936, 115), (1251, 115), (1094, 28), (1094, 203)] {
                    #expect(still[x, y] == .gray(40), "inside at \(x), \(y)")
                }
                // The shadow falls down, and ends.
                let below = still[1094, 209].y
                #expect((100...170).contains(below), "shadow \(below)")
                #expect(still[1094, 240].y == 180 && still[900, 115].y == 180)
                #expect(still[1094, 21].y > below)
                // The corners are round: the main picture, in the shadow, is seen there.
                for (x, y) in [(934, 26), (1253, 26), (934, 205), (1253, 205)] {
                    #expect((105...180).contains(still[x, y].y), "corner at \(x), \(y)")
                }
                // The disc of the icon, 25 across, 8 from the edges: black at 50 % with arrows.
                let disc = PixelRect(x: 1224, y: 36, width: 20, height: 20)
                let values = (disc.y..<disc.maxY).flatMap { y in
                    (disc.x..<disc.maxX).map { still[$0, y].y }
                }
                #expect((values.min() ?? 40) < 32 && (values.max() ?? 0) > 120)

                try daemon.set("SwapIcon", of: .scene, to: .boolean(false))
                let plain = try reader.stillPicture()
                let flat = (disc.y..<disc.maxY).allSatisfy { y in
                    (disc.x..<disc.maxX).allSatisfy { plain[$0, y] == .gray(40) }
                }
                #expect(flat)
            }
        }
    }
}
