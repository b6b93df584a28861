import DualCamCore
import Frames
import Testing
import ViewCore

/// The stream of 16:9 in a window of its shape, with the inset at the top right.
private let areas = SceneLook().areas(aspect: 16.0 / 9)
private let viewport = Viewport(aspect: 16.0 / 9, size: Size(width: 480, height: 270))
private let onInset = (x: 0.85, y: 0.15)
private let onMain = (x: 0.3, y: 0.5)

@Suite struct HandTests {
    private func wishes(
        _ count: Int = 1,
        from point: (x: Double, y: Double),
        by moves: [(x: Double, y: Double)],
        _ areas: PictureAreas = areas
    ) -> [Hand.Wish] {
        var hand = Hand()
        hand.press(count, x: point.x, y: point.y, areas)
        var wishes: [Hand.Wish] = []
        for move in moves { wishes += hand.move(x: move.x, y: move.y, areas) }
        let last = moves.last ?? (0, 0)
        return wishes + hand.release(x: last.x, y: last.y, areas)
    }

    @Test func `A click on the inset swaps, and one on the main picture does nothing`() {
        #expect(wishes(from: onInset, by: []) == [.swap])
        #expect(wishes(from: onMain, by: []) == [])
    }

    @Test func `A hand that trembles still clicks`() {
        #expect(wishes(from: onInset, by: [(3, 2), (-2, 4)]) == [.swap])
    }

    @Test func `The second of two quick clicks resets, wherever it is`() {
        #expect(wishes(2, from: onInset, by: []) == [.reset])
        #expect(wishes(2, from: onMain, by: []) == [.reset])
        #expect(wishes(3, from: onInset, by: []) == [.swap])
    }

    @Test func `A dragged inset follows, and is dropped where the hand lets go`() {
        let wishes = wishes(from: onInset, by: [(-100, 50), (-200, 100)])
        let carried: [Hand.Wish] = [.carry(x: -100, y: 50), .carry(x: -200, y: 100)]
        #expect(wishes == [.lift] + carried + [.drop(x: -200, y: 100)])
    }

