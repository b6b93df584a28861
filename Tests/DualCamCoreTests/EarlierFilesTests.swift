import Frames
import Testing

@testable import DualCamCore

/// Files that people have from earlier versions mean the same, and are written again as they were.
@Suite("Files of earlier versions") struct EarlierFilesTests {
    /// What 0.1 wrote, which named no configured values.
    private static let state1 = """
        # What DualCam remembers; it writes this file itself.
        swapped = true
        layout = "stacked"
        inset-visible = false
        inset-corner = "bottom-left"
        inset-size = 0.3
        pro = true
        dial = "focus"

        [cameras."v4l2:usb-\\"a\\\\b\\u0007ü"]
        zoom = 2.0
        iso = 400
        shutter = 4000
        holds-shutter = true
        focus = 1.0
        white-balance = 5600
        compensation = -0.5

        """

    /// What 0.2 writes.
    private static let state2 = """
        # What DualCam remembers; it writes this file itself.
        swapped = true
        pro = true
        dial = "wb"
        orientation = "left-up"
        title = ["Ada \\"Lovelace\\"", "Engines"]
        title-corner = "top-right"
        layout = "stacked"
        inset-visible = false
        inset-corner = "bottom-left"
        inset-size = 0.3
        swap-icon = false
        background = "crop"
        hud = "always"
        live-photo = true

        [configured]
        layout = "pip"
        inset-visible = true
        inset-corner = "top-right"
        inset-size = 0.25
        swap-icon = true
        background = "auto"
        hud = "pro"
        live-photo = false

        [cameras."v4l2:desk"]
        mirror = true
        rotation = 180
        configured-mirror = false
        configured-rotation = 0
        ink = true
        configured-ink = false
        perspective = [[0.1, 0], [1, 0], [1, 1], [0, 0.9999999999999999]]
        configured-perspective = []
        zoom = 2.0
        iso = 400
        shutter = 4000
        focus = 1.0
        white-balance = "shade"
        compensation = -1.0

        [cameras."v4l2:lid"]
        mirror = true
        rotation = 90
        configured-mirror = true
        configured-rotation = 0
        zoom = 2.5

        """

    private func lines(_ text: String) -> [[String]] {
        text.split(separator: "\n\n").map { $0.split(separator: "\n").map(String.init).sorted() }
    }

    @Test func theStateOf02IsWrittenAsItWas() throws {
        #expect(lines(try SavedState(parsing: Self.state2).text) == lines(Self.state2))
        var state = State.withTwoCameras()
        try SavedState(parsing: Self.state2).restore(&state)
        #expect(lines(SavedState(state).text) == lines(Self.state2))
        for (role, name) in [(Role.back, "v4l2:desk"), (.front, "v4l2:lid")] {
            state.take(.assigned(role, id: name))
        }
        #expect(lines(SavedState(state).text) == lines(Self.state2))
        let back = state.cameras.back
        #expect(back.mirror && back.rotation == 180 && back.lens.zoom == 2)
        #expect(state.scene.perspectives.back.goal?.topLeft.x == 0.1)
        #expect(state.cameras.front.mirror && state.cameras.front.rotation == 90)
        #expect(state.cameras.front.lens.zoom == 2.5)
        #expect(state.scene.isSwapped && state.pro.isEnabled && state.pro.dial == .whiteBalance)
    }

    @Test func cornersThatAreConfiguredForATurnedCameraGuardTheOthers() throws {
        func page(_ inset: Double) throws -> Perspective {
            let outer = 1 - inset
            return try Perspective(
                [(inset, inset), (outer, inset), (outer, outer), (inset, outer)].map {
                    NormalizedPoint(x: $0, y: $1)
                }
            )
        }
        var state = State.withTwoCameras()
        var settings = state.configured
        settings.cameras.back.rotation = 180
        settings.cameras.back.perspective = try page(0.1)
        state.take(.configured(settings))
        let low = 0.09999999999999998
        let text = """
            [cameras."v4l2:desk"]
            perspective = [[0.2, 0.2], [0.8, 0.2], [0.8, 0.8], [0.2, 0.8]]
            configured-perspective = [[\(low), \(low)], [0.9, \(low)], [0.9, 0.9], [\(low), 0.9]]

            """
        try SavedState(parsing: text).restore(&state)
        state.take(.assigned(.back, id: "v4l2:desk"))
        #expect(state.scene.perspectives.back.goal?.topLeft.x == 0.2)
    }

    @Test func theStateOf01Counts() throws {
        var state = State.withTwoCameras()
        try SavedState(parsing: Self.state1).restore(&state)
        let style = state.scene.style
        #expect(style.layout == .stacked && !style.insetVisible && style.insetSize == 0.3)
        #expect(style.insetCorner == .bottomLeft && style.swapIcon)
        #expect(state.scene.isSwapped && state.pro.isEnabled && state.pro.dial == .focus)
        state.take(.assigned(.back, id: "v4l2:usb-\"a\\b\u{7}ü"))
        let manual = state.cameras.back.controls.manual
        #expect(manual.iso == 400 && manual.shutter == 4000 && manual.holdsShutter)
        #expect(manual.focus == 1 && manual.whiteBalance == .kelvin(5600))
        #expect(manual.compensation == -0.5 && state.cameras.back.lens.zoom == 2)
        #expect(state.cameras.front.mirror, "what it does not name is as configured")
    }

    /// What 0.2 writes of scenes, and a part that only a later version knows.
    private static let scenes2 = """
        # DualCam's scenes; it writes this file itself.
        removed = ["demo"]
        format = 2

        [[scene]]
        name = "a"
        main = "front"
        layout = "side-by-side"
        inset-visible = false
        inset-corner = "bottom-left"
        inset-size = 0.3
        swap-icon = false
        background = "crop"
        hud = "always"
        pro = true
        title = ["Ada", "Engines"]
        title-corner = "top-left"
        privacy = true
        [scene.back]
        rotation = 90
        mirror = true
        perspective = [[0.2, 0.1], [0.8, 0.15], [0.9, 0.9], [0.1, 0.85]]
        ink = true
        zoom = 2
        zoom-at = [0.4, 1]
        iso = 400
        shutter = "auto"
        focus = 1
        white-balance = 5600
        compensation = -0.5
        lock = ["exposure", "wb"]
        [scene.front]
        perspective = []
        iso = "auto"
        white-balance = "shade"
        lock = []

        [[scene]]
        name = "b"
        layout = "grid"
        title = []
        glow = { "odd key" = "\\u0007", of = ["x", 1, 2.0, true] }
        [scene.back]
        hue = -inf
        zoom = 1000.0

        """

    @Test func theScenesOf02AreWrittenAsTheyWere() throws {
        let book = try SceneBook(parsing: Self.scenes2)
        #expect(lines(book.text) == lines(Self.scenes2))
        #expect(try book.preset("a").unreadKeys == [])
        #expect(
            try book.preset("b").unreadKeys == ["glow", "layout", "back.hue", "back.zoom"]
        )
    }
}
