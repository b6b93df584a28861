import Frames
import Testing

@testable import DualCamCore

@Suite("The scene over time") struct SceneTests {
    static let canvas = Size(width: 1280, height: 720)

    func state(_ change: (inout SceneStyle) -> Void = { _ in }) -> SceneState {
        var style = SceneStyle()
        change(&style)
        return SceneState.both(Self.canvas, style)
    }

    func at(_ seconds: Double) -> Timestamp { Timestamp(seconds: 100 + seconds) }

    func layers(_ scene: Scene) -> [Layer] { scene.layers }

    func largest(of role: Role, _ layers: [Layer]) -> Rect {
        layers.filter { $0.role == role }.map(\.rect).max { $0.width < $1.width }
            ?? Rect(x: 0, y: 0, width: 0, height: 0)
    }

    @Test func atRestTheInsetStandsWhereTheMockUpHasIt() {
        let scene = state().scene(at: at(0))
        let layers = layers(scene)
        #expect(scene.backdrop == nil)
        #expect(layers.map(\.role) == [.back, .front])
        #expect(layers[0].rect == Rect(Self.canvas))
        let inset = layers[1]
        #expect(abs(inset.rect.width - 320) < 0.01 && abs(inset.rect.height - 180) < 0.01)
        #expect(abs(inset.rect.maxX - (1280 - 26)) < 0.01 && abs(inset.rect.y - 26) < 0.01)
        #expect(inset.corners == CornerRadii(12) && inset.borderWidth == 2)
        #expect(inset.borderOpacity == 0.85 && inset.shadowOpacity == 0.35)
        #expect(inset.iconOpacity == 1)
    }

    @Test(arguments: Corner.allCases)
    func theInsetKeepsItsMarginInEveryCorner(_ corner: Corner) {
        let inset = layers(state { $0.insetCorner = corner }.scene(at: at(0)))[1].rect
        let left = corner == .topLeft || corner == .bottomLeft
        let top = corner == .topLeft || corner == .topRight
        #expect(abs((left ? inset.x : 1280 - inset.maxX) - 26) < 0.01)
        #expect(abs((top ? inset.y : 720 - inset.maxY) - 26) < 0.01)
    }

    @Test func `an inset goes to its free place by the straight way, until it gets a corner`() {
        var scene = state { $0.insetCorner = .bottomLeft }
        var style = scene.style
        style.insetPosition = NormalizedPoint(x: 0.75, y: 0.5)
        #expect(style.insetCorner == .bottomRight)
        scene.setStyle(style, at: at(0))
        func inset(_ seconds: Double) -> Rect { layers(scene.scene(at: at(seconds)))[1].rect }
        #expect(abs(inset(0.15).x - (26 + 708) / 2) < 0.01)
        #expect(inset(1) == Rect(x: 708, y: 270, width: 320, height: 180))
        style.insetCorner = .bottomRight
        #expect(style.insetPosition == nil)
    }