    // It is 120 × 67.5 units large, and may go 340.5 to the left and 183 down.
    @Test(
        arguments: [
            (-320.0, 170.0, true, 0.0, 1.0, 2), (-900, -10, true, 0, 0, 2), (0, 0, true, 1, 0, 2),
            (-170.25, 175, true, 0.5, 1, 1), (-170.25, 91.5, true, 0.5, 0.5, 0),
            (-25, 25, true, 1 - 25 / 340.5, 25.0 / 183, 0),
            (-23, 23, false, 1 - 23 / 340.5, 23.0 / 183, 0), (-900, 900, false, 0, 1, 2),
        ] as [(Double, Double, Bool, Double, Double, Int)]
    )
    func `It stays where it is dropped, in its room, but goes to an edge that is near`(
        x: Double,
        y: Double,
        snapping: Bool,
        placeX: Double,
        placeY: Double,
        edges: Int
    ) throws {
        let place = try #require(areas.place(movedBy: x, y, in: viewport, snapping: snapping))
        #expect(abs(place.x - placeX) < 0.001 && abs(place.y - placeY) < 0.001)
        #expect(areas.guides(at: place).count == edges)
        #expect((Corner(at: place) != nil) == (edges == 2))
        let moved = try #require(
            areas.place(from: place, movedBy: 0, 0, in: viewport, snapping: false)
        )
        #expect(abs(moved.x - place.x) < 1e-9 && abs(moved.y - place.y) < 1e-9)
    }

    @Test(arguments: [(0.0, 40.0), (0, -40), (40, 0), (-40, 0), (30, 30)])
    func `A drag begins in any direction`(x: Double, y: Double) {
        #expect(wishes(from: onInset, by: [(x, y)]).first == .lift)
        #expect(wishes(from: onMain, by: [(x, y)]) == [.moveWindow])
    }

    @Test func `A drag of the main picture moves the window, once`() {
        #expect(wishes(from: onMain, by: [(10, 0), (20, 0)]) == [.moveWindow])
    }

    @Test func `Two pictures side by side are not carried, but swap by a click`() {
        let areas = SceneLook().applying(["layout": .text("side-by-side")]).areas(aspect: 16.0 / 9)
        #expect(wishes(from: (0.75, 0.5), by: [], areas) == [.swap])
        #expect(wishes(from: (0.75, 0.5), by: [(-100, 0)], areas) == [])
    }

    @Test func `What turns out to be something else puts the inset back`() {
        var hand = Hand()
        hand.press(1, x: onInset.x, y: onInset.y, areas)
        _ = hand.move(x: -100, y: 0, areas)
        #expect(hand.isCarrying)
        #expect(hand.cancel() == [.putBack])
        #expect(hand.release(x: 0, y: 0, areas) == [])
    }

    @Test func `An inset that vanishes from the hand is put back`() {
        var hand = Hand()
        hand.press(1, x: onInset.x, y: onInset.y, areas)
        _ = hand.move(x: -100, y: 0, areas)
        let alone = PictureAreas(main: .unit, other: nil)
        #expect(hand.release(x: -100, y: 0, alone) == [.putBack])
    }

    @Test func `Sizes and zooms stay in their ranges, whatever the wheel says`() {
        func turned(_ start: Double, _ clicks: Double, _ shape: InsetShape) -> Double {
            Scaling(of: .inset, from: start, in: shape.sizes).value(clicks: clicks)
        }
        #expect(turned(0.25, -1, .circle) > 0.25)
        #expect(turned(0.25, -1000, .rectangle) == 0.5)
        #expect(turned(0.25, -1000, .person) == 1)
        #expect(turned(0.25, .nan, .person) == 0.1)
        let zoom = Scaling(of: .main(x: 0.5, y: 0.5), from: 1, in: 1...4)
        #expect(zoom.value(clicks: -100) == 4 && zoom.value(clicks: -1) > 1)
    }

    @Test func `Wheels and fingers size the inset, or zoom the main picture about their place`() {
        let inset = PictureAreas(
            main: .unit,
            other: Rect(x: 0.7, y: 0.1, width: 0.25, height: 0.25)
        )
        #expect(inset.grip(x: 0.8, y: 0.2) == .inset)
        #expect(inset.grip(x: 0.25, y: 0.5) == .main(x: 0.25, y: 0.5))
        #expect(inset.grip(x: -0.1, y: 0.5) == nil)
        let halves = PictureAreas(
            main: Rect(x: 0, y: 0, width: 0.5, height: 1),
            other: Rect(x: 0.5, y: 0, width: 0.5, height: 1)
        )
        #expect(halves.grip(x: 0.25, y: 0.5) == .main(x: 0.5, y: 0.5))
        // Beside the main picture the other one has no size of its own.
        #expect(halves.grip(x: 0.75, y: 0.5) == nil)
    }

    @Test func `A pinch counts from where it began, and ends with the range`() {
        let size = Scaling(of: .inset, from: 0.2, in: 0.1...0.5)
        #expect(abs(size.value(scale: 1.5) - 0.3) < 1e-9)
        #expect(size.value(scale: 1) == 0.2)
        #expect(size.value(scale: 0) == 0.1 && size.value(scale: 100) == 0.5)
        let zoom = Scaling(of: .main(x: 0.2, y: 0.2), from: 2, in: 1...4)
        let scales = [0.25, 1, 1.5, 9, -1, .nan, .infinity]
        #expect(scales.map { zoom.value(scale: $0) } == [1, 2, 3, 4, 1, 1, 1])
    }

    @Test func `A zoom keeps the point under the pointer, as far as the edges allow`() {
        var view = ZoomView(zoom: 1)
        view.magnify(to: 2, atX: 0.75, y: 0.5)
        // The point at 0.75 of the picture is now at 0.5 + (0.75 - x) * 2 of what is shown.
        #expect(abs(0.5 + (0.75 - view.x) * 2 - 0.75) < 1e-9)
        #expect(view.y == 0.5)
        view.magnify(to: 4, atX: 0, y: 0)
        #expect(view.x >= 0.125 && view.y >= 0.125)
        view.magnify(to: 1, atX: 1, y: 1)
        #expect(view.x == 0.5 && view.y == 0.5)
    }

    @Test func `A lens that sees more shows the whole picture, from which a zoom begins`() {
        var (whole, wide) = (ZoomView(zoom: 1), ZoomView(zoom: 0.5))
        whole.magnify(to: 2, atX: 0.6, y: 0.3)
        wide.magnify(to: 2, atX: 0.6, y: 0.3)
        #expect(wide == whole)
    }

    @Test func `A window of another shape shows all of the stream, and points stay true`() {
        let square = Viewport(aspect: 16.0 / 9, size: Size(width: 270, height: 270))
        #expect(abs(square.shown.width - 270) < 1e-9 && !square.covers)
        let point = square.point(x: 135, y: 135)
        #expect(abs(point.x - 0.5) < 1e-9 && abs(point.y - 0.5) < 1e-9)
        // A rounding is no other shape.
        #expect(Viewport(aspect: 16.0 / 9, size: Size(width: 481, height: 271)).covers)
    }
}

