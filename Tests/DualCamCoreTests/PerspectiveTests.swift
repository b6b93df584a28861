import DualCamCore
import Frames
import Testing

@Suite("Perspective") struct PerspectiveTests {
    private static let page = Perspective(
        topLeft: NormalizedPoint(x: 0.2, y: 0.1),
        topRight: NormalizedPoint(x: 0.7, y: 0.2),
        bottomRight: NormalizedPoint(x: 0.9, y: 0.9),
        bottomLeft: NormalizedPoint(x: 0.1, y: 0.8)
    )

    private func points(_ numbers: [Double]) -> [NormalizedPoint] {
        stride(from: 0, to: numbers.count - 1, by: 2).map {
            NormalizedPoint(x: numbers[$0], y: numbers[$0 + 1])
        }
    }

    @Test func fourCornersClockwiseAreOne() throws {
        #expect(try Perspective(Self.page.points) == Self.page)
        #expect(try Perspective(points([0, 0, 1, 0, 1, 1, 0, 1])) == .none)
    }

    @Test(
        arguments: [
            ([], .count(0)), ([0, 0, 1, 0, 1, 1], .count(3)),
            ([0, 0, 1, 0, 1, 1, 0, 1, 0.5, 0.5], .count(5)),
            ([0, 0, 1.1, 0, 1, 1, 0, 1], .outside(NormalizedPoint(x: 1.1, y: 0))),
            ([0, 0, 1, 0, 1, -0.1, 0, 1], .outside(NormalizedPoint(x: 1, y: -0.1))),
            ([0, 0, 0, 1, 1, 1, 1, 0], .anticlockwise), ([0, 0, 1, 0, 0, 1, 1, 1], .notConvex),
            ([0, 0, 1, 0, 0.4, 0.4, 0, 1], .notConvex), ([0, 0, 0, 0, 0, 0, 0, 0], .notConvex),
            ([0.5, 0.5, 0.55, 0.5, 0.55, 0.55, 0.5, 0.55], .tooSmall),
        ] as [([Double], Perspective.Invalid)]
    )
    func otherPointsAreNone(numbers: [Double], why: Perspective.Invalid) {
        #expect(throws: why) { try Perspective(points(numbers)) }
        #expect(!"\(why)".isEmpty)
    }

    @Test(arguments: [Double.nan, .infinity, -.infinity])
    func whatIsNoNumberIsNoCorner(number: Double) {
        #expect(throws: Perspective.Invalid.self) {
            try Perspective(points([0, 0, number, 0, 1, 1, 0, 1]))
        }
    }

    @Test(arguments: Transform.all)
    func turnsTakeTheThingAlong(transform: Transform) {
        // The thing's own corner that is shown at the top left is that of the turned picture.
        let turned = Self.page.turned(by: transform)
        let corners = Perspective.none.points
        for (index, corner) in corners.enumerated() {
            let before = transform.inverse.apply(to: corner)
            guard let own = corners.firstIndex(of: before) else {
                Issue.record("\(before) is no corner")
                return
            }
            #expect(turned.points[index] == transform.apply(to: Self.page.points[own]))
        }
        let back = turned.turned(by: transform.inverse)
        for (point, other) in zip(back.points, Self.page.points) {
            #expect(abs(point.x - other.x) < 1e-12 && abs(point.y - other.y) < 1e-12)
        }
    }

    @Test func theWholePictureKeepsItsShape() {
        for aspect in [0.5625, 1, 4.0 / 3, 16.0 / 9] {
            #expect(abs(Perspective.none.aspect(in: aspect) - aspect) < 1e-9)
        }
        let half = Perspective.none.magnified(by: 0.5)
        #expect(abs(half.aspect(in: 1.5) - 1.5) < 1e-9)
    }

    @Test func aMoveEasesFromOneToTheNext() throws {
        var move = PerspectiveMove()
        let start = Timestamp(seconds: 10)
        #expect(move.pose(at: start) == nil)
        move.move(to: Self.page, at: start, duration: 0.4)
        #expect(move.goal == Self.page)
        #expect(move.pose(at: start) == Perspective.none)
        let middle = try #require(move.pose(at: start + Timestamp(seconds: 0.2)))
        #expect(abs(middle.topLeft.x - 0.1) < 1e-9)
        #expect(move.pose(at: start + Timestamp(seconds: 0.4)) == Self.page)
        // From there to another one, in the whole time.
        let half = Perspective.none.magnified(by: 0.5)
        move.move(to: half, at: start + Timestamp(seconds: 0.2), duration: 0.4)
        #expect(move.pose(at: start + Timestamp(seconds: 0.2)) == middle)
        #expect(move.pose(at: start + Timestamp(seconds: 0.5)) != move.goal)
        #expect(move.pose(at: start + Timestamp(seconds: 0.6)) == move.goal)
    }

    @Test func aMoveTurnedRoundRunsBackAsItCame() throws {
        var move = PerspectiveMove()
        func at(_ seconds: Double) -> Timestamp { Timestamp(seconds: 10 + seconds) }
        move.move(to: Self.page, at: at(0), duration: 0.4)
        let way = try (0...10).map { try #require(move.pose(at: at(0.01 * Double($0)))) }
        func isClose(_ a: Perspective?, _ b: Perspective) -> Bool {
            zip(a?.points ?? [], b.points).allSatisfy {
                abs($0.x - $1.x) < 1e-6 && abs($0.y - $1.y) < 1e-6
            }
        }
        // After a quarter of the time it is back after another quarter, not after a whole.
        move.move(to: nil, at: at(0.1), duration: 0.4)
        for step in 0..<10 {
            #expect(isClose(move.pose(at: at(0.1 + 0.01 * Double(step))), way[10 - step]))
        }
        #expect(move.pose(at: at(0.201)) == nil)
        // And forth again from the way back.
        move.move(to: Self.page, at: at(1), duration: 0.4)
        move.move(to: nil, at: at(1.1), duration: 0.4)
        move.move(to: Self.page, at: at(1.15), duration: 0.4)
        #expect(isClose(move.pose(at: at(1.15)), way[5]))
        #expect(isClose(move.pose(at: at(1.2)), way[10]))
        #expect(move.pose(at: at(1.501)) == Self.page)
    }

    @Test func zoomAndLensesGoIntoWhatItShows() throws {
        let present = PerRole(back: true, front: false)
        let canvas = Size(width: 1280, height: 720)
        var state = SceneState(canvas: canvas, style: SceneStyle(), present: present)
        state.perspectives.back.move(to: Self.page, at: .zero, duration: 0)
        state.framings.back.show(.a, factor: 2)
        state.framings.back.move(to: 2, middle: .middle, inside: 1, at: .zero, duration: 0)
        let layer = state.scene(at: Timestamp(seconds: 1))[0]
        #expect(layer.source.part == Rect(x: 0.25, y: 0.25, width: 0.5, height: 0.5))
        let corners = try #require(layer.source.perspective)
        #expect(abs(corners.topLeft.x - (-0.1)) < 1e-9)
        #expect(abs(corners.bottomRight.y - 1.3) < 1e-9)
    }
}
