import CKernels
package import Frames

/// The way to hide the room behind a person in one camera's pictures.
package struct RoomCover: Sendable, Equatable {
    /// `true` if the room is shown as it is, so that only a person's mask may be wanted.
    package var showsRoom: Bool
    /// The strength of the room's blur, 0 … 1.
    package var blur: Double
    /// The picture in place of the room; `nil`: the room itself, blurred.
    package var picture: Frame?
    /// `true` if nobody is looked for, so that all is hidden.
    package var hidesAll: Bool
    /// The transform that makes the camera's picture upright, and mirrors it if wanted.
    package var transform: Transform
    /// The time in which it takes the place of what was shown, in seconds.
    package var fade = 0.0

    package init(
        showsRoom: Bool = false,
        blur: Double = 0.5,
        picture: Frame? = nil,
        hidesAll: Bool = false,
        transform: Transform = .identity
    ) {
        self.showsRoom = showsRoom
        self.blur = blur
        self.picture = picture
        self.hidesAll = hidesAll
        self.transform = transform
    }

    /// Compares what is shown, in whatever place.
    package static func == (one: RoomCover, other: RoomCover) -> Bool {
        (one.showsRoom, one.blur, one.hidesAll) == (other.showsRoom, other.blur, other.hidesAll)
            && one.picture?.buffer === other.picture?.buffer
    }

    /// The quarter turns clockwise that make the picture upright, before it is mirrored.
    fileprivate var turns: Int {
        // Mirroring before a turn equals mirroring after the opposite one.
        (transform.isMirrored ? 4 - transform.quarterTurns : transform.quarterTurns) & 3
    }

    /// The size of the small picture in which persons are found.
    fileprivate var smallSize: Size {
        let upright = Size(width: Int(KERNEL_PERSON_WIDTH), height: Int(KERNEL_PERSON_HEIGHT))
        return turns % 2 == 1 ? upright.transposed : upright
    }
}