@Suite struct DialTests {
    @Test func `A slow hand turns one stop a notch, and a fast one more`() {
        var dial = DialWheel()
        let slow = (0..<16).reduce(0) { sum, _ in sum + dial.drag(1, seconds: 0.016) }
        #expect(slow == 1)
        var fast = DialWheel()
        let far = (0..<4).reduce(0) { sum, _ in sum + fast.drag(16, seconds: 0.016) }
        #expect(far > 10)
    }

    @Test func `Up is more and down is less`() {
        var dial = DialWheel()
        #expect(dial.drag(20, seconds: 1) == 1)
        #expect(dial.drag(-40, seconds: 1) == -2)
    }

    @Test func `At its end the dial gives a little, and resists the more the further it is pulled`()
    {
        var dial = DialWheel()
        dial.limit(isHigh: true)
        var offsets: [Double] = []
        for _ in 0..<10 {
            #expect(dial.drag(20, seconds: 0.1) == 0)
            offsets.append(dial.offset)
        }
        #expect(offsets == offsets.sorted())
        #expect(offsets.allSatisfy { $0 > 0 && $0 < DialWheel.give })
        #expect(offsets[1] - offsets[0] > offsets[9] - offsets[8])
    }

    @Test func `The way back from an end is free at once after the hand was lifted`() {
        var dial = DialWheel()
        dial.limit(isHigh: false)
        #expect(dial.drag(-50, seconds: 0.1) == 0)
        dial.release()
        #expect(dial.drag(20, seconds: 1) == 1)
        #expect(!dial.isAtEnd)
    }

    @Test func `Moves that make no sense turn nothing`() {
        var dial = DialWheel()
        #expect(dial.drag(.nan, seconds: 0.1) == 0)
        #expect(dial.drag(.infinity, seconds: 0.1) == 0)
        #expect(dial.drag(1e9, seconds: 0) == 50)
    }

    @Test func `Scales have their stops where the daemon says, and the value at the needle`() {
        var values = DialValues()
        values.iso = 400
        values.isISOAutomatic = false
        values.isoStops = [100, 125, 160, 200, 250, 320, 400]
        let scale = DialScale(.iso, values)
        #expect(scale.position == 6)
        #expect(scale.marks.compactMap(\.label) == ["100", "200", "400"])
        #expect(scale.current == "400" && scale.name == "ISO")
        #expect(DialScale(.focus, values).name == "Fixed focus")
        #expect(DialScale(.shutter, values).marks.isEmpty)
        values.kelvins = 2800...6500
        values.kelvin = 5500
        values.whiteBalance = "sunny"
        let balance = DialScale(.whiteBalance, values)
        #expect(balance.name == "White balance · Sunny" && balance.position == 35)
        #expect(balance.marks.compactMap(\.label) == ["3000", "4000", "5000", "6000"])
    }

    @Test(arguments: [Double.nan, .infinity, -.infinity, 1e308, -1e308, -0.1, 1.1])
    func `Scales end, whatever the bus says`(_ focus: Double) {
        var values = DialValues()
        values.focus = focus
        values.focusText = "1 m"
        values.iso = .max
        values.isoStops = Array(repeating: .max, count: 100_000)
        values.shutter = .max
        values.shutterStops = Array(repeating: .max, count: 100_000)
        values.kelvins = 0...Int(UInt32.max)
        values.kelvin = Int(UInt32.max)
        for dial in Dial.allCases {
            #expect(DialScale(dial, values).marks.count <= 401)
            #expect(!values.text(dial).isEmpty)
        }
        #expect(DialScale(.focus, values).position == nil)
    }

