import Compositing
import DualCamCore
import Frames
import Glibc
import Imaging
import Testing

@Suite("The words of a notice") struct LabelTests {
    static let canvas = Size(width: 1280, height: 720)

    /// The trace of text on a flat picture: the pixels that it changes.
    private struct Trace {
        var bounds: PixelRect?
        /// The luma of the lightest and of the darkest of them.
        var (lightest, darkest): (UInt8, UInt8) = (0, 255)
        /// The sum of their differences.
        var weight = 0
        var isNeutral = true

        init(_ with: DrawnPicture, _ without: DrawnPicture) {
            var (left, right, top, bottom) = (Int.max, -1, Int.max, -1)
            for y in 0..<with.size.height {
                for x in 0..<with.size.width {
                    let (pixel, other) = (with.pixel(x, y), without.pixel(x, y))
                    isNeutral = isNeutral && pixel.u == 128 && pixel.v == 128
                    guard pixel != other else { continue }
                    (left, right) = (min(left, x), max(right, x))
                    (top, bottom) = (min(top, y), max(bottom, y))
                    lightest = max(lightest, pixel.y)
                    darkest = min(darkest, pixel.y)
                    weight += abs(Int(pixel.y) - Int(other.y))
                }
            }
            guard right >= 0 else { return }
            bounds = PixelRect(x: left, y: top, width: right + 1 - left, height: bottom + 1 - top)
        }
    }

    private func trace(
        _ layer: Layer,
        canvas: Size = Self.canvas,
        text: String = "Waiting for the camera",
        back: Frame? = nil,
        compositor: Compositor? = nil
    ) -> Trace {
        var scene = Scene()
        scene.append(layer)
        let labels = NoticeLabels(text, canvas: canvas)
        let pictures = [labels, nil].map {
            DrawnPicture(
                scene,
                canvas: canvas,
                back: back,
                labels: PerRole(back: $0, front: nil),
                compositor: compositor
            )
        }
        return Trace(pictures[0], pictures[1])
    }

    private func veiled(_ rect: Rect, veil: Double = 1, opacity: Double = 1) -> Layer {
        var layer = Layer(role: .back, rect: rect)
        layer.veil = veil
        layer.opacity = opacity
        layer.notice = veil > 0 ? .waiting : nil
        return layer
    }

    private func inset(on canvas: Size) -> Rect { SceneState.both(canvas).scene(at: .zero)[1].rect }

    @Test(arguments: [Size(width: 1280, height: 720), Size(width: 1920, height: 1080)])
    func standInTheMiddleOfTheirPictureAndScaleWithTheCanvas(canvas: Size) throws {
        let unit = Double(canvas.height) / 720
        let compositor = Compositor(canvas: canvas)
        for (rect, height) in [(Rect(canvas), 52.0), (inset(on: canvas), 32)] {
            let trace = trace(veiled(rect), canvas: canvas, compositor: compositor)
            let bounds = try #require(trace.bounds)
            #expect(abs(Double(bounds.x + bounds.maxX) / 2 - rect.midX) <= 1)
            #expect(abs(Double(bounds.y + bounds.maxY) / 2 - rect.midY) <= 1)
            #expect(abs(Double(bounds.height) - height * unit) <= 2)
            #expect(bounds.width > 4 * bounds.height)
            #expect(Double(bounds.width) < rect.width)
            #expect(trace.lightest >= 230 && trace.isNeutral)
        }
    }

    @Test func areAsClearAsTheVeilIsThick() {
        let compositor = Compositor(canvas: Self.canvas)
        let weights = [0, 0.25, 0.5, 0.75, 1].map {
            trace(veiled(Rect(Self.canvas), veil: $0), compositor: compositor).weight
        }
        #expect(weights[0] == 0)
        for step in 1...4 {
            let share = Double(weights[step]) / Double(weights[4])
            #expect(abs(share - Double(step) / 4) < 0.03)
        }
    }

    @Test func fadeWithTheirPicture() {
        let whole = trace(veiled(inset(on: Self.canvas)))
        let half = trace(veiled(inset(on: Self.canvas), opacity: 0.5))
        #expect(abs(Double(half.weight) / Double(whole.weight) - 0.5) < 0.03)
    }

