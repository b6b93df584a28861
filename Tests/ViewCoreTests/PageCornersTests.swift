import DualCamCore
import Testing
import ViewCore

/// The corners of a page over a picture that is turned, mirrored or of another lens.
@Suite struct PageCornersTests {
    private static func points(_ numbers: [(Double, Double)]) -> [NormalizedPoint] {
        numbers.map { NormalizedPoint(x: $0.0, y: $0.1) }
    }

    /// The places of a picture's own corners, and of the first one of the page in it.
    static let pictures: [(String, [(Double, Double)], (Double, Double))] = [
        ("as it is", [(0, 0), (1, 0), (1, 1), (0, 1)], (0.25, 0.25)),
        ("mirrored", [(1, 0), (0, 0), (0, 1), (1, 1)], (0.375, 0.25)),
        ("upside down", [(1, 1), (0, 1), (0, 0), (1, 0)], (0.75, 0.75)),
        ("nearer", [(0.2, 0.2), (0.8, 0.2), (0.8, 0.8), (0.2, 0.8)], (0.0833333333, 0.0833333333)),
    ]

    @Test(arguments: pictures)
    func `Corners are where the page is, and become what they were`(
        _ name: String,
        _ whole: [(Double, Double)],
        _ first: (Double, Double)
    ) throws {
        let page = Self.points([(0.25, 0.25), (0.625, 0.25), (0.75, 0.75), (0.25, 0.625)])
        var corners = try #require(PageCorners(page, in: Self.points(whole)))
        let place = corners.points[0]
        #expect(abs(place.x - first.0) < 1e-6 && abs(place.y - first.1) < 1e-6)
        let back = try #require(corners.perspective(in: Self.points(whole))).points
        for (one, other) in zip(back, page) {
            #expect(abs(one.x - other.x) < 1e-9 && abs(one.y - other.y) < 1e-9)
        }
        corners.move(0, to: NormalizedPoint(x: -2, y: 3))
        #expect(corners.points[0] == NormalizedPoint(x: 0, y: 1))
    }
}
