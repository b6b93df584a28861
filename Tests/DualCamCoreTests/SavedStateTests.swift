import Frames
import Testing

@testable import DualCamCore

@Suite("What survives a restart") struct SavedStateTests {
    private func state() -> State { State.withTwoCameras() }

    private static func page(_ inset: Double) -> Perspective {
        Perspective(
            topLeft: NormalizedPoint(x: inset, y: 0.1),
            topRight: NormalizedPoint(x: 0.9, y: 0.1),
            bottomRight: NormalizedPoint(x: 0.8, y: 0.9),
            bottomLeft: NormalizedPoint(x: 0.2, y: 0.9)
        )
    }

    @Test func isReadAsItWasWritten() throws {
        var before = state()
        var style = SceneStyle()
        style.layout = .stacked
        style.insetCorner = .bottomLeft
        style.insetSize = 0.3
        style.swapIcon = false
        style.background = .crop
        before.scene.setStyle(style, at: .zero)
        before.scene.setSwapped(true, at: .zero)
        before.pro.hud = .always
        before.takesLivePhotos = true
        before.orientation.mode = .leftUp
        before.pro.isEnabled = true
        before.pro.dial = .whiteBalance
        var manual = ManualControls()
        manual.iso = 400
        manual.shutter = 4000
        manual.focus = 0.05
        manual.whiteBalance = .preset(.shade)
        manual.compensation = -0.5
        before.title = try Title("Ada \"Lovelace\"\nEngines")
        before.titleCorner = .topRight
        before.manualControls["v4l2:usb-\"a\\b\u{7}ü"] = manual
        before.cameras.back.identity = "v4l2:desk"
        before.cameras.back.mirror = true
        before.cameras.back.rotation = 180
        for event in [CameraEvent.setInk(true), .setPerspective(Self.page(0.1))] {
            before.take(.camera(.back, event))
        }
        var other = ManualControls()
        other.iso = 800
        other.holdsShutter = true
        other.whiteBalance = .kelvin(5600)
        before.cameras.back.controls = CameraControls(manual: other)
        before.take(.lens(.back, .setZoom(2.5, middle: nil, duration: 0)))
        let saved = SavedState(before)
        let read = try SavedState(parsing: saved.text)
        #expect(read == saved)

        var after = state()
        read.restore(&after)
        #expect(SavedState(after) == saved)
        // The camera gets its manual values back when it appears.
        after.take(.identified(.back, "v4l2:desk"))
        #expect(after.cameras.back.controls.manual == other)
        #expect(after.cameras.back.lens.zoom == 2.5)
        #expect(after.scene.framings.back.zoom == 2.5)
        #expect(after.cameras.back.mirror && after.cameras.back.rotation == 180)
        #expect(after.cameras.back.isInk)
        #expect(after.perspective(of: .back) == before.perspective(of: .back))
        #expect(after.scene.scene(of: .back, at: .zero)[0].ink == 1, "at once")
        #expect(after.title == before.title && after.titleCorner == .topRight)
        // And it keeps them while another camera has the role.
        after.take(.identified(.back, "v4l2:else"))
        #expect(after.cameras.back.controls.manual.isAutomatic)
        #expect(!after.cameras.back.mirror && after.cameras.back.rotation == 0)
        #expect(!after.cameras.back.isInk && after.perspective(of: .back) == nil)
        #expect(SavedState(after) == saved)
    }

    @Test(arguments: [
        "", "layout = \"round\"", "inset-size = 7.0\npro = 3", "cameras = 4",
        "[cameras.x]\niso = -4\nshutter = 0\nfocus = 2.0\nwhite-balance = \"moon\"\ncompensation = 9.0",
        "[cameras.x]\nwhite-balance = 100", "[cameras.x]\nzoom = 0.0",
        "hud = 3\nswap-icon = \"x\"\norientation = \"up\"\nconfigured = 5",
        "[cameras.x]\nmirror = true\nrotation = 45\nconfigured-mirror = false\nconfigured-rotation = 0",
        "[cameras.x]\nink = 3\nconfigured-ink = true\nperspective = [[0, 0]]\n"
            + "configured-perspective = []",
        "[cameras.x]\nink = true\nperspective = []", "title = \"\\u202E\"\ntitle-corner = 3",
        "[cameras.x]\nmirror = true\nrotation = 0", "unknown = 1\n[other]\nx = 2",
    ])
    func whatMakesNoSenseIsAsAtFirst(text: String) throws {
        var read = try SavedState(parsing: text)
        read.manualControls = read.manualControls.filter { !$0.value.isAutomatic }
        #expect(read == SavedState(state()))
    }