    @Test(
        arguments: [Layout.sideBySide, .stacked],
        [
            Size(width: 640, height: 480), Size(width: 1280, height: 720),
            Size(width: 1920, height: 1080), Size(width: 720, height: 1280),
            Size(width: 164, height: 122),
        ]
    )
    func halvesFillTheCanvasButForAGap(_ layout: Layout, canvas: Size) {
        for background in [Background.auto, .crop] {
            var style = SceneStyle()
            style.layout = layout
            style.background = background
            let state = SceneState.both(canvas, style)
            let scene = state.scene(at: at(0))
            let layers = layers(scene)
            #expect(layers.map(\.role) == [.back, .front])
            #expect(scene.backdropOpacity == 0, "the gap is black")
            let (first, second) = (layers[0].rect, layers[1].rect)
            #expect((first.x, first.y) == (0, 0))
            #expect((second.maxX, second.maxY) == (Double(canvas.width), Double(canvas.height)))
            let isAcross = layout == .sideBySide
            let gap = isAcross ? second.x - first.maxX : second.y - first.maxY
            #expect(abs(gap - 8 * Double(canvas.height) / 720) <= 3 && gap > 0)
            for edge in [first.width, second.x, gap] {
                #expect(!isAcross || edge.remainder(dividingBy: 2) == 0)
            }
            let sizes = isAcross ? (first.width, second.width) : (first.height, second.height)
            #expect(abs(sizes.0 - sizes.1) <= (isAcross ? 2 : 1))
            for layer in layers { #expect(layer.fill == 1 && layer.borderOpacity == 0) }
            let radius = 12 * Double(canvas.height) / 720
            #expect(layers[0].corners.topLeft == 0 && layers[1].corners.bottomRight == 0)
            #expect(layers[0].corners.bottomRight == radius)
            #expect(layers[1].corners.topLeft == radius)
            #expect(layers[0].corners.topRight == (isAcross ? radius : 0))
        }
    }

    @Test(arguments: [Layout.sideBySide, .stacked], [false, true])
    func aSwapOfHalvesUncoversNothingButTheGaps(_ layout: Layout, isTurnedBack: Bool) {
        var state = state { $0.layout = layout }
        state.setSwapped(true, at: at(0))
        if isTurnedBack { state.setSwapped(false, at: at(0.2)) }
        let isAcross = layout == .sideBySide
        for step in 0...40 {
            let layers = layers(state.scene(at: at(Double(step) / 100)))
            // All lie in one row or column, and each covers the canvas the other way.
            var places = layers.map { layer in
                isAcross ? (layer.rect.x, layer.rect.maxX) : (layer.rect.y, layer.rect.maxY)
            }
            for layer in layers {
                #expect(layer.fill == 1 && layer.opacity == 1)
                #expect(isAcross ? layer.rect.height == 720 : layer.rect.width == 1280)
            }
            places.sort { $0.0 < $1.0 }
            #expect(places[0].0 < 8.01, "at \(step)")
            #expect(places.last?.1 ?? 0 > (isAcross ? 1272 : 712) - 0.01, "at \(step)")
            for (one, next) in zip(places, places.dropFirst()) {
                #expect(abs(next.0 - one.1 - 8) < 0.01, "at \(step)")
            }
        }
        #expect(
            layers(state.scene(at: at(1))).map(\.role)
                == (isTurnedBack ? [.back, .front] : [.front, .back])
        )
    }

    @Test func aHalfIsCroppedAboutThePlaceThatWasAskedFor() {
        var scene = state { $0.layout = .sideBySide }
        #expect(layers(scene.scene(at: at(0)))[1].source.place == .middle)
        // Without a zoom there is no room around the place; a crop finds it nevertheless.
        scene.framings.front.move(
            to: 1,
            middle: NormalizedPoint(x: 0.2, y: 0.5),
            at: at(0),
            duration: 1
        )
        let source = layers(scene.scene(at: at(1)))[1].source
        #expect(source.part == .unit && source.place == NormalizedPoint(x: 0.2, y: 0.5))
        let moving = layers(scene.scene(at: at(0.5)))[1].source.place
        #expect(abs(moving.x - 0.35) < 1e-9)
    }

    @Test(arguments: [Layout.sideBySide, .stacked], [Background.blur, .black])
    func splitLayoutsShowBothWholeAndApartIfAsked(_ layout: Layout, background: Background) {
        let scene = state {
            $0.layout = layout
            $0.background = background
        }.scene(at: at(0))
        let layers = layers(scene)
        #expect(scene.backdrop == .back)
        #expect(layers.count == 2)
        for layer in layers {
            #expect(abs(layer.rect.width / layer.rect.height - 16.0 / 9) < 0.01)
            #expect(layer.rect.x >= 11.9 && layer.rect.maxX <= 1268.1)
            #expect(layer.rect.y >= 11.9 && layer.rect.maxY <= 708.1)
        }
        let apart =
            layout == .sideBySide
            ? layers[1].rect.x - layers[0].rect.maxX : layers[1].rect.y - layers[0].rect.maxY
        #expect(apart >= 11.9)
    }

