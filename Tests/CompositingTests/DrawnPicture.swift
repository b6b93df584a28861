import Compositing
import DualCamCore
import Frames

/// One pixel of a composed picture, with the chroma of its pair.
struct Pixel: Equatable, CustomStringConvertible {
    var y: UInt8
    var u: UInt8
    var v: UInt8

    var description: String { "(\(y), \(u), \(v))" }
}

/// A picture drawn by a compositor.
struct DrawnPicture {
    let size: Size
    var bytes: [UInt8]

    init(
        _ scene: Scene,
        canvas: Size,
        back: Frame? = nil,
        front: Frame? = nil,
        second: PerRole<Frame?> = PerRole(back: nil, front: nil),
        labels: PerRole<NoticeLabels?> = PerRole(back: nil, front: nil),
        compositor: Compositor? = nil,
        over: UInt8 = 0xaa
    ) {
        size = canvas
        bytes = [UInt8](repeating: over, count: canvas.area * 2)
        let compositor = compositor ?? Compositor(canvas: canvas)
        bytes.withUnsafeMutableBufferPointer { bytes in
            guard let base = bytes.baseAddress else { return }
            compositor.composite(
                scene,
                back: back,
                front: front,
                second: second,
                labels: labels,
                into: base,
                stride: 2 * canvas.width
            )
        }
    }

    func pixel(_ x: Int, _ y: Int) -> Pixel {
        let pair = (y * size.width + x / 2 * 2) * 2
        return Pixel(y: bytes[pair + x % 2 * 2], u: bytes[pair + 1], v: bytes[pair + 3])
    }
}

extension SceneState {
    /// The scene of both cameras.
    static func both(_ canvas: Size, _ style: SceneStyle = SceneStyle()) -> SceneState {
        SceneState(canvas: canvas, style: style, present: PerRole(back: true, front: true))
    }
}

extension State {
    /// Returns a state with two cameras, after `events`.
    static func withTwoCameras(
        _ canvas: Size,
        _ style: SceneStyle,
        after events: Event...
    ) -> State {
        var state = State(
            canvas: canvas,
            style: style,
            cameras: PerRole(
                back: CameraState(source: .auto, mirror: false, rotation: 0),
                front: CameraState(source: .auto, mirror: true, rotation: 0)
            )
        )
        for role in Role.allCases { state.take(.camera(role, .assigned(name: role.rawValue)), 1) }
        for event in events { state.take(event, 1) }
        return state
    }

    /// Applies `event` at `seconds`.
    mutating func take(_ event: Event, _ seconds: Double) {
        _ = reduce(&self, event, at: Timestamp(seconds: seconds))
    }
}
