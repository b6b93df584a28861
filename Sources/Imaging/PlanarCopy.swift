import CYUV
package import Frames

/// Converts a picture of `size` in one or two planes to three planes, 4:2:0, in `target`, laid out
/// as `layout`. Red, green and blue become BT.601 in limited range; other colours stay as they are.
/// `source` are the planes of a packed, an NV12 or an RGB picture of `format`. Returns `false` for
/// another format.
package func makePlanar(
    _ source: [Plane],
    _ format: PixelFormat,
    into target: FrameBuffer,
    _ layout: FrameLayout
) -> Bool {
    precondition(layout.format == .i420 && !source.isEmpty)
    let (y, u, v) = (
        target.plane(0, of: layout), target.plane(1, of: layout), target.plane(2, of: layout)
    )
    let (width, height) = (CInt(layout.size.width), CInt(layout.size.height))
    typealias Convert = (
        UnsafePointer<UInt8>?, CInt, UnsafeMutablePointer<UInt8>?, CInt,
        UnsafeMutablePointer<UInt8>?, CInt, UnsafeMutablePointer<UInt8>?, CInt, CInt, CInt
    ) -> CInt
    let convert: Convert
    // libyuv names the bytes of a pixel from the highest to the lowest.
    switch format {
    case .bgra, .bgrx: convert = ARGBToI420
    case .rgba, .rgbx: convert = ABGRToI420
    case .argb, .xrgb: convert = BGRAToI420
    case .abgr, .xbgr: convert = RGBAToI420
    case .bgr: convert = RGB24ToI420
    case .rgb: convert = RAWToI420
    case .yuyv: convert = YUY2ToI420
    case .uyvy: convert = UYVYToI420
    case .nv12 where source.count > 1:
        let result = NV12ToI420(
            source[0].base,
            CInt(source[0].stride),
            source[1].base,
            CInt(source[1].stride),
            y.base,
            CInt(y.stride),
            u.base,
            CInt(u.stride),
            v.base,
            CInt(v.stride),
            width,
            height
        )
        return result == 0
    default: return false
    }
    return convert(
        source[0].base,
        CInt(source[0].stride),
        y.base,
        CInt(y.stride),
        u.base,
        CInt(u.stride),
        v.base,
        CInt(v.stride),
        width,
        height
    ) == 0
}

/// Returns the layout of a planar picture laid out as `layout`, cropped to `part` and then turned
/// by `transform`; `nil` if no format holds it.
package func turnedLayout(
    _ layout: FrameLayout,
    part: PixelRect,
    _ transform: Transform
) -> FrameLayout? {
    let format: PixelFormat
    switch layout.format {
    case .i420, .i444, .gray: format = layout.format
    case .i422: format = transform.swapsAxes ? .i440 : .i422
    case .i440: format = transform.swapsAxes ? .i422 : .i440
    default: return nil
    }
    let size = Size(width: part.width, height: part.height)
    return FrameLayout(size: transform.apply(to: size), format: format)
}

/// Copies `part` of a planar picture, turned by `transform`, to `target`, laid out as
/// `turnedLayout` says. All edges of `part` are even.
package func turn(
    _ frame: Frame,
    part: PixelRect,
    _ transform: Transform,
    into target: FrameBuffer,
    _ layout: FrameLayout
) {
    let (h, v) = frame.layout.format.planarSubsampling ?? (1, 1)
    for index in 0..<layout.planeCount {
        let (across, down) = index == 0 ? (1, 1) : (h, v)
        frame.plane(index).cropped(
            x: part.x / across,
            y: part.y / down,
            width: (part.width + across - 1) / across,
            height: (part.height + down - 1) / down
        ).orient(transform, into: target.plane(index, of: layout))
    }
}