    @Test(
        "A lens's button is short",
        arguments: [
            (0.5, ".5"), (1, "1"), (2, "2"), (3.4999, "3.5"), (.nan, "nan"), (.infinity, "inf"),
            (-.infinity, "-inf"), (1e308, "1e+308"), (0x1p63, "9.223372036854775807e+18"),
        ]
    )
    func factors(_ factor: Double, _ text: String) {
        let found = LensFactor.text(factor)
        #expect(found == text || (factor > 1e9 && !found.isEmpty))
    }

    @Test func `Areas that no stream has are not taken`() {
        let whole = [0.0, 0, 1, 1]
        let inset = [0.7, 0.1, 0.2, 0.2]
        #expect(PictureAreas(main: whole, other: inset, room: whole)?.hasInset == true)
        #expect(PictureAreas(main: whole, other: [0, 0, 0, 0], room: whole)?.other == nil)
        for number in [Double.nan, .infinity, -.infinity, 1e308, -1e308, 0x1p63] {
            for index in 0..<4 {
                var odd = inset
                odd[index] = number
                #expect(PictureAreas(main: whole, other: odd, room: whole) == nil)
                #expect(PictureAreas(main: odd, other: inset, room: whole) == nil)
            }
        }
        for odd in [[], [0, 0, 1], [0, 0, -1, 1], [0, 0, 1, -1]] as [[Double]] {
            #expect(PictureAreas(main: odd, other: inset, room: whole) == nil)
        }
        for size in [Double.nan, .infinity, 1e308, -1] {
            let look = SceneLook().applying(["inset-size": .double(size)])
            let areas = look.areas(aspect: Viewport.aspect(width: .max, height: 1))
            #expect(areas.other?.width == 0.25)
        }
    }

    @Test(
        "A stream has a shape that a window can have",
        arguments: [
            (1280, 720, 16.0 / 9), (0, 720, 16.0 / 9), (.max, 1, 10), (1, .max, 0.1),
            (0, 0, 16.0 / 9),
        ] as [(UInt32, UInt32, Double)]
    )
    func shapes(_ width: UInt32, _ height: UInt32, _ aspect: Double) {
        #expect(Viewport.aspect(width: width, height: height) == aspect)
    }
}

@Suite struct DialMotionTests {
    @Test func `A bump goes as far as the scale gives, and is back within 0.18 s`() {
        #expect(DialMotion.push(after: 0) == 0)
        #expect(DialMotion.push(after: 0.09) == DialWheel.give)
        #expect(DialMotion.push(after: 0.19) == nil)
    }
}

@Suite struct AnnouncedTests {
    private let rest = Announced(main: "back", camera: "Brio")

    private func said(_ change: (inout Announced) -> Void) -> [String] {
        var now = rest
        change(&now)
        return now.sentences(since: rest)
    }

    @Test func `What is as it was is not said`() {
        #expect(said { _ in } == [])
        #expect(rest.sentences(since: nil) == [])
    }

    @Test func `A swap, privacy, recordings and troubles are said`() {
        let swapped = said {
            $0.main = "front"
            $0.camera = "C920"
        }
        #expect(swapped == ["Main picture: front camera, C920"])
        #expect(said { $0.isRecording = true } == ["Recording started"])
        let isPrivate = said {
            $0.isPrivate = true
            $0.situation = "Privacy is on"
        }
        #expect(isPrivate == ["Privacy is on: both cameras are closed"])
        #expect(said { $0.situation = "No camera is plugged in" } == ["No camera is plugged in"])
        var recording = rest
        recording.isRecording = true
        var paused = recording
        paused.isPaused = true
        #expect(paused.sentences(since: recording) == ["Recording paused"])
        #expect(recording.sentences(since: paused) == ["Recording goes on"])
        #expect(rest.sentences(since: paused) == ["Recording ended"])
        #expect(rest.sentences(since: recording) == ["Recording ended"])
    }
}

@Suite struct SnappingTests {
    private let area = Rect(x: 0, y: 30, width: 1280, height: 770)