    @Test func aSwapGrowsTheInsetOverAWholePictureAndBringsTheOldOneBack() {
        var state = state()
        state.setSwapped(true, at: at(0))
        var lastWidth = 0.0
        var lastReturn = 0.0
        for step in 0...30 {
            let scene = state.scene(at: at(0.3 * Double(step) / 30))
            let layers = layers(scene)
            #expect(scene.backdrop == nil, "nothing is ever uncovered")
            if step < 30 {
                #expect(layers[0].role == .back && layers[0].rect == Rect(Self.canvas))
                #expect(layers[1].role == .front && layers[1].opacity == 1)
                #expect(layers[1].rect.width >= lastWidth)
                lastWidth = layers[1].rect.width
                #expect((layers.count == 3) == (step > 13), "the inset comes back from 45 %")
                if layers.count == 3 {
                    #expect(layers[2].role == .back && layers[2].opacity >= lastReturn)
                    lastReturn = layers[2].opacity
                }
            } else {
                #expect(layers.map(\.role) == [.front, .back])
            }
        }
        #expect(state.scene(at: at(0.3)) == state.scene(at: at(9)))
        #expect(!state.isMoving(at: at(0.3)))
    }

    @Test func halfWayTheBorderIsHalfGone() {
        var state = state()
        state.setSwapped(true, at: at(0))
        let growing = layers(state.scene(at: at(0.15)))[1]
        #expect(abs(growing.rect.width - 800) < 0.01)
        #expect(abs(growing.borderOpacity - 0.425) < 0.01)
    }

    @Test func aGrowingPictureStaysRoundUntilItsCornersReachThoseOfTheCanvas() {
        var state = state()
        state.setSwapped(true, at: at(0))
        var last = CornerRadii(12)
        for step in 1...300 {
            let layer = layers(state.scene(at: at(Double(step) / 1000))).last { $0.role == .front }
            guard let layer, layer.rect.width > 400 else { continue }
            // The corner farthest from the canvas's.
            let isNear = layer.rect.x < 24 && layer.rect.maxY > 720 - 24
            #expect(layer.corners.bottomLeft == 12 || isNear, "at \(step) ms")
            #expect(layer.corners.largest <= 12)
            #expect(abs(layer.corners.bottomLeft - last.bottomLeft) < 1, "no jump at \(step) ms")
            #expect(abs(layer.corners.topRight - last.topRight) < 1, "no jump at \(step) ms")
            last = layer.corners
        }
        #expect(layers(state.scene(at: at(0.3)))[0].corners == .none)
    }

    @Test(arguments: [0.03, 0.1, 0.15, 0.2, 0.29])
    func aSwapAskedAgainRunsBackFromWhereItIs(_ turn: Double) {
        var state = state()
        let rest = state.scene(at: at(0))
        state.setSwapped(true, at: at(0))
        let out = state.scene(at: at(turn - 0.02))
        let turned = state.scene(at: at(turn))
        state.setSwapped(false, at: at(turn))
        #expect(!state.isSwapped)
        #expect(state.scene(at: at(turn)) == turned, "no jump")
        let back = state.scene(at: at(turn + 0.02))
        #expect(layers(back).count == layers(out).count)
        for (a, b) in zip(layers(back), layers(out)) {
            #expect(abs(a.rect.width - b.rect.width) < 0.01, "at the same speed")
        }
        #expect(state.scene(at: at(2 * turn)) == rest)
        #expect(!state.isMoving(at: at(2 * turn)))
    }

