import Frames
import Testing

@testable import DualCamCore

@Suite("A camera's own zoom") struct ZoomDriveTests {
    /// Makes a camera follow `framing` until nothing moves, and returns the value read after each
    /// step. `take` is the device's rounding of a value.
    private func follow(
        _ framing: Framing,
        _ control: inout DeviceControl,
        factor: Double = 1,
        take: (_ written: Int, _ was: Int) -> Int = { written, _ in written }
    ) -> [(time: Timestamp, value: Int)] {
        var drive = ControlDrive()
        drive.follow(.zoom(ZoomRequest(framing: framing, factor: factor, number: 1)))
        drive.begin(control)
        var seen: [(Timestamp, Int)] = []
        var written = control.value
        for step in 0..<2000 {
            let now = at(Double(step) * ControlDrive.pace)
            if let value = drive.next(control, at: now) {
                written = value
                drive.write(value)
            }
            control.value = take(written, control.value)
            drive.see(control.value)
            #expect(!drive.isOthers)
            seen.append((now, control.value))
            if drive.isOver(control, at: now) { return seen }
        }
        Issue.record("it does not end")
        return seen
    }

    private func at(_ seconds: Double) -> Timestamp { Timestamp(seconds: 50 + seconds) }

    private func zoom(
        _ range: ClosedRange<Int> = 100...500,
        step: Int = 1,
        value: Int? = nil
    ) -> DeviceControl {
        let now = value ?? range.lowerBound
        return .init(id: 9, name: "zoom", purpose: .zoom, range: range, step: step, value: now)
    }

    private func framing(
        _ zoom: Double,
        from start: Double = 1,
        about middle: NormalizedPoint = .middle,
        in duration: Double
    ) -> Framing {
        var framing = Framing()
        framing.move(to: start, middle: .middle, at: at(-9), duration: 0)
        framing.move(to: zoom, middle: middle, at: at(0), duration: duration)
        return framing
    }

    @Test(arguments: [0, 0.25, 5])
    func itFollowsWhatIsSeenAndIsNeverAheadOfIt(duration: Double) {
        var control = zoom()
        let framing = framing(4, in: duration)
        let seen = follow(framing, &control)
        #expect(control.value == 400)
        var last = 100
        for (time, value) in seen {
            #expect(value >= last && Double(value) <= 1.05 * Double(last), "small steps")
            #expect(Double(value) / 100 <= framing.pose(at: time).zoom + 1e-6)
            last = value
        }
        // And back.
        let back = follow(self.framing(1, from: 4, in: duration), &control)
        #expect(control.value == 100 && back.map(\.value) == back.map(\.value).sorted(by: >))
    }

    @Test func itEndsWhereTheDeviceOrTheLensOrThePlaceEndsIt() {
        var control = zoom(100...300, step: 40)
        _ = follow(framing(9, in: 0), &control)
        #expect(control.value == 300)
        control = zoom(1...3)
        _ = follow(framing(2.9, in: 0), &control)
        #expect(control.value == 2, "what is seen has to be in the picture")
        control = zoom()
        _ = follow(framing(6, in: 0), &control, factor: 3)
        #expect(control.value == 200)
        control = zoom()
        let aside = framing(4, about: NormalizedPoint(x: 0.5, y: 0.3), in: 0)
        _ = follow(aside, &control)
        let share = Double(control.value) / 100
        #expect(abs(share - 0.5 / (0.2 + 0.125)) < 0.01)
        var shown = aside
        let wanted = aside.part(at: at(9))
        shown.magnify(.a, share, at: at(1))
        let part = shown.part(at: at(9))
        #expect(abs(part.width / share - wanted.width) < 1e-9, "the same field of view")
        #expect(abs((part.midY - 0.5) / share - (wanted.midY - 0.5)) < 1e-3, "and place")
    }