    @Test(
        arguments: [
            (790.0, 500.0, 784.0, 514.0), (30, 60, 16, 46), (400, 300, 400, 300),
            (-200, 400, 0, 400), (5000, -50, 784, 46),
        ]
    )
    func `A window goes to a near corner, and is never lost beyond an edge`(
        x: Double,
        y: Double,
        restX: Double,
        restY: Double
    ) {
        let rest = Snapping.rest(Rect(x: x, y: y, width: 480, height: 270), on: area)
        #expect(rest == Rect(x: restX, y: restY, width: 480, height: 270))
    }

    @Test func `A window goes to the corners of its own monitor`() {
        let monitors = [
            Rect(x: 0, y: 0, width: 1280, height: 800),
            Rect(x: 1280, y: 0, width: 1920, height: 1080),
        ]
        let free = Rect(x: 0, y: 30, width: 3200, height: 1050)
        func area(_ x: Double, _ y: Double) -> Rect {
            let window = Rect(x: x, y: y, width: 480, height: 270)
            return Snapping.area(around: window, monitors: monitors, free: free)
        }
        #expect(area(700, 400) == Rect(x: 0, y: 30, width: 1280, height: 770))
        #expect(area(1100, 400) == Rect(x: 1280, y: 30, width: 1920, height: 1050))
        // Below the smaller one there is nothing: it is the nearest.
        #expect(area(100, 900).width == 1280)
        #expect(Snapping.area(around: .unit, monitors: [], free: free) == free)
    }

    @Test func `Monitors may stand above each other`() {
        let (upper, lower) = (
            Rect(x: 0, y: 0, width: 1280, height: 800),
            Rect(x: 0, y: 800, width: 1280, height: 800)
        )
        let free = Rect(x: 0, y: 0, width: 1280, height: 1600)
        for (y, monitor) in [(100.0, upper), (700, lower), (1200, lower)] {
            let window = Rect(x: 100, y: y, width: 480, height: 270)
            let area = Snapping.area(around: window, monitors: [upper, lower], free: free)
            #expect(area == monitor, "at \(y)")
        }
    }

    @Test func `A window that grew as large as the screen shrinks into the corner that it had`() {
        let area = Rect(x: 0, y: 0, width: 1280, height: 800)
        let (small, large) = (Size(width: 480, height: 270), Size(width: 1280, height: 720))
        for corner in [
            Rect(x: 16, y: 16, width: 480, height: 270),
            Rect(x: 784, y: 514, width: 480, height: 270),
        ] {
            var anchor = Snapping.Anchor()
            let grown = anchor.resized(corner, to: large, on: area)
            let rest = anchor.resized(grown, to: small, on: area)
            #expect((rest.midX < area.midX) == (corner.midX < area.midX))
            #expect((rest.midY < area.midY) == (corner.midY < area.midY))
        }
    }

    @Test func `A window keeps the stream's shape at any size that the screen has room for`() {
        let room = Size(width: 1280, height: 770)
        func shaped(_ width: Int, _ height: Int, _ aspect: Double) -> Size {
            Snapping.shaped(Size(width: width, height: height), aspect: aspect, room: room)
        }
        #expect(shaped(640, 500, 16.0 / 9) == Size(width: 640, height: 360))
        #expect(shaped(10, 10, 16.0 / 9) == Size(width: 200, height: 113))
        #expect(shaped(4000, 100, 16.0 / 9) == Size(width: 1280, height: 720))
        #expect(shaped(600, 100, 9.0 / 16) == Size(width: 433, height: 770))
    }
}

@Suite struct LibraryItemTests {
    @Test func `All that belongs to a live photo is moved with it`() {
        let photo = LibraryItem(path: "/a.jpg", uri: "file:///a.jpg", kind: .photo)
        #expect(photo.files == ["/a.jpg"])
        var live = photo
        live.movie = "/a.mkv"
        #expect(live.files == ["/a.jpg", "/a.mkv"])
    }
}

@Suite struct SituationTests {
    private func knowledge(_ change: (inout Knowledge) -> Void) -> Situation? {
        var knowledge = Knowledge()
        knowledge.daemon = .present
        knowledge.cameras = [
            .init(state: "streaming", interruption: "none"),
            .init(state: "streaming", interruption: "none"),
        ]
        change(&knowledge)
        return knowledge.situation
    }