    /// A swap while the pictures change places for another reason.
    @Test(arguments: [0.05, 0.12, 0.2], [0.04, 0.15, 0.28])
    func aSwapAskedAgainAfterAChangeOfLayoutDoesNotJump(_ swap: Double, _ turn: Double) {
        var state = state { $0.layout = .sideBySide }
        var style = state.style
        style.layout = .pip
        state.setStyle(style, at: at(0))
        state.setSwapped(true, at: at(swap))
        let turned = swap + turn
        let before = state.scene(at: at(turned))
        state.setSwapped(false, at: at(turned))
        #expect(state.scene(at: at(turned)) == before, "no jump")
        var last = layers(before)
        for step in 1...300 {
            let now = layers(state.scene(at: at(turned + Double(step) / 1000)))
            for role in Role.allCases {
                // The layer that is most visible; within a millisecond nothing moves far.
                let (a, b) = (largest(of: role, last), largest(of: role, now))
                #expect(abs(a.width - b.width) < 25 && abs(a.midX - b.midX) < 25, "at \(step)")
            }
            last = now
        }
        var rested = state
        rested.setStyle(style, at: at(9), instantly: true)
        #expect(state.scene(at: at(turned + 0.3 + 1e-6)) == rested.scene(at: at(99)))
    }

    @Test func aSwapAskedThriceGoesOnFromWhereItIs() {
        var state = state()
        state.setSwapped(true, at: at(0))
        state.setSwapped(false, at: at(0.2))
        state.setSwapped(true, at: at(0.25))
        let scene = state.scene(at: at(0.25))
        #expect(abs(layers(scene)[1].rect.width - 800) < 0.01, "at half way again")
        #expect(layers(state.scene(at: at(0.4))).map(\.role) == [.front, .back])
    }

    /// Every change of the style, at rest and in the middle of a swap.
    @Test(arguments: [0.0, 0.05, 0.15, 0.25], Layout.allCases)
    func noChangeJumps(_ turn: Double, _ layout: Layout) {
        var state = state()
        state.setSwapped(true, at: at(0))
        let before = state.arrangement(at: at(turn))
        var style = state.style
        style.layout = layout
        style.insetCorner = .bottomLeft
        state.setStyle(style, at: at(turn))
        let after = state.arrangement(at: at(turn))
        #expect(abs(before.mainPlace.rect.x - after.mainPlace.rect.x) < 0.01)
        #expect(abs(before.mainPlace.rect.width - after.mainPlace.rect.width) < 0.01)
        #expect(abs(before.otherPlace.opacity - after.otherPlace.opacity) < 0.01)
        let rest = state.arrangement(at: at(5))
        #expect(
            rest
                == Arrangement(resting: .front, style: style, showsOther: true, canvas: Self.canvas)
        )
    }

    @Test func hidingTheInsetFadesItAndASwapThenDissolves() {
        var state = state()
        var style = state.style
        style.insetVisible = false
        state.setStyle(style, at: at(0))
        let half = layers(state.scene(at: at(0.15)))
        #expect(half.count == 2 && abs(half[1].opacity - 0.5) < 0.01)
        #expect(layers(state.scene(at: at(1))).count == 1)
        state.setSwapped(true, at: at(2))
        let swap = layers(state.scene(at: at(2.15)))
        #expect(swap.map(\.role) == [.back, .front])
        #expect(swap[1].rect == Rect(Self.canvas) && abs(swap[1].opacity - 0.5) < 0.01)
    }

    @Test func aCameraAloneIsTheMainPictureWithNoInset() {
        var state = SceneState(
            canvas: Self.canvas,
            style: SceneStyle(),
            present: PerRole(back: false, front: true)
        )
        #expect(state.main == .front)
        #expect(layers(state.scene(at: at(0))).map(\.role) == [.front])
        state.setPresent(.back, true, at: at(1))
        #expect(state.main == .back)
        #expect(layers(state.scene(at: at(2))).map(\.role) == [.back, .front])
    }

    @Test func aVeilRisesAndFallsIn300Milliseconds() {
        var state = state()
        state.setNotice(.interrupted(.busy), of: .front, at: at(0))
        #expect(layers(state.scene(at: at(0)))[1].veil == 0)
        #expect(abs(layers(state.scene(at: at(0.15)))[1].veil - 0.5) < 0.01)
        let veiled = layers(state.scene(at: at(0.3)))[1]
        #expect(veiled.veil == 1 && veiled.iconOpacity == 0 && veiled.notice == .interrupted(.busy))
        #expect(layers(state.scene(at: at(0.3)))[0].veil == 0)
        state.setNotice(nil, of: .front, at: at(1))
        #expect(layers(state.scene(at: at(1.3)))[1].veil == 0)
    }

    @Test func everythingScalesWithTheCanvas() {
        let large = SceneState.both(Size(width: 1920, height: 1080))
        let inset = layers(large.scene(at: at(0)))[1]
        #expect(abs(inset.rect.width - 480) < 0.01)
        #expect(inset.corners == CornerRadii(18) && inset.borderWidth == 3)
    }
}

