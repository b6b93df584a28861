import Frames
import Testing

@testable import DualCamCore

@Suite("What survives a restart")
struct SavedStateTests {
    private func state() -> State {
        State.withTwoCameras()
    }

    @Test func isReadAsItWasWritten() throws {
        var before = state()
        var style = SceneStyle()
        style.layout = .stacked
        style.insetCorner = .bottomLeft
        style.insetSize = 0.3
        before.scene.setStyle(style, at: .zero)
        before.scene.setSwapped(true, at: .zero)
        before.pro.isEnabled = true
        before.pro.dial = .whiteBalance
        var manual = ManualControls()
        manual.iso = 400
        manual.shutter = 4000
        manual.focus = 0.05
        manual.whiteBalance = .preset(.shade)
        manual.compensation = -0.5
        before.manualControls["v4l2:usb-\"a\\b\u{7}ü"] = manual
        before.cameras.back.identity = "v4l2:desk"
        var other = ManualControls()
        other.iso = 800
        other.holdsShutter = true
        other.whiteBalance = .kelvin(5600)
        before.cameras.back.controls = CameraControls(manual: other)
        _ = reduce(
            &before,
            .lens(.back, .setZoom(2.5, middle: nil, duration: 0)),
            at: .zero
        )
        let saved = SavedState(before)
        let read = try SavedState(parsing: saved.text)
        #expect(read == saved)

        var after = state()
        read.restore(&after)
        #expect(SavedState(after) == saved)
        // The camera gets its manual values back when it appears.
        _ = reduce(&after, .camera(.back, .identified("v4l2:desk")), at: .zero)
        #expect(after.cameras.back.controls.manual == other)
        #expect(after.cameras.back.lens.zoom == 2.5)
        #expect(after.scene.framings.back.zoom == 2.5)
        // And it keeps them while another camera has the role.
        _ = reduce(&after, .camera(.back, .identified("v4l2:else")), at: .zero)
        #expect(after.cameras.back.controls.manual.isAutomatic)
        #expect(SavedState(after) == saved)
    }

    @Test(arguments: [
        "", "layout = \"round\"", "inset-size = 7.0\npro = 3", "cameras = 4",
        "[cameras.x]\niso = -4\nshutter = 0\nfocus = 2.0\nwhite-balance = \"moon\"\ncompensation = 9.0",
        "[cameras.x]\nwhite-balance = 100", "[cameras.x]\nzoom = 0.0",
    ])
    func whatMakesNoSenseIsAsAtFirst(text: String) throws {
        var read = try SavedState(parsing: text)
        read.manualControls = read.manualControls.filter { !$0.value.isAutomatic }
        #expect(read == SavedState(state()))
    }

    @Test func whatIsNoDocumentIsNothing() {
        #expect(throws: ConfigurationError.self) { try SavedState(parsing: "swapped = = 1") }
    }
}
