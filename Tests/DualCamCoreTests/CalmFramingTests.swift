import Frames
import Glibc
import TestSupport
import Testing

@testable import DualCamCore

@Suite("Calm framing") struct CalmFramingTests: Reducing {
    var state = State.withTwoCameras()
    private var random = Chance(seed: 7)
    private var now = 3.0
    private var moves = 0

    init() {
        send(.assigned(.back, "Desk", id: "desk"))
        send(.stream(.start), .published, at: 1)
        send(.consumed(true), .streaming(.back), at: 2)
        send(.set(\.cameras.back.framing, .calm), at: 2)
    }

    /// A face of a height, with its middle there, both in fractions of a picture of 16:9.
    private static func face(_ x: Double, _ y: Double = 0.4, height: Double = 0.18) -> Face {
        let width = height * 9 / 16
        let box = Rect(x: x - width / 2, y: y - height / 2, width: width, height: height)
        return Face(box: box, luma: 150)
    }

    private var part: Rect { part(at: now) }
    private func part(at seconds: Double) -> Rect {
        state.scene.framings.back.part(at: Timestamp(seconds: seconds), of: .a)
    }

    /// Shows these faces for so many seconds, five times in each, and counts the moves.
    private mutating func show(for seconds: Double, _ faces: (Double) -> [Face]) {
        for step in 0..<Int((seconds * 5).rounded()) {
            let before = state.scene.framings.back
            now += 0.2
            send(.lens(.back, .faces(faces(Double(step) / 5))), at: now)
            moves += state.scene.framings.back == before ? 0 : 1
        }
    }

    /// A random number whose mean is 0 and deviation 1.
    private mutating func noise() -> Double {
        (0..<12).reduce(-6.0) { sum, _ in sum + Double(random.next() % 10_000) / 10_000 }
    }

    /// The distance of the face from its place in what is shown, in fractions of that.
    private func error(_ face: Face) -> Double {
        let part = part
        return max(
            abs((face.box.midX - part.x) / part.width - 0.5),
            abs((face.eyes - part.y) / part.height - 0.4)
        )
    }

    @Test("stays for ten minutes of talking", arguments: [0.25, 1, 3])
    mutating func talking(_ slowness: Double) {
        send(.set(\.cameras.back.framingTightness, 1), at: now)
        show(for: 4) { _ in [Self.face(0.5, height: 0.3)] }
        #expect(moves == 1 && part.width < 0.9)
        let rest = part
        // A face that wanders by 5 % of the width, as was measured, and nods.
        let keeps = exp(-0.2 / slowness)
        let gives = (1 - keeps * keeps).squareRoot()
        var (x, y, size) = (0.0, 0.0, 0.0)
        for _ in 0..<3000 {
            x = keeps * x + gives * noise()
            y = keeps * y + gives * noise()
            size = keeps * size + gives * noise()
            let seen = Self.face(0.5 + 0.05 * x, 0.4 + 0.03 * y, height: 0.3 * (1 + 0.05 * size))
            show(for: 0.2) { _ in [seen] }
        }
        #expect(moves == 1 && part == rest)
    }

    @Test("moves once when somebody has moved, and then has the face where it belongs")
    mutating func moving() {
        show(for: 4) { _ in [Self.face(0.5)] }
        for place in [0.3, 0.72, 0.5] {
            let before = (moves, part.midX)
            show(for: 2) { time in [Self.face(place + 0.002 * sin(40 * time))] }
            #expect(moves == before.0 + 1, "to \(place)")
            let (start, end) = (part.width, 1.6)
            var last = part
            for _ in 0..<16 {
                now += end / 16
                // Smooth: never back.
                #expect((part.midX - last.midX) * (place - before.1) >= 0)
                last = part
            }
            now += 0.7
            #expect(error(Self.face(place)) < 0.05 && abs(part.width - start) < 0.05, "\(place)")
            show(for: 6) { _ in [Self.face(place)] }
            #expect(moves == before.0 + 1)
        }
        // Somebody who passes by is not followed while he walks.
        let count = moves
        show(for: 1.2) { time in [Self.face(0.55 - 0.3 * abs(sin(2.6 * time)))] }
        #expect(moves == count)
    }

    @Test("keeps two persons in, and one who comes nearer")
    mutating func two() {
        show(for: 5) { _ in [Self.face(0.4)] }
        let single = part.width
        show(for: 6) { _ in [Self.face(0.45, height: 0.6)] }
        #expect(moves == 2 && part == .unit)
        show(for: 6) { _ in [Self.face(0.4)] }
        #expect(moves == 3 && abs(part.width - single) < 0.01)
        let pair = [Self.face(0.2), Self.face(0.7, height: 0.15)]
        // A glimpse of something is nobody.
        show(for: 0.4) { _ in pair }
        show(for: 3) { _ in [Self.face(0.4)] }
        #expect(moves == 3)
        show(for: 6) { _ in pair }
        #expect(moves == 4 && part.width > single)
        for face in pair {
            #expect(face.box.x > part.x && face.box.maxX < part.maxX)
        }
    }

    @Test("returns slowly when nobody is there, and lets a hand have the zoom")
    mutating func away() {
        show(for: 5) { _ in [Self.face(0.4)] }
        let there = part
        show(for: 7.8) { _ in [] }
        #expect(part == there)
        show(for: 1) { _ in [] }
        #expect(part(at: now + 1).width < 1 && part(at: now + 3) == .unit && moves == 2)
        show(for: 5) { _ in [Self.face(0.4)] }
        #expect(moves == 3)
        send(.lens(.back, .setZoom(1.5, middle: nil, duration: 0.3)), at: now)
        #expect(state.cameras.back.framing == .off && state.faceSearch(.back) == nil)
        now += 1
        #expect(abs(part.width - 1 / 1.5) < 1e-9)
        send(.set(\.cameras.back.framing, .calm), at: now)
        #expect(state.cameras.back.lens.zoom == 1 && part(at: now + 1) == .unit)
        show(for: 4) { _ in [Self.face(0.4)] }
        #expect(part == there || abs(part.midX - there.midX) < 0.01)
    }

    @Test("shows faces as large as is wanted, and leaves the camera's own zoom alone")
    mutating func tightness() {
        var widths: [Double] = []
        for tightness in [0, 0.5, 1.0] {
            send(.set(\.cameras.back.framing, .off), at: now)
            send(.set(\.cameras.back.framingTightness, tightness), at: now)
            send(.set(\.cameras.back.framing, .calm), at: now)
            let number = state.cameras.back.lens.zoomNumber
            show(for: 5) { _ in [Self.face(0.5, height: 0.2)] }
            widths.append(part.width)
            #expect(state.cameras.back.lens.zoomNumber == number)
        }
        #expect(widths[0] == 1 && widths[1] < 0.8 && widths[2] == 0.5)
    }

    @Test("looks for faces while they are needed, and no longer")
    mutating func search() {
        #expect(state.faceSearch(.back) != nil && state.faceSearch(.front) == nil)
        let before = state
        send(.set(\.cameras.back.mirror, true), at: now)
        #expect(state.updates(after: .reset, from: before).contains(.findFaces(.back)))
        send(.set(\.cameras.back.framing, .off), at: now)
        #expect(state.faceSearch(.back) == nil)
        send(.set(\.cameras.back.metering, .face), at: now)
        #expect(state.faceSearch(.back) != nil)
        send(.consumed(false), .camera(.back, .closed), at: now)
        send(.node(nil, .graceOver), .camera(.back, .closed), at: now + 1)
        #expect(state.faceSearch(.back) == nil)
    }
}
