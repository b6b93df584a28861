import DualCamCore
import Frames
import Platform
import Testing

@testable import Capture

@Suite(.timeLimit(.minutes(5))) struct TestSourceTests {
    private let bell: Bell

    init() throws { bell = try Bell() }

    private let small = CaptureRequest(size: Size(width: 320, height: 180), rate: 100)

    private func open(
        _ name: String?,
        _ role: Role = .back,
        _ request: CaptureRequest? = nil
    )
        throws -> any CameraStream
    {
        try TestSource(name, role: role).open(request ?? small)
    }

    /// `config check` looks in the list of `DualCamCore`, which draws no pictures.
    @Test func thePicturesAreThoseOfTheConfiguration() {
        #expect(TestPicture.allCases.map(\.rawValue) == SourceSpecification.testPictures)
    }

    @Test("counters rise by one, at the rate asked for, on monotone timestamps")
    func counters() throws {
        let stream = try open("back")
        let first = try stream.frame(bell)
        var last = first
        for _ in 0..<50 {
            let frame = try stream.frame(bell)
            let arrival = MonotonicClock.now
            #expect(counter(of: frame) == Int(frame.sequence))
            let due = first.timestamp + Timestamp(seconds: Double(last.sequence + 1) / 100)
            // Frames are lost only when this thread could not run for more than three of them.
            #expect(frame.sequence == last.sequence + 1 || (arrival - due).seconds > 0.03)
            let span = Double(frame.sequence - first.sequence) / 100
            #expect(abs((frame.timestamp - first.timestamp).seconds - span) < 1e-6)
            #expect(arrival >= frame.timestamp)
            last = frame
        }
        #expect(last.sequence >= 50)
    }

    @Test func `frames that nobody fetched are counted, and the pace is kept`() throws {
        let stream = try open("ramp")
        let first = try stream.frame(bell)
        // Another 200 ms of the clock, spent on another wait.
        let quiet = try open("bars", .back, CaptureRequest(size: small.size, rate: 5))
        _ = try quiet.frame(bell)
        _ = try quiet.frame(bell)
        let late = try stream.frame(bell)
        #expect(late.sequence >= 19)
        #expect(counter(of: late) == Int(late.sequence))
        let span = (late.timestamp - first.timestamp).seconds
        #expect(abs(span - Double(late.sequence - first.sequence) / 100) < 1e-6)
    }

    @Test func `a bell wakes, a deadline ends the wait`() throws {
        let stream = try open("bars", .back, CaptureRequest(size: small.size, rate: 1))
        _ = try stream.frame(bell)
        bell.ring()
        let far = MonotonicClock.now + Timestamp(seconds: 5)
        guard case .woken = try stream.next(until: far, bell: bell) else {
            Issue.record("not woken")
            return
        }
        let near = MonotonicClock.now + Timestamp(seconds: 0.02)
        guard case .timedOut = try stream.next(until: near, bell: bell) else {
            Issue.record("not timed out")
            return
        }
        #expect(MonotonicClock.now >= near)
    }

    @Test func `a frame that is held stays as it is; one too many is dropped`() throws {
        let stream = try open("front")
        var held: [Frame] = []
        for _ in 0..<6 { held.append(try stream.frame(bell)) }
        let far = MonotonicClock.now + Timestamp(seconds: 5)
        guard case .dropped = try stream.next(until: far, bell: bell) else {
            Issue.record("a seventh frame")
            return
        }
        #expect(held.map { counter(of: $0) } == held.map { Int($0.sequence) })
        #expect(Set(held.map(\.sequence)).count == 6)
        let last = held[5].sequence
        held.removeAll()
        #expect(try stream.frame(bell).sequence >= last + 2)
    }

    @Test("what moves leaves nothing behind", arguments: ["back", "front", "portrait"])
    func trails(name: String) throws {
        let stream = try open(name)
        var first: [[UInt8]] = []
        // Enough frames to fill each buffer twice, each compared with a newly drawn picture.
        for index in 0..<12 {
            let frame = try stream.frame(bell)
            let rows = (0..<frame.plane(0).rows).map { y in
                Array(
                    UnsafeBufferPointer(
                        start: frame.plane(0).row(y),
                        count: frame.plane(0).rowBytes
                    )
                )
            }
            if index == 0 { first = rows }
            let changed = zip(first, rows).reduce(0) { $0 + zip($1.0, $1.1).count { $0 != $1 } }
            #expect((index == 0) == (changed == 0))
            #expect(changed < frame.layout.size.area / 8)
        }
    }

    @Test func `pictures differ from each other and from their mirror images and turns`() throws {
        for name in ["back", "front", "bars", "ramp"] {
            let frame = try open(name).frame(bell)
            let size = frame.layout.size
            for transform in Transform.all where transform != .identity && !transform.swapsAxes {
                var difference = 0
                // Below the counter.
                for y in stride(from: 16, to: size.height - 16, by: 8) {
                    for x in stride(from: 0, to: size.width, by: 8) {
                        let other = transform.apply(toX: x, y: y, in: size)
                        difference += abs(pixel(frame, x, y)[0] - pixel(frame, other.x, other.y)[0])
                    }
                }
                let isRamp =
                    name == "ramp" && transform == Transform(mirrored: true, quarterTurns: 2)
                #expect((difference > size.area / 64 * 4) != isRamp, "\(name) \(transform)")
            }
        }
    }

    @Test("bars have the colours of BT.601, the ramp every level")
    func bars() throws {
        let size = Size(width: 640, height: 360)
        let frame = try open("bars", .back, CaptureRequest(size: size, rate: 60)).frame(bell)
        let expected = [
            [235, 128, 128], [210, 16, 146], [170, 166, 16], [145, 54, 34],
            [106, 202, 222], [81, 90, 240], [41, 240, 110], [16, 128, 128],
        ]
        for (index, color) in expected.enumerated() {
            #expect(pixel(frame, index * 80 + 40, 100) == color)
            #expect(pixel(frame, index * 80 + 2, 239) == color)
        }
        #expect(
            (0..<640).map { pixel(frame, $0, 300)[0] }
                == (0..<640).map { 16 + Int((219 * Double($0) / 639).rounded()) }
        )
        #expect(pixel(frame, 320, 300).dropFirst() == [128, 128])
    }

    @Test func `the size, the rate and the mode are as asked for`() throws {
        let size = Size(width: 64, height: 48)
        func mode(_ name: String, _ preference: CaptureModePreference) throws -> String {
            try TestSource(name, role: .back)
                .open(CaptureRequest(size: size, rate: 30, mode: preference)).mode.description
        }
        #expect(try mode("back", .auto) == "64x48@30/YU12")
        #expect(try mode("portrait", .auto) == "48x64@30/YU12")
        let wide = Size(width: 128, height: 32)
        #expect(try mode("bars", .mode(size: wide, rate: 7.5, format: nil)) == "128x32@7.5/YU12")
        #expect(throws: CaptureError.self) {
            try mode("bars", .mode(size: wide, rate: 7.5, format: .mjpg))
        }
        let odd = Size(width: 127, height: 32)
        #expect(throws: CaptureError.self) {
            try mode("bars", .mode(size: odd, rate: 5, format: nil))
        }
    }

    @Test("a plain picture is the same without the counter", arguments: ["back", "bars"])
    func plain(name: String) throws {
        let block = FrameCounter.block(in: small.size)
        let (marked, plain) = (try open(name), try open("\(name)-plain"))
        let (with, without) = (try marked.frame(bell), try plain.frame(bell))
        func corner(_ frame: Frame) -> Set<Int> {
            Set((0..<16).map { pixel(frame, $0 * block + block / 2, block / 2)[0] })
        }
        #expect(corner(with).isSubset(of: [16, 235]))
        #expect(!corner(without).isSubset(of: [16, 235]))
        // No grey of the squares is left either: the second bar is yellow from the top row on.
        if name == "bars" { #expect(pixel(without, 60, 0) == pixel(without, 60, 20)) }
        #expect(pixel(without, 300, 3) == pixel(with, 300, 3))
        #expect(try TestSource("\(name)-plain", role: .back).identity == "test:\(name)-plain")
    }

    @Test func `a picture that is not there is refused by name`() {
        let error = #expect(throws: CaptureError.self) { try TestSource("bear", role: .back) }
        #expect(error?.description.contains("bear") == true)
        #expect(error?.description.contains("back, front, portrait, bars, ramp") == true)
        #expect(error?.code == .unsupported)
        #expect(throws: CaptureError.self) { try TestSource("bear-plain", role: .back) }
        #expect(throws: CaptureError.self) { try TestSource("-plain", role: .back) }
    }

    @Test(
        "the counter's squares fit and grow with the picture",
        arguments: [(1280, 720, 16), (1920, 1080, 24), (640, 480, 10), (320, 180, 8), (64, 48, 4)]
    )
    func squares(width: Int, height: Int, block: Int) {
        #expect(FrameCounter.block(in: Size(width: width, height: height)) == block)
    }
}
