import Compositing
import DualCamCore
import Frames
import Glibc

/// The cost of drawing compared with copying, on one thread: the processor time of each in
/// alternation.
struct ComposingRows {
    let clips: Clips
    let pairs: Int
    private let frames = 60

    /// Returns rows for two raw cameras, at rest and in the middle of a swap, relative to one copy
    /// of the output.
    func rows() throws -> [Row] {
        let pictures = try clips.pictures(Clips.size)
        var swapping = Side.scene()
        swapping.setSwapped(true, at: .zero)
        let scenes = [Side.scene().scene(at: .zero), swapping.scene(at: Timestamp(seconds: 0.15))]
        let compositor = Compositor(canvas: Clips.size)
        let output = Output()
        func compose(_ scene: Scene) -> Double {
            threadTime(of: frames) { index in
                compositor.composite(
                    scene,
                    back: pictures[index % pictures.count],
                    front: pictures[(index + 5) % pictures.count],
                    labels: PerRole(back: nil, front: nil),
                    into: output.next(),
                    stride: 2 * Clips.size.width
                )
            }
        }
        func copy() -> Double {
            threadTime(of: frames) { index in
                let from = pictures[index % pictures.count].plane(0).base
                output.next().update(from: from, count: output.byteCount)
            }
        }
        // A first round makes all one-time allocations.
        for scene in scenes { _ = compose(scene) }
        var copies: [Double] = []
        var costs: [[Double]] = scenes.map { _ in [] }
        for _ in 0..<max(5, pairs) {
            copies.append(copy())
            for index in scenes.indices { costs[index].append(compose(scenes[index])) }
        }
        func ratios(_ index: Int) -> [Double] { zip(costs[index], copies).map { $0 / $1 } }
        return [
            Row("one copy of the output", "ms", copies),
            Row("raw YUYV: composing ÷ copy", "", target: 2, ratios(0)),
            Row("raw YUYV: composing in the middle of a swap ÷ copy", "", target: 6, ratios(1)),
        ]
    }
}
