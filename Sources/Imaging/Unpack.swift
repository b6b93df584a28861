import CYUV
package import Frames

/// Frames of packed or half-packed formats to planar ones, by libyuv.
package enum Unpack {
    /// The planar format that holds `format` without loss: 4:2:2 for YUYV and UYVY, 4:2:0 for
    /// NV12; `nil` for what is planar already, or unknown.
    package static func planarFormat(for format: PixelFormat) -> PixelFormat? {
        switch format {
        case .yuyv, .uyvy: .i422
        case .nv12: .i420
        default: nil
        }
    }

    /// Brings a YUYV, UYVY or NV12 frame into `planes` of the same size and of the subsampling of
    /// `planarFormat(for:)` (YUY2ToI422, UYVYToI422, SplitUVPlane).
    package static func convert(_ frame: Frame, into planes: Planes) {
        let size = frame.layout.size
        precondition(planes.size == size && planes.u.rowBytes == (size.width + 1) / 2)
        let source = frame.plane(0)
        switch frame.layout.format {
        case .yuyv:
            precondition(planes.u.rows == size.height)
            split(YUY2ToI422, source, planes)
        case .uyvy:
            precondition(planes.u.rows == size.height)
            split(UYVYToI422, source, planes)
        case .nv12:
            precondition(planes.u.rows == (size.height + 1) / 2)
            source.copy(to: planes.luma)
            let chroma = frame.plane(1)
            SplitUVPlane(
                chroma.base,
                CInt(chroma.stride),
                planes.u.base,
                CInt(planes.u.stride),
                planes.v.base,
                CInt(planes.v.stride),
                CInt(planes.u.rowBytes),
                CInt(planes.u.rows)
            )
        default: preconditionFailure("not a packed format")
        }
    }

    private typealias Splitter = (
        UnsafePointer<UInt8>?, CInt,
        UnsafeMutablePointer<UInt8>?, CInt,
        UnsafeMutablePointer<UInt8>?, CInt,
        UnsafeMutablePointer<UInt8>?, CInt,
        CInt, CInt
    ) -> CInt

    private static func split(_ splitter: Splitter, _ source: Plane, _ planes: Planes) {
        _ = splitter(
            source.base,
            CInt(source.stride),
            planes.luma.base,
            CInt(planes.luma.stride),
            planes.u.base,
            CInt(planes.u.stride),
            planes.v.base,
            CInt(planes.v.stride),
            CInt(planes.size.width),
            CInt(planes.size.height)
        )
    }
}
