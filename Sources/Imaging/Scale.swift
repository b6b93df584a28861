import CYUV
package import Frames

extension Plane {
    /// Scales the plane to the extent of `destination` (libyuv's ScalePlane): averages where it
    /// shrinks to less than half, interpolates else. No detour where both are of one size.
    package func scale(to destination: Plane) {
        guard rowBytes > 0, rows > 0, destination.rowBytes > 0, destination.rows > 0 else {
            return
        }
        ScalePlane(
            base,
            CInt(stride),
            CInt(rowBytes),
            CInt(rows),
            destination.base,
            CInt(destination.stride),
            CInt(destination.rowBytes),
            CInt(destination.rows),
            kFilterBox
        )
    }

    /// Lays the plane into `destination` as `transform` turns and mirrors it (libyuv's
    /// RotatePlane and MirrorPlane). `destination` has the transformed extent.
    package func orient(_ transform: Transform, into destination: Plane) {
        let turned = transform.apply(to: Size(width: rowBytes, height: rows))
        precondition(turned.width == destination.rowBytes && turned.height == destination.rows)
        // Mirrored left to right and turned is the same as turned upside down, which libyuv does
        // for a negative height, and turned half way further.
        switch (transform.isMirrored, transform.quarterTurns) {
        case (false, 0): copy(to: destination)
        case (false, 1): rotate(kRotate90, height: rows, into: destination)
        case (false, 2): rotate(kRotate180, height: rows, into: destination)
        case (false, _): rotate(kRotate270, height: rows, into: destination)
        case (true, 0): mirror(into: destination)
        case (true, 1): rotate(kRotate270, height: -rows, into: destination)
        case (true, 2): rotate(kRotate0, height: -rows, into: destination)
        case (true, _): rotate(kRotate90, height: -rows, into: destination)
        }
    }

    private func rotate(_ mode: RotationMode, height: Int, into destination: Plane) {
        RotatePlane(
            base,
            CInt(stride),
            destination.base,
            CInt(destination.stride),
            CInt(rowBytes),
            CInt(height),
            mode
        )
    }

    private func mirror(into destination: Plane) {
        MirrorPlane(
            base,
            CInt(stride),
            destination.base,
            CInt(destination.stride),
            CInt(rowBytes),
            CInt(rows)
        )
    }
}
