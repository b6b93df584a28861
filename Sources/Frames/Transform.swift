/// One of the eight ways to map a rectangle onto itself: quarter turns clockwise, and mirroring.
/// The picture is mirrored left to right first, then turned. libcamera and EXIF also turn
/// clockwise; PipeWire's SPA_META_TRANSFORMATION says how a picture was turned, anticlockwise.
package struct Transform: Hashable, Sendable {
    /// `true` if the picture is mirrored left to right, before turning.
    package let isMirrored: Bool
    /// The number of quarter turns clockwise, 0 to 3, after mirroring.
    package let quarterTurns: Int

    /// A transform that mirrors if `mirrored`, then turns clockwise `quarterTurns` times, modulo 4.
    package init(mirrored: Bool = false, quarterTurns: Int = 0) {
        isMirrored = mirrored
        self.quarterTurns = ((quarterTurns % 4) + 4) % 4
    }

    package static let identity = Transform()
    package static let mirror = Transform(mirrored: true)
    package static let clockwise90 = Transform(quarterTurns: 1)
    package static let rotate180 = Transform(quarterTurns: 2)
    package static let clockwise270 = Transform(quarterTurns: 3)

    package static let all: [Transform] = [false, true].flatMap { mirrored in
        (0..<4).map { Transform(mirrored: mirrored, quarterTurns: $0) }
    }

    package var swapsAxes: Bool { quarterTurns % 2 == 1 }

    /// Returns this transform followed by `next`.
    package func followed(by next: Transform) -> Transform {
        // Mirroring after a turn equals the opposite turn after mirroring.
        let turns = next.isMirrored ? -quarterTurns : quarterTurns
        return Transform(
            mirrored: isMirrored != next.isMirrored,
            quarterTurns: turns + next.quarterTurns
        )
    }

    package var inverse: Transform {
        Transform(mirrored: isMirrored, quarterTurns: isMirrored ? quarterTurns : -quarterTurns)
    }

    /// Returns the size of the transformed picture.
    package func apply(to size: Size) -> Size { swapsAxes ? size.transposed : size }

    /// Returns the new place of the pixel at (`x`, `y`) of a picture of `size`.
    package func apply(toX x: Int, y: Int, in size: Size) -> (x: Int, y: Int) {
        let x = isMirrored ? size.width - 1 - x : x
        return switch quarterTurns {
        case 1: (size.height - 1 - y, x)
        case 2: (size.width - 1 - x, size.height - 1 - y)
        case 3: (y, size.width - 1 - x)
        default: (x, y)
        }
    }

    /// Returns the new place of the part `part` of a picture, both in fractions of its size.
    package func apply(to part: Rect) -> Rect {
        let x = isMirrored ? 1 - part.maxX : part.x
        let (y, width, height) = (part.y, part.width, part.height)
        return switch quarterTurns {
        case 1: Rect(x: 1 - y - height, y: x, width: height, height: width)
        case 2: Rect(x: 1 - x - width, y: 1 - y - height, width: width, height: height)
        case 3: Rect(x: y, y: 1 - x - width, width: height, height: width)
        default: Rect(x: x, y: y, width: width, height: height)
        }
    }
}
