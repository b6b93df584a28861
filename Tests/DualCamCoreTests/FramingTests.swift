import DualCamCore
import Frames
import Testing

@Suite("What is seen of a camera's picture") struct FramingTests {
    func at(_ seconds: Double) -> Timestamp { Timestamp(seconds: 50 + seconds) }

    @Test func atFirstItIsTheWholePicture() {
        #expect(Framing().part(at: at(0)) == .unit)
    }

    @Test(
        arguments: [(1.0, 4.0), (4.0, 1.0), (2.0, 8.0)],
        [NormalizedPoint.middle, NormalizedPoint(x: 0.9, y: 0.1)]
    )
    func aZoomIsEasedAndNeverJumps(zooms: (Double, Double), place: NormalizedPoint) {
        var framing = Framing()
        framing.move(to: zooms.0, middle: .middle, at: at(-9), duration: 0)
        framing.move(to: zooms.1, middle: place, at: at(0), duration: 0.5)
        var last = framing.part(at: at(0))
        #expect(abs(last.width - 1 / zooms.0) < 1e-9)
        var steps: [Double] = []
        for step in 1...100 {
            let part = framing.part(at: at(0.005 * Double(step)))
            #expect(part.x >= 0 && part.y >= 0 && part.maxX <= 1 + 1e-9 && part.maxY <= 1 + 1e-9)
            steps.append(part.width / last.width)
            #expect((part.width >= last.width) == (zooms.1 < zooms.0) || part == last)
            last = part
        }
        #expect(abs(last.width - 1 / zooms.1) < 1e-9)
        #expect(framing.part(at: at(9)) == last)
        // No step is more than a few percent, and the first and the last are the smallest.
        let ratios = steps.map { max($0, 1 / $0) }
        #expect((ratios.max() ?? 9) < 1.05)
        #expect((ratios.first ?? 9) < 1.001 && (ratios.last ?? 9) < 1.001)
    }

    @Test func aZoomThatIsChangedOnTheWayGoesOnFromThere() {
        var framing = Framing()
        framing.move(to: 4, middle: NormalizedPoint(x: 0.2, y: 0.7), at: at(0), duration: 1)
        let before = framing.part(at: at(0.4))
        framing.move(to: 1, middle: NormalizedPoint(x: 0.8, y: 0.3), at: at(0.4), duration: 1)
        let after = framing.part(at: at(0.4))
        #expect(abs(before.x - after.x) < 1e-9 && abs(before.width - after.width) < 1e-9)
        #expect(framing.part(at: at(2)) == .unit)
    }

    @Test func thePlaceComesToTheMiddleAsFarAsTheEdgesLetIt() {
        var framing = Framing()
        framing.move(to: 2, middle: NormalizedPoint(x: 0.6, y: 0), at: at(0), duration: 0)
        let part = framing.part(at: at(0))
        #expect(abs(part.midX - 0.6) < 1e-9 && part.y == 0 && abs(part.width - 0.5) < 1e-9)
    }

    @Test func aLensThatMagnifiesShowsMoreOfItsPictureForTheSameView() {
        var framing = Framing()
        framing.move(to: 4, middle: .middle, at: at(0), duration: 0)
        #expect(abs(framing.part(at: at(0)).width - 0.25) < 1e-9)
        framing.show(.a, factor: 2)
        #expect(abs(framing.part(at: at(0)).width - 0.5) < 1e-9)
        framing.show(.a, factor: 5)
        #expect(framing.part(at: at(0)) == .unit)
    }

    /// A change from lens to lens, at the zoom at which the next lens is ready.
    @Test(arguments: [(1.0, 3.0), (3.0, 1.0), (0.5, 1.0), (1.0, 0.5)], [0.0, 0.2, 1.0])
    func lensesCrossOverAtOneFieldOfView(factors: (Double, Double), ready: Double) {
        let place = NormalizedPoint(x: 0.4, y: 0.6)
        var framing = Framing()
        framing.show(.a, factor: factors.0)
        framing.move(to: factors.0, middle: .middle, at: at(-9), duration: 0)
        let most = max(factors.0, factors.1)
        framing.move(to: 2 * most, middle: place, inside: most, at: at(0), duration: 0.4)
        let over = framing.cross(toFactor: factors.1, at: at(ready))
        #expect(over >= at(0.6), "not before the zoom has ended")
        var lastShare = 0.0
        var hasCrossed = false
        var lastView = framing.part(at: at(0)).width / factors.0
        for step in 0...3000 {
            let time = at(0.0005 * Double(step))
            let pipeline = framing.pipeline(at: time)
            let share = framing.share(at: time)
            let factor = pipeline == .a ? factors.0 : factors.1
            let part = framing.part(at: time, of: pipeline)
            let view = part.width / factor
            #expect(abs(view / lastView - 1) < 0.01, "the field of view never jumps")
            lastView = view
            if share > 0 {
                let next = framing.part(at: time, of: .b)
                #expect(pipeline == .a && share >= lastShare, "opacity rises")
                #expect(abs(next.width / factors.1 / view - 1) < 0.01)
                // In the same direction, too.
                for (a, b) in [(next.midX, part.midX), (next.midY, part.midY)] {
                    #expect(abs((a - 0.5) / factors.1 - (b - 0.5) / factors.0) < 1e-9)
                }
                #expect(time > at(0.4))
                lastShare = share
                hasCrossed = true
            } else {
                #expect((pipeline == .b) == (time >= over))
            }
        }
        #expect(hasCrossed && lastShare > 0.9)
        #expect(abs((over - at(max(ready, 0.4))).seconds - Framing.crossing) < 1e-6)
    }

    @Test(arguments: Transform.all) func aPartIsTurnedWithItsPicture(transform: Transform) {
        let part = Rect(x: 0.25, y: 0.5, width: 0.125, height: 0.25)
        let turned = transform.apply(to: part)
        // The pixels of a part of the picture lie in that part of the turned picture.
        let size = Size(width: 16, height: 8)
        let whole = Rect(transform.apply(to: size)).part(turned)
        for x in 4..<6 {
            for y in 4..<6 {
                let place = transform.apply(toX: x, y: y, in: size)
                #expect(Double(place.x) >= whole.x && Double(place.x) < whole.maxX)
                #expect(Double(place.y) >= whole.y && Double(place.y) < whole.maxY)
            }
        }
        #expect(transform.inverse.apply(to: turned) == part)
    }
}
