import Compositing
import DualCamCore
import Frames
import TestJPEGs

struct Pixel: Equatable, CustomStringConvertible {
    var y: UInt8
    var u: UInt8
    var v: UInt8

    var description: String { "(\(y), \(u), \(v))" }
}

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
        compositor.composite(
            scene,
            back: back,
            front: front,
            second: second,
            labels: labels,
            into: &bytes,
            stride: 2 * canvas.width
        )
    }

    func pixel(_ x: Int, _ y: Int) -> Pixel {
        let pair = (y * size.width + x / 2 * 2) * 2
        return Pixel(y: bytes[pair + x % 2 * 2], u: bytes[pair + 1], v: bytes[pair + 3])
    }
}

extension SceneState {
    static func both(_ canvas: Size, _ style: SceneStyle = SceneStyle()) -> SceneState {
        SceneState(canvas: canvas, style: style, present: PerRole(back: true, front: true))
    }
}

extension State {
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
        let cameras = Role.allCases.map {
            CameraDevice(
                path: "/dev/\($0)",
                name: $0.rawValue,
                identity: $0 == .back ? "own" : "other",
                orientation: $0 == .back ? .back : .front
            )
        }
        state.take(.cameras(.found(cameras, from: .kernel(isWhole: true))), 1)
        for event in events { state.take(event, 1) }
        return state
    }

    mutating func take(_ event: Event, _ seconds: Double) {
        _ = reduce(&self, event, at: Timestamp(seconds: seconds))
    }
}

/// Returns a frame of slopes and circles, in which edges, turns and mirroring are visible.
func drawnFrame(size: Size, isWarm: Bool) -> Frame {
    frame(size: size, format: .i444) { plane, x, y in
        let (dx, dy) = (x - size.width / 3, y - size.height / 3)
        let isRing = (dx * dx + dy * dy) / (size.area / 60 + 1) % 2 == 0
        return switch plane {
        case 0: UInt8(40 + 150 * x / size.width + (isRing ? 40 : 0))
        case 1: isWarm ? 90 : UInt8(128 + 60 * y / size.height)
        default: isWarm ? UInt8(150 + 50 * y / size.height) : 110
        }
    }
}