    @Test func theSwapBeginsAnewUnlessItIsWanted() throws {
        let saved = try SavedState(parsing: "swapped = true\nlayout = \"single\"")
        var after = state()
        saved.restore(&after, swapping: false)
        #expect(!after.scene.isSwapped && after.scene.style.layout == .single)
        saved.restore(&after)
        #expect(after.scene.isSwapped)
    }

    @Test func whatTheConfigurationSaysAnewCounts() throws {
        var before = state()
        before.cameras.front.identity = "v4l2:lid"
        before.cameras.front.mirror = false
        var style = SceneStyle()
        (style.layout, style.swapIcon) = (.stacked, false)
        before.scene.setStyle(style, at: .zero)
        before.pro.hud = .off
        for event in [CameraEvent.setInk(true), .setPerspective(Self.page(0.1))] {
            before.take(.camera(.front, event))
        }
        let saved = try SavedState(parsing: SavedState(before).text)

        var after = state()
        after.configured.style.layout = .single
        after.configured.hud = .always
        after.pro.hud = .always
        after.scene.setStyle(after.configured.style, at: .zero)
        after.configured.mountings.front.rotation = 180
        after.cameras.front.rotation = 180
        after.configured.perspectives.front = Self.page(0.2)
        after.take(.camera(.front, .setPerspective(Self.page(0.2))))
        saved.restore(&after)
        #expect(after.scene.style.layout == .single && !after.scene.style.swapIcon)
        #expect(after.pro.hud == .always)
        after.take(.identified(.front, "v4l2:lid"))
        #expect(after.cameras.front.mirror && after.cameras.front.rotation == 180)
        // Each value by itself: nothing new is said of ink.
        let shown = try #require(after.perspective(of: .front))
        for (point, wanted) in zip(shown.points, Self.page(0.2).points) {
            #expect(abs(point.x - wanted.x) < 1e-9 && abs(point.y - wanted.y) < 1e-9)
        }
        #expect(after.cameras.front.isInk)
        // The same as configured is nothing to keep.
        #expect(SavedState(after).mountings.isEmpty && SavedState(after).scene.layout == nil)
    }

    @Test(arguments: [false, true])
    func resetGoesBackToTheConfiguration(isConfigured: Bool) throws {
        var changed = state()
        let page = isConfigured ? Self.page(0.2) : nil
        changed.configured.inks.back = isConfigured
        changed.configured.perspectives.back = page
        for event in [
            Event.identified(.back, "v4l2:desk"), .camera(.back, .setRotation(180)),
            .camera(.front, .setMirror(false)), .scene(.setSwapped(true, instantly: true)),
            .orientation(.set(.leftUp)), .pro(.setHud(.off)), .photographs(.setLive(true)),
            .lens(.back, .setZoom(2, middle: nil, duration: 0)),
            .identified(.back, "v4l2:else"),
            .lens(.back, .setZoom(3, middle: nil, duration: 0)),
        ] { changed.take(event) }
        #expect(changed.mountings["v4l2:desk"]?.value.rotation == 180)
        #expect(changed.zooms == ["v4l2:desk": 2])
        for role in Role.allCases {
            changed.take(.camera(role, .setInk(role == .front)))
            changed.take(.camera(role, .setPerspective(Self.page(0.1))))
        }
        changed.take(.scenes(.setTitle(try Title("x"))), .reset)
        #expect(SavedState(changed) == SavedState(state()))
        #expect(changed.cameras.front.mirror && changed.cameras.back.lens.zoom == 1)
        #expect(changed.cameras.back.isInk == isConfigured)
        #expect(changed.perspective(of: .back) == page)
        #expect(!changed.cameras.front.isInk && changed.perspective(of: .front) == nil)
    }

    @Test func aTurnThatWasSetBeforeThereWasACameraIsItsOwn() {
        var state = state()
        state.take(.camera(.front, .setMirror(false)), .identified(.front, "v4l2:lid"))
        #expect(!state.cameras.front.mirror)
        state.take(.identified(.front, ""))
        #expect(state.cameras.front.mirror)
        state.take(.identified(.front, "v4l2:lid"))
        #expect(!state.cameras.front.mirror)
        // In the other role another mounting is configured.
        state.take(.identified(.front, ""), .identified(.back, "v4l2:lid"))
        #expect(!state.cameras.back.mirror && SavedState(state).mountings.isEmpty)
    }

    @Test func whatIsNoDocumentIsNothing() {
        #expect(throws: ConfigurationError.self) { try SavedState(parsing: "swapped = = 1") }
    }
}