    @Test func aDeviceThatRoundsOrTakesItsTimeGetsThereAllTheSame() {
        var control = zoom()
        _ = follow(framing(3, in: 0.2), &control) { written, _ in written / 25 * 25 }
        #expect(control.value == 300)
        for rounded in [{ ($0 + 24) / 25 * 25 }, { ($0 + 12) / 25 * 25 }] as [(Int) -> Int] {
            control = zoom()
            _ = follow(framing(3, in: 0.2), &control) { written, _ in rounded(written) }
            #expect(control.value == 300)
        }
        // A motor that runs on for a while when its direction changes.
        control = zoom()
        var drive = ControlDrive()
        drive.follow(.zoom(ZoomRequest(framing: framing(3, in: 0), factor: 1, number: 1)))
        drive.begin(control)
        control.value = 200
        drive.write(210)
        drive.see(200)
        drive.follow(.zoom(ZoomRequest(framing: framing(1, in: 0), factor: 1, number: 2)))
        drive.write(190)
        drive.see(207)
        #expect(!drive.isOthers)
        // A motor that moves by 1 per step, whatever the request.
        control = zoom()
        _ = follow(framing(1.5, in: 0), &control) { written, was in was + (written - was).signum() }
        #expect(control.value == 150)
        // A motor that takes no value at all.
        control = zoom()
        _ = follow(framing(3, in: 0), &control) { _, was in was }
        #expect(control.value == 100)
    }

    @Test func whatAnotherProgramSetsIsKeptAndPutBackInTheEnd() {
        var drive = ControlDrive()
        let (control, time) = (zoom(value: 130), at(0))
        drive.begin(control)
        #expect(drive.isOthers && drive.next(control, at: time) == nil)
        drive.follow(.zoom(ZoomRequest(framing: framing(3, in: 0), factor: 1, number: 1)))
        #expect(!drive.isOthers && drive.next(control, at: time) == 136 && drive.home == 130)
        drive.write(136)
        drive.see(133)
        #expect(!drive.isOthers, "it is on its way")
        for _ in 0..<4 { drive.see(136) }
        #expect(!drive.isOthers)
        drive.see(200)
        #expect(
            drive.isOthers && drive.home == 200 && drive.next(zoom(value: 200), at: time) == nil
        )
    }

    @Test func whatIsNotTakenStaysAndIsNoWishOfAnother() {
        var drive = ControlDrive()
        let (control, time) = (zoom(value: 130), at(0))
        drive.follow(.zoom(ZoomRequest(framing: framing(3, in: 0), factor: 1, number: 1)))
        drive.begin(control)
        drive.giveUp()
        #expect(!drive.isOthers && drive.home == 130)
        #expect(drive.next(control, at: time) == nil && drive.isOver(control, at: time))
        drive.follow(.zoom(ZoomRequest(framing: framing(2, in: 0), factor: 1, number: 2)))
        #expect(drive.next(control, at: time) == 136, "another one is tried")
        drive.giveUp()
        drive.see(180)
        #expect(drive.isOthers && drive.home == 180)
    }

    @Test(arguments: [0...500, 1...16384, 7...7])
    func aControlThatCountsSomethingElseIsNotUsed(range: ClosedRange<Int>) {
        var controls = CameraControls()
        controls.read([zoom(range, value: range.upperBound)])
        #expect(controls.zoomControl == nil && controls.magnification == 1)
        controls.read([zoom(value: 250)])
        #expect(controls.magnification == 2.5 && controls.mostMagnification == 5)
    }

    @Test func aPictureTakenBeforeAStepIsShownAsItIs() {
        var framing = framing(4, in: 0)
        framing.magnify(.a, 2, at: at(1))
        framing.magnify(.a, 2.1, at: at(1.04))
        func width(_ taken: Double) -> Double { framing.part(at: at(2), taken: at(taken)).width }
        #expect(width(0.9) == 0.25 && width(1.02) == 0.5 && width(1.05) == 2.1 / 4)
        #expect(framing.part(at: at(2)).width == 2.1 / 4)
    }
}