/// Finds persons in the pictures of one camera, and hides the room behind them. A picture in which
/// nobody is found is hidden whole. Bound to one thread; its frames may be released on any.
package final class RoomFilter {
    private let person: KernelMemory
    private let room: KernelMemory
    private var pool = GrowingPool(count: 6)
    private var masks = GrowingPool(count: 6)
    private var halved = HalvedCopy()
    private var small = Scratch()
    private var lines = Scratch()
    /// The picture while one way gives way to another, and the pictures in place of the room in
    /// both.
    private var fading = Scratch()
    private var backdrop: Backdrop?
    private var former: Backdrop?
    /// The time of the picture that persons were last looked for in, and how it was turned.
    private var last: (time: Timestamp, turns: Int)?

    /// The seconds between two pictures after which nothing is left of what was found.
    private static let memory = 0.5

    /// Creates a filter, which takes some milliseconds and megabytes.
    package init() {
        person = KernelMemory(kernel_person_size())
        room = KernelMemory(kernel_room_size())
        kernel_person_prepare(person.pointer)
    }

    /// Returns `frame` with its room hidden by `cover`, or still by the former one as far as its
    /// share goes, 0 … 1; `nil` if no memory is free, or its format is not YUV. With `cutsOut` it
    /// has a mask. With `reusing`, the person is where it was in the picture before, unless that is
    /// old. Allocates for the first frame, for one larger than all before, and for another picture
    /// or turn.
    package func hide(
        _ frame: Frame,
        by cover: RoomCover,
        after before: (cover: RoomCover, share: Double)? = nil,
        cutsOut: Bool = false,
        reusing: Bool = false
    ) -> Frame? {
        guard let source = Self.planes(of: frame, &halved), source.luma.rowBytes > 1,
            source.luma.rowBytes <= KERNEL_ROOM_WIDEST
        else { return nil }
        let size = source.size
        let layout = FrameLayout(
            size: size,
            format: source.u.rows < source.luma.rows ? .i420 : .i422
        )
        let shape = FrameLayout(size: size, format: .gray)
        guard let buffer = pool.draw(byteCount: layout.byteCount) else { return nil }
        let mask = cutsOut ? masks.draw(byteCount: shape.byteCount) : nil
        guard cutsOut == (mask != nil) else { return nil }
        find(in: source, of: frame, cover, reusing: reusing)
        func show(_ cover: RoomCover, _ backdrop: Backdrop?, in target: Planes) {
            lay(
                chroma(of: source, in: target),
                by: cover,
                over: target,
                backdrop?.planes,
                mask?.plane(0, of: shape)
            )
        }
        let base = buffer.plane(0, of: layout).base
        update(&backdrop, cover, layout, frame.color)
        show(cover, backdrop, in: Planes(at: base, layout: layout))
        if let before {
            let other = fading.reserve(layout.byteCount)
            update(&former, before.cover, layout, frame.color)
            show(before.cover, former, in: Planes(at: other, layout: layout))
            let share = min(255, Int(before.share * 256))
            mix(base, other, fraction: share, count: layout.byteCount, into: base)
        } else {
            former = nil
        }
        var result = Frame(
            buffer: buffer,
            layout: layout,
            color: frame.color,
            timestamp: frame.timestamp,
            sequence: frame.sequence,
            pictureSize: frame.pictureSize,
            reduction: frame.reduction
        )
        result.isRoomHidden = !cover.showsRoom && before?.cover.showsRoom != true
        result.mask = mask
        return result
    }

    /// Makes `backdrop` what `cover` shows in place of the room, if that is a picture.
    private func update(
        _ backdrop: inout Backdrop?,
        _ cover: RoomCover,
        _ layout: FrameLayout,
        _ color: ColorSpace
    ) {
        guard let picture = cover.picture else {
            backdrop = nil
            return
        }
        let key = Backdrop.Key(picture, layout, cover.transform, color)
        if backdrop?.key != key { backdrop = Backdrop(picture, key) }
    }

    /// Returns the planes of `frame`, its own or those of a copy in `copy`; `nil` if it is not YUV.
    static func planes(of frame: Frame, _ copy: inout HalvedCopy) -> Planes? {
        guard frame.layout.format.planarSubsampling != nil else {
            return copy.update(frame, halvings: 0)
        }
        return Planes(luma: frame.plane(0), u: frame.plane(1), v: frame.plane(2))
    }

    /// Finds the person in a small copy of the picture, which is kept.
    private func find(in source: Planes, of frame: Frame, _ cover: RoomCover, reusing: Bool) {
        let turns = cover.turns
        let size = cover.smallSize
        let bytes = small.reserve(3 * size.area)
        for (index, plane) in [source.luma, source.u, source.v].enumerated() {
            plane.scale(
                to: Plane(
                    base: bytes + index * size.area,
                    stride: size.width,
                    rowBytes: size.width,
                    rows: size.height
                )
            )
        }
        let age = last.map { abs((frame.timestamp - $0.time).seconds) } ?? .infinity
        let isFirst = last?.turns != turns || age > Self.memory
        if cover.hidesAll {
            kernel_room_forget(room.pointer)
            last = nil
        } else if isFirst || last?.time != frame.timestamp && !reusing {
            kernel_room_show(person.pointer, bytes, CInt(turns), kernel_colours(frame.color))
            kernel_room_find(room.pointer, person.pointer, bytes, CInt(turns), isFirst ? 1 : 0)
            last = (frame.timestamp, turns)
        }
    }

    /// Returns `source` with chroma of the shape that it has in `target`: there, if it differs.
    private func chroma(of source: Planes, in target: Planes) -> Planes {
        guard source.u.rowBytes != target.u.rowBytes || source.u.rows != target.u.rows else {
            return source
        }
        source.u.scale(to: target.u)
        source.v.scale(to: target.v)
        return Planes(luma: source.luma, u: target.u, v: target.v)
    }

    /// Writes the person to `target`, and around it the room or what is shown instead, such as
    /// `other`; and its shares to `mask`.
    private func lay(
        _ source: Planes,
        by cover: RoomCover,
        over target: Planes,
        _ other: Planes?,
        _ mask: Plane?
    ) {
        let small = CInt(cover.smallSize.width)
        kernel_room_prepare(
            room.pointer,
            self.small.reserve(3 * cover.smallSize.area),
            small,
            2 + CInt((cover.blur * Double(KERNEL_ROOM_REACH - 2)).rounded()),
            other == nil && mask == nil ? 0 : 1
        )
        let width = CInt(target.luma.rowBytes)
        let planes = kernel_room_planes(
            width: width,
            height: CInt(target.luma.rows),
            chroma_height: CInt(target.u.rows),
            source: (
                UnsafePointer(source.luma.base), UnsafePointer(source.u.base),
                UnsafePointer(source.v.base)
            ),
            source_stride: (
                CInt(source.luma.stride), CInt(source.u.stride), CInt(source.v.stride)
            ),
            target: (target.luma.base, target.u.base, target.v.base),
            target_stride: (
                CInt(target.luma.stride), CInt(target.u.stride), CInt(target.v.stride)
            ),
            other: (
                other.map { UnsafePointer($0.luma.base) }, other.map { UnsafePointer($0.u.base) },
                other.map { UnsafePointer($0.v.base) }
            ),
            keeps_room: cover.showsRoom ? 1 : 0,
            mask: mask?.base,
            mask_stride: CInt(mask?.stride ?? 0)
        )
        kernel_room_lay(
            room.pointer,
            small,
            lines.reserve(kernel_room_scratch(width)),
            planes
        )
    }
}