extension SceneTests {
    private func size(_ width: Int, _ height: Int) -> ShownExtent {
        ShownExtent(Size(width: width, height: height))
    }

    private func extents(_ scene: SceneState, _ time: Timestamp) -> PerRole<ShownExtent> {
        let extents = scene.extents(at: time)
        return PerRole(back: extents.back.a, front: extents.front.a)
    }

    @Test func picturesAreAskedForAsLargeAsTheyRest() {
        var pip = state()
        #expect(extents(pip, at(0)) == PerRole(back: size(1280, 720), front: size(320, 180)))
        pip.transforms.front = .clockwise90
        #expect(extents(pip, at(0)).front == size(180, 320))
        let hidden = state { $0.insetVisible = false }
        #expect(extents(hidden, at(0)) == PerRole(back: size(1280, 720), front: .hidden))
        let single = state { $0.layout = .single }
        #expect(extents(single, at(0)).front == .hidden)
        let split = extents(state { $0.layout = .sideBySide }, at(0))
        #expect(split.back == split.front && split.back.size?.width == 636)
        #expect(split.back.isCropped)
        let whole = extents(
            state {
                $0.layout = .sideBySide
                $0.background = .blur
            },
            at(0)
        )
        #expect(whole.back.size?.width == 622 && !whole.back.isCropped)
        let cropped = extents(state { $0.background = .crop }, at(0))
        #expect(cropped.back.isCropped && cropped.front.isCropped)
    }

    @Test func aPictureThatIsShownAloneIsAskedForWholeAndUndecorated() {
        var pip = state()
        pip.isAlone.front = true
        #expect(extents(pip, at(0)) == PerRole(back: size(1280, 720), front: size(1280, 720)))
        var single = state { $0.layout = .single }
        single.isAlone.front = true
        #expect(extents(single, at(0)).front == size(1280, 720))

        pip.transforms.front = Transform(mirrored: true)
        pip.setNotice(.interrupted(.privacy), of: .front, at: at(0), instantly: true)
        let alone = layers(pip.scene(of: .front, at: at(1)))
        #expect(alone.count == 1 && alone[0].rect == Rect(Self.canvas) && alone[0].opacity == 1)
        #expect(alone[0].corners == .none && alone[0].borderWidth == 0)
        #expect(alone[0].iconOpacity == 0)
        #expect(alone[0].transform == Transform(mirrored: true))
        #expect(alone[0].veil == 1 && alone[0].notice == .interrupted(.privacy))
        #expect(pip.scene(of: nil, at: at(1)) == pip.scene(at: at(1)))
    }

    @Test func aMagnifiedPictureIsAskedForLargerFromTheBeginningToTheEndOfItsZoom() {
        var scene = state()
        scene.framings.front.move(to: 2, middle: .middle, at: at(0), duration: 1)
        #expect(extents(scene, at(0)).front == size(640, 360))
        scene.framings.front.move(to: 1, middle: .middle, at: at(2), duration: 1)
        #expect(extents(scene, at(2)).front == size(640, 360))
        let half = extents(scene, at(2.5)).front.size ?? Size(width: 0, height: 0)
        #expect(half.width > 320 && half.width < 640)
        #expect(extents(scene, at(3)).front == size(320, 180))
    }

