import Frames
import Testing

@testable import DualCamCore

@Suite("A request for pictures") struct CaptureRequestTests {
    private let configuration = {
        var configuration = Configuration()
        configuration.output.size = Size(width: 1280, height: 720)
        configuration.output.frameRate = 25
        configuration.cameras.front.capture = .auto
        return configuration
    }()

    @Test(
        "fills the whole output, lying or standing as the camera is mounted",
        arguments: [(0, false), (90, true), (180, false), (270, true)]
    )
    func size(rotation: Int, isOnItsSide: Bool) {
        var state = State.withTwoCameras()
        state.cameras.front.rotation = rotation
        let request = state.captureRequest(for: .front, configuration)
        #expect(
            request.size
                == (isOnItsSide ? Size(width: 720, height: 1280) : configuration.output.size)
        )
        #expect(request.rate == 25 && request.mode == .auto)
        #expect(state.captureRequest(for: .back, configuration).size == configuration.output.size)
    }

    @Test("gives bandwidth up step by step, but for a photograph of the largest size")
    func reduction() {
        var state = State.withTwoCameras()
        state.cameras.back.reduction = 2
        #expect(state.captureRequest(for: .back, configuration).reduction == 2)
        #expect(state.captureRequest(for: .front, configuration).reduction == 0)
        #expect(!state.captureRequest(for: .back, configuration).isFull)
        for full in [CameraState.Full.asked, .on] {
            state.cameras.back.full = full
            let request = state.captureRequest(for: .back, configuration)
            #expect(request.isFull && request.reduction == 0)
        }
    }
}

@Suite("The lenses of the configuration") struct ConfiguredLensesTests {
    private let own = Self.use("own")
    private let tele = Self.use("tele").absent

    private static func use(_ name: String) -> SourceUse {
        SourceUse(CameraDevice(path: "/dev/\(name)", name: name, identity: name))
    }

    private func lenses(
        _ lenses: [(String, Double, SourceSpecification?)],
        own: SourceUse? = nil
    ) -> [Lens] {
        var camera = Configuration().cameras.back
        camera.lenses = lenses.map { .init(name: $0, factor: $1, source: $2) }
        return camera.lenses(of: own ?? self.own) { source in
            switch source {
            case .v4l2("tele"): tele
            // The camera's own device by its name.
            case .v4l2("own"): self.own.absent
            default: nil
            }
        }
    }

    private func lens(_ name: String, _ factor: Double, _ device: SourceUse, by: Double) -> Lens {
        Lens(
            name: name,
            factor: factor,
            device: device.identity,
            deviceFactor: by,
            isThere: device.isThere
        )
    }

    private var wide: Lens { lens("wide", 1, own, by: 1) }

    @Test("are the camera alone where there are none")
    func none() {
        #expect(lenses([]) == [wide])
        #expect(lenses([], own: own.absent) == [lens("wide", 1, own.absent, by: 1)])
    }

    @Test func `are devices of their own, or steps of the camera's`() {
        #expect(
            lenses([("a", 2, nil), ("b", 3, .v4l2("tele"))])
                == [lens("a", 2, own, by: 1), lens("b", 3, tele, by: 3), wide]
        )
    }

    @Test("have the camera as it is once, whatever it is called")
    func named() {
        #expect(lenses([("normal", 1, nil)]) == [lens("normal", 1, own, by: 1)])
        #expect(lenses([("mine", 0.5, .v4l2("own"))]) == [lens("mine", 0.5, own, by: 1)])
        #expect(lenses([("x", 1, .v4l2("tele"))]) == [lens("x", 1, tele, by: 1), wide])
    }

    @Test("leave out those whose device is unknown")
    func unknown() {
        #expect(lenses([("a", 2, .v4l2("none"))]) == [wide])
    }
}