    @Test func `A live picture needs no words`() { #expect(knowledge { _ in } == nil) }

    @Test func `Each trouble has its words, and a button where one helps`() {
        let cases: [((inout Knowledge) -> Void, String, Situation.Remedy?)] = [
            ({ $0.hasBus = false }, "Not in a desktop session", nil),
            ({ $0.daemon = .absent }, "DualCam is not running", .start),
            ({ $0.daemon = .starting }, "Starting DualCam…", nil),
            ({ $0.daemon = .failed("x") }, "DualCam does not start", .start),
            ({ $0.isActive = false }, "The stream is stopped", .start),
            ({ $0.hasPipeWire = false }, "No connection to the desktop", nil),
            ({ $0.isPossible = false }, "No connection to the desktop", nil),
            ({ $0.isPrivate = true }, "Cameras are off", .endPrivacy),
            ({ $0.daemon = .silent }, "DualCam does not answer", .restart),
            (
                {
                    $0.cameras = [
                        .init(state: "unavailable", interruption: "unplugged"),
                        .init(state: "unavailable", interruption: "none"),
                    ]
                }, "No camera: plug one in", .addPhone
            ),
            (
                { $0.cameras[1] = .init(state: "interrupted", interruption: "busy", name: "C920") },
                "C920 is in use by another program", nil
            ),
            (
                { $0.cameras[0] = .init(state: "interrupted", interruption: "denied") },
                "A camera may not be opened", .explain
            ),
        ]
        for (change, title, remedy) in cases {
            let situation = knowledge(change)
            #expect(situation?.title == title)
            #expect(situation?.remedy == remedy)
        }
    }

    @Test func `Without a camera the stream is not possible, and that is no fault of PipeWire's`() {
        let none = Knowledge.Camera(state: "unavailable", interruption: "none")
        let situation = knowledge {
            $0.isPossible = false
            $0.cameras = [none, none]
        }
        #expect(situation?.title == "No camera: plug one in")
    }

    @Test func `For cameras that the configuration names and nobody has, others can be chosen`() {
        let wrong = Knowledge.Camera(state: "unavailable", interruption: "not-found")
        let none = Knowledge.Camera(state: "unavailable", interruption: "none")
        #expect(knowledge { $0.cameras = [wrong, wrong] }?.remedy == .choose)
        // The other one is taken from what is plugged in.
        #expect(knowledge { $0.cameras = [wrong, none] }?.title == "No camera: plug one in")
    }

    @Test func `No words in the window are commands for a terminal`() {
        #expect("No ISO here. Try `dualcamctl ev +1`.".withoutCommands == "No ISO here.")
        #expect("Zoom is 1.5. It stays.".withoutCommands == "Zoom is 1.5. It stays.")
        #expect("Try `this`.".withoutCommands == "Try this.")
    }

    @Test func `The program that holds a camera is named`() {
        let situation = knowledge {
            $0.cameras[1] = .init(
                state: "interrupted",
                interruption: "busy",
                name: "C920",
                holder: "cheese"
            )
        }
        #expect(situation?.title == "C920 is in use by cheese")
    }

    @Test func `One camera of two that is unplugged is left to the picture`() {
        #expect(
            knowledge { $0.cameras[1] = .init(state: "interrupted", interruption: "unplugged") }
                == nil
        )
    }

    @Test func `Each key does one thing, and is told in the list`() {
        #expect(Set(Command.keys.map(\.key)).count == Command.keys.count)
        #expect(Command(key: "space") == .swap)
        #expect(Command(key: "P") == .togglePro)
        #expect(Command(key: "F1") == .help)
        #expect(Command(key: "Alt+Right") == .moveInset(x: 8, y: 0))
        #expect(Command(key: "Alt+Shift+Up") == .moveInset(x: 0, y: -1))
        #expect(Command(key: "Alt+Shift+plus") == .resizeInset(1))
        #expect(Command(key: "Alt+space") == nil)
        #expect(Command(key: "KP_3") == .scene(3))
        #expect(Command(key: "Shift_L") == nil)
    }
}