    @Test(arguments: [180, 360, 720], Notice.allCases)
    func fitEveryInsetOrAreNotThere(height: Int, notice: Notice) throws {
        let canvas = Size(width: height * 16 / 9 / 2 * 2, height: height)
        let compositor = Compositor(canvas: canvas)
        let labels = NoticeLabels(notice.text(for: .front), canvas: canvas)
        var heights: [Int] = []
        for fraction in [0.1, 0.15, 0.2, 0.25, 0.35, 0.5] {
            var style = SceneStyle()
            style.insetSize = fraction
            style.insetBorder = 0
            var state = SceneState.both(canvas, style)
            state.setNotice(notice, of: .front, at: .zero, instantly: true)
            let scene = state.scene(at: .zero)
            let pictures = [labels, nil].map {
                DrawnPicture(
                    scene,
                    canvas: canvas,
                    labels: PerRole(back: nil, front: $0),
                    compositor: compositor
                )
            }
            let bounds = Trace(pictures[0], pictures[1]).bounds
            heights.append(bounds?.height ?? 0)
            if let bounds { #expect(scene[1].rect.inwards.intersection(bounds) == bounds) }
        }
        // The same type covers a row more or less, by where it lies between rows.
        let pairs = zip(heights, heights.dropFirst())
        #expect(pairs.allSatisfy { $0 <= $1 + 1 }, "larger type in a larger inset: \(heights)")
        if height >= 360 { #expect(try #require(heights.last) > 0) }
        if height >= 720 {
            #expect(heights[3] == Int((1.17 * 14 * Double(height) / 720).rounded()) * 2)
        }
    }

    @Test func sayWhichCameraItIsWhereThatMatters() {
        #expect(Interruption.unplugged.text(for: .back) == "Back camera unplugged")
        #expect(Interruption.unplugged.text(for: .front) == "Front camera unplugged")
        for notice in Notice.allCases {
            let texts = Role.allCases.map { notice.text(for: $0) }
            #expect(!texts[0].isEmpty && texts[0].replacing("Back", with: "Front") == texts[1])
        }
    }

    /// Returns the contrast of two greys of the stream, after WCAG 2.
    private func contrast(_ a: UInt8, _ b: UInt8) -> Double {
        func light(_ luma: UInt8) -> Double {
            let value = max(0, min(1, (Double(luma) - 16) / 219))
            guard value > 0.04045 else { return value / 12.92 }
            return pow((value + 0.055) / 1.055, 2.4)
        }
        let (x, y) = (light(a), light(b))
        return (max(x, y) + 0.05) / (min(x, y) + 0.05)
    }

    @Test func canBeReadOnAnyPicture() throws {
        let label = Label("Back camera unplugged", type: 22)
        for luma in stride(from: UInt8(16), through: 235, by: 1) {
            // On the bare picture, since a veil only darkens it.
            var row = [UInt8](repeating: 128, count: 2 * label.size.area)
            for i in 0..<label.size.area { row[2 * i] = luma }
            label.overlay.lay(
                over: &row,
                stride: 2 * label.size.width,
                x: 0,
                y: 0,
                clip: PixelRect(label.size),
                opacity: 1
            )
            let lumas = (0..<label.size.area).map { row[2 * $0] }
            // Right of the round end, left of the first letter.
            let pill = lumas[label.size.height / 2 * label.size.width + 12]
            let words = try #require(lumas.max())
            #expect(contrast(words, pill) >= 4.5, "on \(luma)")
        }
    }

    @Test func changeTheirSizeWithoutAJumpWhileTheirPictureGrows() throws {
        let compositor = Compositor(canvas: Self.canvas)
        let whole = trace(veiled(Rect(Self.canvas)), compositor: compositor)
        #expect(try #require(whole.bounds).height == 52)
        var last: Int?
        for percent in stride(from: 25, through: 100, by: 1) {
            let rect = Rect(Self.canvas).scaled(by: Double(percent) / 100)
            let weight = trace(veiled(rect), compositor: compositor).weight
            if let last { #expect(abs(weight - last) < whole.weight / 10, "at \(percent) %") }
            last = weight
        }
    }
}