/// The memory of a kernel, zero at first.
final class KernelMemory {
    let pointer: OpaquePointer
    private let bytes: UnsafeMutableRawPointer

    init(_ count: Int) {
        bytes = .allocate(byteCount: count, alignment: 64)
        bytes.initializeMemory(as: UInt8.self, repeating: 0, count: count)
        pointer = OpaquePointer(bytes)
    }

    deinit { bytes.deallocate() }
}

/// The picture in place of a room, in the shape, turn and colours of the camera's pictures.
private struct Backdrop {
    struct Key: Hashable {
        let picture: ObjectIdentifier
        let layout: FrameLayout
        let transform: Transform
        let color: ColorSpace

        init(
            _ picture: Frame,
            _ layout: FrameLayout,
            _ transform: Transform,
            _ color: ColorSpace
        ) {
            self.picture = ObjectIdentifier(picture.buffer)
            (self.layout, self.transform, self.color) = (layout, transform, color)
        }
    }

    let key: Key
    private let buffer: FrameBuffer

    var planes: Planes { Planes(at: buffer.plane(0, of: key.layout).base, layout: key.layout) }

    /// Crops `picture` to the shape, turns it so that it is upright where the camera's picture is,
    /// and converts its colours.
    init(_ picture: Frame, _ key: Key) {
        self.key = key
        buffer = FrameBuffer(byteCount: key.layout.byteCount)
        var copy = HalvedCopy()
        var first = Scratch()
        var second = Scratch()
        guard let source = RoomFilter.planes(of: picture, &copy) else { return }
        let size = key.layout.size
        let even = Size(width: (size.width + 1) / 2 * 2, height: size.height)
        let upright = Rect(key.transform.apply(to: size))
        let scaled = source.cropped(
            to: Rect(source.size).fitting(aspect: upright.width / upright.height)
        ).scaled(to: even, transform: key.transform.inverse, &first, &second)
        let matrix = ColorMatrix(from: picture.color)
        let isFull = key.color.range == .full
        let down = (size.height + planes.u.rows - 1) / planes.u.rows
        var luma = [Float](repeating: 0, count: even.width)
        var (u, v) = (luma, luma)
        func write(_ row: [Float], _ black: Float, _ range: Float, to plane: Plane, _ y: Int) {
            let scale = isFull ? 255 / range : 1
            let base = plane.row(y)
            for x in 0..<plane.rowBytes {
                let value = (row[x] - black) * scale + (isFull && black == 16 ? 0 : black)
                base[x] = byte(max(0, min(255, value)))
            }
        }
        for y in 0..<size.height {
            for x in 0..<even.width { luma[x] = Float(scaled.luma.row(y)[x]) }
            for x in 0..<even.width / 2 {
                (u[x], v[x]) = (Float(scaled.u.row(y)[x]), Float(scaled.v.row(y)[x]))
            }
            matrix.convert(&luma, &u, &v, count: even.width, brightness: 1)
            write(luma, 16, 219, to: planes.luma, y)
            guard y % down == 0 else { continue }
            write(u, 128, 224, to: planes.u, y / down)
            write(v, 128, 224, to: planes.v, y / down)
        }
    }
}

extension kernel_colours {
    /// The parts of chroma in red, green and blue, for luma of `color`.
    init(_ color: ColorSpace) {
        let scale: Float = color.range == .full ? 1 : 219 / 224
        let (redV, greenU, greenV, blueU): (Float, Float, Float, Float) =
            switch color.matrix {
            case .bt601: (1.402, -0.344136, -0.714136, 1.772)
            case .bt709: (1.5748, -0.187324, -0.468124, 1.8556)
            }
        self.init(
            red_v: redV * scale,
            green_u: greenU * scale,
            green_v: greenV * scale,
            blue_u: blueU * scale
        )
    }
}
