import DualCamCore
import Frames
import Imaging

/// A copy of a picture, four corners of which became the whole, as large and turned as it is shown.
struct PerspectiveCopy: ~Copyable {
    private var memory = Scratch()
    private var made: (key: Key, planes: Planes)?

    private struct Key: Hashable {
        var frame: FrameIdentity
        var view: PerspectiveView
    }

    /// Returns the copy of the camera's newest picture that `view` describes, or `nil` if there is
    /// none. Allocates only for the largest so far.
    mutating func update(_ camera: CameraPicture, _ view: PerspectiveView) -> Planes? {
        guard let frame = camera.frame else { return nil }
        let key = Key(frame: frame.identity, view: view)
        if let made, made.key == key { return made.planes }
        made = nil
        let projection = view.projection(onto: frame.picture)
        let halvings = projection.halvings(of: view.size)
        guard let planes = camera.planes(halved: halvings) else { return nil }
        let whole = Rect(frame.layout.size)
        let copy = planes.warped(by: projection, of: whole, to: view.size, &memory)
        made = (key, copy)
        return copy
    }
}

/// The visible part of a picture in perspective.
struct PerspectiveView: Hashable {
    /// The corners that become the whole.
    var perspective: Perspective
    /// The part of that whole, in fractions, before the turn.
    var part: Rect
    var transform: Transform
    /// The size at which the part is shown, after the turn; its width is even.
    var size: Size

    /// Returns the map from pixels as they are shown to those of a picture that fills `picture`.
    func projection(onto picture: Rect) -> Projection {
        let corners = perspective.points(in: picture)
        let thing = Projection(.unit, to: corners)
        func source(_ x: Double, _ y: Double) -> (x: Double, y: Double) {
            let place = transform.inverse.apply(to: NormalizedPoint(x: x, y: y))
            return thing.apply(
                toX: part.x + place.x * part.width,
                y: part.y + place.y * part.height
            )
        }
        return Projection(
            Rect(size),
            to: [source(0, 0), source(1, 0), source(1, 1), source(0, 1)]
        )
    }
}

extension Perspective {
    /// Returns the corners in pixels of a picture that fills `picture`.
    fileprivate func points(in picture: Rect) -> InlineArray<4, (x: Double, y: Double)> {
        func place(_ point: NormalizedPoint) -> (x: Double, y: Double) {
            (picture.x + point.x * picture.width, picture.y + point.y * picture.height)
        }
        return [place(topLeft), place(topRight), place(bottomRight), place(bottomLeft)]
    }
}

extension Projection {
    /// Returns how often to halve the source of a picture of `size`, so that nowhere many of its
    /// pixels become one: where it is nearest, most of them do.
    fileprivate func halvings(of size: Size) -> Int {
        let (right, bottom) = (Double(size.width), Double(size.height))
        var density = 1.0
        for corner in 0..<4 {
            let x = corner % 2 == 0 ? 0 : right - 1
            let y = corner / 2 == 0 ? 0 : bottom - 1
            let at = apply(toX: x, y: y)
            let (across, down) = (apply(toX: x + 1, y: y), apply(toX: x, y: y + 1))
            func distance(_ to: (x: Double, y: Double)) -> Double {
                let (x, y) = (to.x - at.x, to.y - at.y)
                return (x * x + y * y).squareRoot()
            }
            // What lies along the line of sight is dense in one direction alone.
            density = max(density, distance(across), distance(down) / 1.5)
        }
        // The exponent is the logarithm to the base 2, rounded down.
        return density.isFinite ? min(Int(density.exponent), 6) : 0
    }
}
