import Compositing
import DualCamCore
import Foundation
import Frames
import TestJPEGs
import Testing

/// Small pictures of every layout and corner and of a swap, compared with those in Goldens.
///
/// The goldens are plain PGM, with a number for each byte of the packed picture.
/// DUALCAM_UPDATE_GOLDENS=1 rewrites them; then review the changes.
@Suite("Golden pictures") struct GoldenTests {
    static let canvas = Size(width: 64, height: 36)

    static let scenes: [(name: String, scene: Scene)] = {
        func state(
            _ layout: Layout,
            _ corner: Corner,
            _ shape: InsetShape = .rectangle
        ) -> SceneState {
            var style = SceneStyle()
            (style.insetShape, style.insetSize) = (shape, shape == .rectangle ? 0.25 : 0.5)
            style.layout = layout
            style.insetCorner = corner
            // As wide as they are on a large canvas.
            style.insetRadius = 80
            style.insetBorder = 20
            return SceneState.both(canvas, style)
        }
        var scenes = Corner.allCases.map {
            ("pip-\($0.rawValue)", state(.pip, $0).scene(at: .zero))
        }
        for layout in [Layout.sideBySide, .stacked, .single] {
            scenes.append((layout.rawValue, state(layout, .topRight).scene(at: .zero)))
        }
        for shape in [InsetShape.circle, .person] {
            scenes.append((shape.rawValue, state(.pip, .bottomLeft, shape).scene(at: .zero)))
        }
        var swapped = state(.pip, .topRight)
        swapped.setSwapped(true, at: .zero)
        for percent in [30, 55, 80] {
            let time = Timestamp(seconds: 0.003 * Double(percent))
            scenes.append(("swap-\(percent)", swapped.scene(at: time)))
        }
        return scenes
    }()

    @Test(arguments: scenes.map(\.name))
    func isAsItWas(name: String) throws {
        let scene = try #require(Self.scenes.first { $0.name == name }?.scene)
        let size = Size(width: 128, height: 72)
        var front = drawnFrame(size: size, isWarm: true)
        // A head over shoulders.
        front.mask =
            frame(size: size, format: .gray) { _, x, y in
                let (dx, dy) = (x - 64, y - 36)
                return dx * dx + dy * dy < 400 || abs(dx) < y - 20 && y > 50 ? 255 : 0
            }.buffer
        let picture = DrawnPicture(
            scene,
            canvas: Self.canvas,
            back: drawnFrame(size: Self.canvas, isWarm: false),
            front: front
        )
        let url = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appendingPathComponent("Goldens/\(name).pgm")
        if ProcessInfo.processInfo.environment["DUALCAM_UPDATE_GOLDENS"] == "1" {
            try picture.pgm.write(to: url, atomically: true, encoding: .utf8)
        }
        let numbers = try String(contentsOf: url, encoding: .utf8).split(
            whereSeparator: \.isWhitespace
        )
        let golden = numbers.dropFirst(4).compactMap { Int($0) }
        try #require(golden.count == picture.bytes.count)
        let worst = zip(golden, picture.bytes).map { abs($0 - Int($1)) }.max()
        // libyuv's kernels for other processors round differently.
        #expect(try #require(worst) <= 2)
    }
}

extension DrawnPicture {
    /// The packed bytes as text.
    var pgm: String {
        var text = "P2\n\(2 * size.width) \(size.height)\n255\n"
        for y in 0..<size.height {
            let row = bytes[y * 2 * size.width..<(y + 1) * 2 * size.width]
            text += row.map(String.init).joined(separator: " ") + "\n"
        }
        return text
    }
}
