import Frames
import Glibc
import Testing

@testable import DualCamCore

@Suite("The light on a face") struct FaceMeteringTests {
    /// A camera in front of a face, which tells its luma two frames late.
    private struct Camera {
        var controls = CameraControls()
        var lamps = 0.0
        var mains = MainsFrequency.hz50
        var metering = FaceMetering()
        var lumas: [Double] = [150, 150, 150]
        var writes = 0

        /// `gamma` is that of its tones.
        init(gain: ClosedRange<Int>? = 0...255, gamma: Double = 2.2, isManual: Bool = true) {
            var device = [
                DeviceControl(
                    id: 1,
                    name: "mode",
                    kind: .menu,
                    purpose: .exposureMode,
                    range: 0...3,
                    menu: [.init(index: 1, name: "manual"), .init(index: 3, name: "auto")],
                    value: 3
                ),
                DeviceControl(
                    id: 2,
                    name: "time",
                    purpose: .exposureTime,
                    range: 1...5000,
                    value: 100
                ),
            ]
            if let gain {
                device.append(
                    DeviceControl(id: 3, name: "gain", purpose: .gain, range: gain, value: 64)
                )
            }
            if !isManual { device = [] }
            controls.read(device)
            self.gamma = gamma
        }
        private let gamma: Double

        private func value(_ id: UInt32) -> Double {
            Double(controls.device.first { $0.id == id }?.value ?? 1)
        }
        /// The stops by which the face is too light.
        var error: Double {
            let gain = controls.sensitivity.map { controls.isoExactly($0.value, on: $0) } ?? 237.84
            let time = controls.device.isEmpty ? 1 : value(2) / 100
            return lamps + log2(time * gain / 237.84)
        }
        /// The same, as it is shown.
        var shownError: Double { error + controls.metered }
        private var luma: Double { min(255, 150 * pow(2, error / gamma)) }

        /// Looks for the face for so many seconds, and returns the errors shown on the way.
        mutating func run(from start: Double, for seconds: Double) -> [Double] {
            stride(from: start, to: start + seconds, by: 0.1).map { time in
                lumas = lumas.suffix(2) + [luma]
                guard Int((time * 10).rounded()) % 2 == 0 else { return shownError }
                guard let stops = metering.see(lumas[0], at: Timestamp(seconds: time)) else {
                    controls.meterInSoftware(
                        controls.metered == 0 ? 0 : FaceMetering.lack(of: lumas[0])
                    )
                    return shownError
                }
                let changes = controls.exposing(stops, mains: mains)
                controls.meterInSoftware(changes.isEmpty ? FaceMetering.lack(of: lumas[0]) : 0)
                guard !changes.isEmpty else { return shownError }
                var device = controls.device
                for change in changes {
                    for index in device.indices where device[index].id == change.id {
                        device[index].value = change.value
                    }
                }
                writes += changes.count
                controls.read(device)
                controls.isMetering = true
                return shownError
            }
        }
    }

    @Test(
        "is right a second after the lamps have changed, and does not swing",
        arguments: [-2, -1, -0.4, 0.4, 1, 2] as [Double],
        [1.8, 2.2, 3]
    )
    func lamps(_ lamps: Double, _ gamma: Double) {
        var camera = Camera(gamma: gamma)
        #expect(camera.run(from: 0, for: 2).allSatisfy { abs($0) < 0.02 })
        #expect(camera.writes == 0, "it is right already")
        camera.lamps = lamps
        let first = camera.run(from: 2, for: 1)
        let later = camera.run(from: 3, for: 20)
        #expect(later.allSatisfy { abs($0) <= 0.2 }, "\(first) \(later.prefix(9))")
        let writes = camera.writes
        #expect(writes < 12 && camera.run(from: 23, for: 60).allSatisfy { $0 == later.last })
        #expect(camera.writes == writes)
        // Nobody sees it swing to and fro.
        #expect(first.filter { $0 * lamps < -0.2 }.isEmpty, "\(first)")
    }

    @Test("is exposed for multiples of the lamps' flashes, and more only by gain")
    func flicker() {
        for (mains, half) in [(MainsFrequency.hz50, 100.0), (.hz60, 83.33)] {
            var camera = Camera()
            (camera.mains, camera.lamps) = (mains, -2)
            _ = camera.run(from: 0, for: 3)
            let time = Double(camera.controls.exposureTime?.value ?? 0)
            #expect(abs((time / half).rounded() - time / half) < 0.01 && time <= 334, "\(time)")
            camera.lamps = 4
            _ = camera.run(from: 3, for: 4)
            #expect((camera.controls.exposureTime?.value ?? 100) < 83, "in the sun")
        }
    }

    @Test("is made right by software where the camera has no gain, or no exposure")
    func software() {
        for (camera, lamps) in [(Camera(gain: nil), -0.5), (Camera(isManual: false), 0.8)] {
            var camera = camera
            camera.lamps = lamps
            _ = camera.run(from: 0, for: 1.5)
            #expect(camera.run(from: 1.5, for: 5).allSatisfy { abs($0) < 0.2 })
            #expect(camera.controls.metered != 0 && camera.controls.grade.light != 1)
            camera.lamps = 0
            _ = camera.run(from: 7, for: 3)
            #expect(abs(camera.shownError) < 0.2)
        }
    }

    @Test("is nobody's business where the exposure is set by hand")
    func hand() throws {
        var camera = Camera()
        #expect(!camera.controls.exposing(1, mains: .hz50).isEmpty)
        for command in [ControlCommand.shutter(4000), .compensation(1), .lock([.exposure])] {
            var controls = camera.controls
            controls.settle(try controls.plan(command), controls.device)
            #expect(!controls.mayMeter && controls.exposing(1, mains: .hz50).isEmpty)
        }
        // Another program had turned the automatic off before.
        var device = camera.controls.device
        device[0].value = 1
        camera.controls.read(device)
        #expect(camera.controls.exposing(1, mains: .hz50).isEmpty)
        // While it is ours, people see that it is automatic.
        camera.controls.isMetering = true
        #expect(camera.controls.isExposureAutomatic && camera.controls.isISOAutomatic)
    }
}
