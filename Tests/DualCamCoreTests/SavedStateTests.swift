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
        var absent = CameraSettings()
        absent.manual = manual
        before.kept["v4l2:usb-\"a\\b\u{7}ü"] = Kept(absent)
        before.cameras.back.identity = "v4l2:desk"
        before.cameras.back.mirror = true
        before.cameras.back.rotation = 180
        before.take(.set(\.cameras.back.isInk, true))
        before.take(.set(\.cameras.back.perspective, Self.page(0.1)))
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
        after.take(.assigned(.back, id: "v4l2:desk"))
        #expect(after.cameras.back.controls.manual == other)
        #expect(after.cameras.back.lens.zoom == 2.5)
        #expect(after.scene.framings.back.zoom == 2.5)
        #expect(after.cameras.back.mirror && after.cameras.back.rotation == 180)
        #expect(after.settings.cameras.back.isInk)
        #expect(after.perspective(of: .back) == before.perspective(of: .back))
        #expect(after.scene.scene(of: .back, at: .zero)[0].ink == 1, "at once")
        #expect(after.title == before.title && after.titleCorner == .topRight)
        // And it keeps them while another camera has the role.
        after.take(.assigned(.back, id: "v4l2:else"))
        #expect(after.cameras.back.controls.manual.isAutomatic)
        #expect(!after.cameras.back.mirror && after.cameras.back.rotation == 0)
        #expect(!after.settings.cameras.back.isInk && after.perspective(of: .back) == nil)
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
        "[scene]\ntitle = [\"a\"]\ntitle-corner = 3\nprivacy = 1",
        "[cameras.x]\nmirror = true\nrotation = 0", "unknown = 1\n[other]\nx = 2",
    ])
    func whatMakesNoSenseIsAsAtFirst(text: String) throws {
        #expect(try SavedState(parsing: text) == SavedState(state()))
    }

    @Test func wholeNumbersAreNumbers() throws {
        let saved = try SavedState(
            parsing: "inset-size = 0.5\n[cameras.x]\nzoom = 2\nfocus = 1\ncompensation = -1"
        )
        let camera = saved.cameras["x"]?.value
        #expect(camera?.zoom == 2 && camera?.manual.focus == 1 && camera?.manual.compensation == -1)
    }

    @Test func `a configured person keeps its size, and another shape does not`() throws {
        func state(_ shape: InsetShape) -> State {
            var state = self.state()
            var style = SceneStyle()
            (style.insetShape, style.insetSize) = (shape, 0.5)
            state.configured.scene.style = style
            state.scene.setStyle(style, at: .zero)
            return state
        }
        var before = state(.person)
        before.take(.set(\.scene.style.insetSize, 0.9))
        let saved = try SavedState(parsing: SavedState(before).text)
        #expect(saved == SavedState(before))
        for (shape, size) in [(InsetShape.person, 0.9), (.rectangle, 0.5)] {
            var after = state(shape)
            saved.restore(&after)
            #expect(after.scene.style.insetSize == size)
            #expect(after.scene.style.insetShape == shape)
        }
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
        before.take(.set(\.cameras.front.isInk, true))
        before.take(.set(\.cameras.front.perspective, Self.page(0.1)))
        let saved = try SavedState(parsing: SavedState(before).text)

        var after = state()
        after.configured.scene.style.layout = .single
        after.configured.scene.hud = .always
        after.pro.hud = .always
        after.scene.setStyle(after.configured.scene.style, at: .zero)
        after.configured.cameras.front.rotation = 180
        after.cameras.front.rotation = 180
        after.configured.cameras.front.perspective = Self.page(0.2)
        after.take(.set(\.cameras.front.perspective, Self.page(0.2)))
        saved.restore(&after)
        #expect(after.scene.style.layout == .single && !after.scene.style.swapIcon)
        #expect(after.pro.hud == .always)
        after.take(.assigned(.front, id: "v4l2:lid"))
        #expect(!after.cameras.front.mirror && after.cameras.front.rotation == 180)
        // Each value by itself: nothing new is said of ink.
        let shown = try #require(after.perspective(of: .front))
        for (point, wanted) in zip(shown.points, Self.page(0.2).points) {
            #expect(abs(point.x - wanted.x) < 1e-9 && abs(point.y - wanted.y) < 1e-9)
        }
        #expect(after.settings.cameras.front.isInk)
        // The same as configured is nothing to keep.
        #expect(!SavedState(after).text.contains("layout"))
        #expect(SavedState(after).text.contains("mirror = false\nrotation = 180\n"))
    }

    /// A configuration in which one key is another one than in the first.
    private static let changes: [@Sendable (inout Configuration) -> Void] = [
        { _ in }, { $0.scene.style.insetRadius = 40 }, { $0.scene.style.layout = .single },
        { $0.scene.style.insetSize = 0.4 }, { $0.scene.style.insetVisible = true },
        { $0.scene.style.swapIcon = true }, { $0.scene.hud = .off },
        { $0.capture.takesLivePhotos = false }, { $0.cameras.front.rotation = 90 },
        { $0.cameras.front.mirror = true }, { $0.cameras.front.isInk = false },
        { $0.cameras.front.perspective = page(0.2) }, { $0.scene.style.background = .blur },
    ]

    @Test(arguments: changes.indices)
    func aReloadAndARestartLeaveTheSame(_ number: Int) throws {
        var old = Configuration()
        old.cameras.front.isInk = true
        old.scene.style.insetVisible = false
        old.scene.style.swapIcon = false
        old.capture.takesLivePhotos = true
        old.cameras.front.mirror = false
        var new = old
        Self.changes[number](&new)
        func begin(_ configuration: Configuration) -> State {
            func camera(_ role: Role) -> CameraState {
                let camera = configuration.cameras[role]
                return CameraState(
                    source: camera.source,
                    mirror: camera.mirror,
                    rotation: camera.rotation
                )
            }
            var state = State(
                canvas: Size(width: 1280, height: 720),
                style: configuration.scene.style,
                cameras: PerRole(camera)
            )
            state.take(.configured(configuration.settings))
            return state
        }
        func plug(_ state: inout State) { state.take(.assigned(.front, id: "v4l2:lid")) }
        /// What people see of it.
        func look(_ state: State) -> String {
            let corners = state.perspective(of: .front)?.points.map { point in
                [point.x, point.y].map { ($0 * 1000).rounded() }
            }
            let (camera, isInk) = (state.cameras.front, state.settings.cameras.front.isInk)
            return "\(state.scene.style), \(state.pro.hud), \(state.takesLivePhotos), "
                + "\(camera.mirror), \(camera.rotation), \(isInk), \(corners ?? [])"
        }
        // Nothing, and all that commands set.
        for isSet in [false, true] {
            var reloaded = begin(old)
            plug(&reloaded)
            if isSet {
                var style = reloaded.scene.style
                (style.layout, style.insetSize, style.insetCorner) = (.stacked, 0.3, .bottomLeft)
                (style.insetVisible, style.swapIcon, style.background) = (true, true, .black)
                reloaded.take(.set(\.scene.style, style))
                reloaded.take(.set(\.scene.hud, .always))
                reloaded.take(.set(\.takesLivePhotos, false))
                reloaded.take(
                    .set(\.cameras.front.mirror, true),
                    .set(\.cameras.front.isInk, false),
                    .set(\.cameras.front.perspective, Self.page(0.1))
                )
            }
            let saved = try SavedState(parsing: SavedState(reloaded).text)
            let before = look(reloaded)
            for event in new.changes(from: old).events { reloaded.take(event) }
            var restarted = begin(new)
            saved.restore(&restarted)
            plug(&restarted)
            #expect(look(reloaded) == look(restarted), "set: \(isSet)")
            if number == 0 { #expect(look(reloaded) == before) }
        }
    }

    @Test(arguments: [false, true])
    func resetGoesBackToTheConfiguration(isConfigured: Bool) throws {
        var changed = state()
        let page = isConfigured ? Self.page(0.2) : nil
        changed.configured.cameras.back.isInk = isConfigured
        changed.configured.cameras.back.perspective = page
        for event in [
            Event.assigned(.back, id: "v4l2:desk"), .set(\.cameras.back.rotation, 180),
            .set(\.cameras.front.mirror, false), .scene(.setSwapped(true, instantly: true)),
            .set(\.orientation, .leftUp), .set(\.scene.hud, .off), .set(\.takesLivePhotos, true),
            .lens(.back, .setZoom(2, middle: nil, duration: 0)),
            .assigned(.back, id: "v4l2:else"),
            .lens(.back, .setZoom(3, middle: nil, duration: 0)),
        ] { changed.take(event) }
        #expect(changed.kept["v4l2:desk"]?.value.rotation == 180)
        #expect(changed.kept["v4l2:desk"]?.value.zoom == 2)
        for role in Role.allCases {
            changed.take(.set(\.cameras[role].isInk, role == .front))
            changed.take(.set(\.cameras[role].perspective, Self.page(0.1)))
        }
        changed.take(.set(\.title, try Title("x")), .reset)
        #expect(SavedState(changed) == SavedState(state()))
        #expect(changed.cameras.front.mirror && changed.cameras.back.lens.zoom == 1)
        #expect(changed.settings.cameras.back.isInk == isConfigured)
        #expect(changed.perspective(of: .back) == page)
        #expect(!changed.settings.cameras.front.isInk && changed.perspective(of: .front) == nil)
    }

    @Test func aTurnThatWasSetBeforeThereWasACameraIsItsOwn() {
        var state = state()
        state.take(.set(\.cameras.front.mirror, false), .assigned(.front, id: "v4l2:lid"))
        #expect(!state.cameras.front.mirror)
        state.take(.assigned(.front, nil))
        #expect(state.cameras.front.mirror)
        state.take(.assigned(.front, id: "v4l2:lid"))
        #expect(!state.cameras.front.mirror)
        // In the other role another mounting is configured.
        state.take(.assigned(.front, nil), .assigned(.back, id: "v4l2:lid"))
        #expect(!state.cameras.back.mirror && SavedState(state).cameras.isEmpty)
    }

    @Test func whatIsNoDocumentIsNothing() {
        #expect(throws: ConfigurationError.self) { try SavedState(parsing: "swapped = = 1") }
    }
}