    @Test func theLensThatIsCrossedOverToIsAskedForLargeBeforeItIsSeen() {
        var scene = state()
        let rest = scene.extents(at: at(0)).back
        #expect(rest.b == .glance && rest.a == size(1280, 720))
        let end = scene.framings.back.cross(toFactor: 2, at: at(0))
        let crossing = scene.extents(at: at(0)).back
        #expect(crossing.b.size?.width ?? 0 >= 1280 && crossing.a.size?.width ?? 0 >= 1280)
        #expect(scene.extents(at: end).back.a == .glance)
    }

    @Test func bothAreAskedForWholeFromTheBeginningOfASwapToItsEnd() {
        var scene = state()
        scene.setSwapped(true, at: at(0))
        let whole = PerRole(back: size(1280, 720), front: size(1280, 720))
        for time in [0, 0.1, 0.299] { #expect(extents(scene, at(time)) == whole) }
        #expect(extents(scene, at(0.31)).back == size(320, 180))
        // A swap back midway.
        scene = state()
        scene.setSwapped(true, at: at(0))
        scene.setSwapped(false, at: at(0.1))
        #expect(extents(scene, at(0.15)) == whole)
        #expect(extents(scene, at(0.25)).front == size(320, 180))
        // An instant swap has no movement.
        scene.setSwapped(true, at: at(1), instantly: true)
        #expect(extents(scene, at(1)).back == size(320, 180))
    }

    @Test(arguments: Layout.allCases, Layout.allCases)
    func noPictureIsEverDrawnLargerThanAskedFor(from: Layout, to: Layout) {
        var scene = state { $0.layout = from }
        var style = scene.style
        style.layout = to
        style.insetSize = 0.4
        style.insetCorner = .bottomLeft
        scene.setStyle(style, at: at(0))
        scene.setSwapped(true, at: at(0.12))
        scene.setSwapped(false, at: at(0.2))
        for step in 0..<60 {
            if step == 30 { scene.setSwapped(true, at: at(0.3)) }
            if step == 45 { scene.setPresent(.back, false, at: at(0.45)) }
            let time = at(Double(step) / 100)
            let extents = extents(scene, time)
            for layer in layers(scene.scene(at: time)) {
                guard let most = extents[layer.role].size else { continue }
                #expect(layer.rect.width < Double(most.width) + 1e-6)
                #expect(layer.rect.height < Double(most.height) + 1e-6)
            }
        }
    }

    @Test(arguments: [(1280, 720), (720, 1280), (2560, 400)], [0.1, 0.25, 0.5])
    func `a round inset is a circle on the canvas, with its marks inside`(
        canvas: (Int, Int),
        fraction: Double
    ) throws {
        let canvas = Size(width: canvas.0, height: canvas.1)
        var style = SceneStyle()
        (style.insetShape, style.insetSize, style.insetCorner) = (.circle, fraction, .bottomLeft)
        let scene = SceneState.both(canvas, style)
        let inset = try #require(layers(scene.scene(at: at(0))).last)
        let (rect, radius) = (inset.rect, inset.rect.width / 2)
        #expect(rect.width == rect.height && inset.corners == CornerRadii(radius))
        #expect(rect.width > 0 && rect.x >= 0 && rect.y >= 0)
        #expect(rect.maxY <= Double(canvas.height))
        #expect(inset.fill == 1)
        let marks = rect.inset(by: inset.distance(atLeast: 8))
        let (x, y) = (marks.x - rect.midX, marks.y - rect.midY)
        #expect((x * x + y * y).squareRoot() <= radius + 1e-6)
    }

    @Test func `a person stands at the lower edge, as large as wanted, or where they were dragged`()
    {
        func rect(_ change: (inout SceneStyle) -> Void) -> Rect {
            layers(
                state {
                    $0.insetShape = .person
                    change(&$0)
                }.scene(at: at(0))
            )[1].rect
        }
        #expect(rect { $0.insetSize = 0.5 } == Rect(x: 640, y: 360, width: 640, height: 360))
        let left = rect {
            $0.insetCorner = .topLeft
            $0.insetSize = 0.75
        }
        #expect(left == Rect(x: 0, y: 180, width: 960, height: 540))
        #expect(rect { $0.insetSize = 1 } == Rect(Self.canvas))
        let dragged = rect { $0.insetPosition = NormalizedPoint(x: 0.5, y: 0.5) }
        #expect(dragged == Rect(x: 480, y: 270, width: 320, height: 180))
        let bare = state { ($0.insetShape, $0.insetBorder) = (.person, 0) }
        #expect(layers(bare.scene(at: at(0)))[1].shadowOpacity == 0)
        // Another shape leaves room for the other picture.
        let former = state {
            ($0.insetShape, $0.insetSize) = (.person, 1)
            $0.insetShape = .rectangle
        }
        #expect(layers(former.scene(at: at(0)))[1].rect.width == 640)
    }

    @Test func `a swap morphs between a person and the whole picture`() {
        var scene = state { $0.insetShape = .person }
        func shares(_ time: Double) -> [Role: Double] {
            let layers = layers(scene.scene(at: at(time))).map { ($0.role, $0.cutout) }
            return Dictionary(layers, uniquingKeysWith: max)
        }
        func isCutOut(_ time: Double) -> [Bool] {
            let extents = extents(scene, at(time))
            return [extents.back.isCutOut, extents.front.isCutOut]
        }
        func shadow(_ time: Double) -> Double {
            let inset = layers(scene.scene(at: at(time))).last { $0.role == .front }
            return inset.map { $0.shadowOpacity * $0.cutout } ?? 0
        }
        #expect(shares(0) == [.back: 0, .front: 1] && isCutOut(0) == [false, true])
        #expect(layers(scene.scene(at: at(0)))[1].iconOpacity == 0)
        scene.setSwapped(true, at: at(0))
        let way = stride(from: 0.0, through: 0.3, by: 0.03).compactMap { shares($0)[.front] }
        #expect(way == way.sorted(by: >) && way.first == 1 && way.last == 0)
        #expect(zip(way, way.dropFirst()).allSatisfy { $0 - $1 < 0.35 })
        let shades = stride(from: 0.0, through: 0.3, by: 0.03).map(shadow)
        #expect(shades == shades.sorted(by: >) && shades.first == 0.35 && shades.last == 0)
        #expect(zip(shades, shades.dropFirst()).allSatisfy { $0 - $1 < 0.13 })
        #expect(isCutOut(0.1) == [true, true] && isCutOut(0.4) == [true, false])
        #expect(shares(0.4) == [.back: 1, .front: 0])
    }

    @Test func `a person whose camera stops is never seen with a sharp room`() {
        var scene = state { $0.insetShape = .person }
        scene.setNotice(.interrupted(.busy), of: .front, at: at(0))
        for time in stride(from: 0.0, through: 0.4, by: 0.01) {
            let inset = layers(scene.scene(at: at(time)))[1]
            #expect(inset.cutout == 1 || inset.veil == 1)
        }
        let last = layers(scene.scene(at: at(0.4)))[1]
        #expect(last.cutout == 0 && last.veil == 1 && last.opacity == 1)
    }

    @Test func anotherCanvasEndsATransitionAtOnce() {
        var scene = state()
        scene.setSwapped(true, at: at(0))
        #expect(scene.isMoving(at: at(0.1)))
        let canvas = Size(width: 640, height: 360)
        scene.setCanvas(canvas)
        #expect(!scene.isMoving(at: at(0.1)))
        var fresh = SceneState.both(canvas)
        fresh.setSwapped(true, at: at(0), instantly: true)
        #expect(layers(scene.scene(at: at(0.1))) == layers(fresh.scene(at: at(0.1))))
    }
}
