import DualCamCore
import Frames
import Imaging

/// One layer on its way to the canvas: its picture scaled and turned, its surroundings blurred, the
/// weights of its edges computed, ready to be written row by row. Bound to the composite thread.
final class LayerSurface {
    /// The blur of a picture's copy around it, as a fraction of the height, and the share of its
    /// light that is left; then the same for the veil over the last picture of a camera that does
    /// not deliver.
    private static let (surroundingsBlur, surroundingsBrightness) = (30.0 / 720, 0.6)
    private static let (veilBlur, veilBrightness) = (24.0 / 720, 0.72)

    private let canvas: Size
    private let unit: Double
    private var rows = Scratch()
    private var layer = Layer(role: .back, rect: Rect(Size(width: 0, height: 0)))
    private var outer = PixelRect.none
    private var isPlain = true
    private var picture = LensPicture()
    private var next = LensPicture()
    private var hasNext = false
    /// The masks of both pictures.
    private var cutout = LensPicture()
    private var nextCutout = LensPicture()
    private var (hasCutout, hasNextCutout) = (false, false)
    private var surroundings: CachedCopy
    private var veil: CachedCopy
    private var hasSurroundings = false
    private var hasVeil = false
    private var decoration: Decoration
    private var shadow: SoftShadow
    /// The opacities of the shadow of the layer's own shape where that is no rectangle's, and of
    /// persons'.
    private var (roundShadow, personShadow) = (0.0, 0.0)
    private var icon: SwapIcon
    private let freezeMark: FreezeMark
    private var labels: NoticeLabels?

    /// The rectangle that the layer hides completely; its x and width are even.
    private(set) var interior = PixelRect.none

    init(canvas: Size, _ freezeMark: FreezeMark) {
        self.canvas = canvas
        self.freezeMark = freezeMark
        unit = canvas.unit
        surroundings = CachedCopy()
        veil = CachedCopy()
        decoration = Decoration(canvas: canvas)
        shadow = SoftShadow(canvas: canvas)
        icon = SwapIcon(canvas: canvas)
    }

    /// Brings the camera's picture, and that of its other pipeline if it is visible, to the size
    /// and turn in which `layer` shows it, and takes the words of its notice.
    func prepare(_ layer: Layer, of pipelines: PerPipeline<CameraPicture>, labels: NoticeLabels?) {
        self.layer = layer
        self.labels = layer.notice == nil ? nil : labels
        let whole = PixelRect(canvas)
        outer = layer.rect.outwards
        let shape = shape(of: layer)
        let shade = layer.shadowOpacity * layer.opacity
        personShadow = shade * layer.cutout
        roundShadow = shade * (1 - layer.cutout) * layer.roundness
        isPlain =
            layer.opacity >= 1 && layer.corners == .none && layer.borderWidth <= 0
            && shape.shadowOpacity <= 0 && outer == layer.rect.inwards
        if isPlain {
            interior = outer.intersection(whole)
        } else {
            decoration.update(shape)
            interior = decoration.interior
        }
        if layer.cutout > 0 { interior = .none }
        if layer.iconOpacity * layer.opacity > 0 {
            icon.update(
                in: layer.rect,
                distance: layer.distance(atLeast: SwapIcon.distance * canvas.unit),
                opacity: layer.iconOpacity * layer.opacity
            )
        }
        compose(pipelines[layer.source.pipeline])
        // A veiled picture is no page to be read.
        let ink = layer.ink * (1 - layer.veil)
        func prepareInk(_ picture: inout LensPicture, _ source: LayerSource) {
            picture.prepareInk(
                ink,
                source,
                in: layer,
                of: pipelines[source.pipeline],
                spare(1),
                most: canvas.width
            )
        }
        prepareInk(&picture, layer.source)
        hasNext = false
        func mask(_ mask: inout LensPicture, _ source: LayerSource) -> Bool {
            guard layer.cutout > 0, let camera = pipelines[source.pipeline].cutout else {
                return false
            }
            var source = source
            source.grade = .none
            _ = mask.place(source, in: layer, outer: outer, of: camera)
            return camera.frame != nil
        }
        hasCutout = mask(&cutout, layer.source)
        hasNextCutout = false
        if let source = layer.next, layer.nextShare > 0, pipelines[source.pipeline].frame != nil {
            _ = next.place(source, in: layer, outer: outer, of: pipelines[source.pipeline])
            prepareInk(&next, source)
            hasNext = true
            hasNextCutout = mask(&nextCutout, source)
        }
    }

    private func shape(of layer: Layer) -> Shape {
        var shape = Shape(rect: layer.rect)
        shape.corners = layer.corners
        shape.borderWidth = max(0, layer.borderWidth)
        shape.borderOpacity = layer.borderOpacity
        // Of what is cut out, nothing is left of it.
        shape.shadowOpacity = layer.cutout < 1 ? layer.shadowOpacity * (1 - layer.roundness) : 0
        shape.shadowBlur = 8 * unit
        shape.shadowDrop = 6 * unit
        shape.opacity = layer.opacity
        return shape
    }

    /// Places the picture in the layer, and makes the copies that are missing.
    private func compose(_ camera: CameraPicture) {
        (hasSurroundings, hasVeil) = (false, false)
        let source = layer.source
        let fits = picture.place(source, in: layer, outer: outer, of: camera)
        guard camera.frame != nil, !outer.isEmpty else { return }
        if !fits, layer.blur > 0 {
            hasSurroundings = surroundings.update(
                camera,
                recipe: BlurredCopy.Recipe(
                    part: layer.sourcePart(of: source),
                    transform: layer.transform,
                    size: outer.size,
                    sigma: Self.surroundingsBlur,
                    brightness: Self.surroundingsBrightness
                )
            )
        }
        if layer.veil > 0 {
            let rect = picture.rect
            hasVeil = veil.update(
                camera,
                recipe: BlurredCopy.Recipe(
                    part: picture.part,
                    transform: layer.transform,
                    size: rect.size,
                    sigma: Self.veilBlur
                        * (Double(canvas.height) / Double(rect.height)).squareRoot(),
                    brightness: Self.veilBrightness
                ),
                in: source.perspective
            )
        }
    }

    /// Writes the layer to `output`, without the part that `hole` hides.
    func draw(
        into output: UnsafeMutablePointer<UInt8>,
        stride: Int,
        hole: PixelRect
    ) {
        guard layer.opacity > 0 else { return }
        drawShadows(into: output, stride: stride)
        if layer.cutout > 0 {
            drawCut(into: output, stride: stride)
        } else if isPlain {
            drawPlain(into: output, stride: stride, hole: hole)
        } else {
            drawDecorated(into: output, stride: stride, hole: hole)
        }
        if layer.iconOpacity * layer.opacity > 0 {
            for y in icon.rows { icon.apply(y: y, to: output + y * stride) }
        }
        freezeMark.draw(in: layer, into: output, stride: stride)
        labels?.draw(in: layer, into: output, stride: stride)
    }

    /// Draws the shadows that are no rectangle's, beneath the layer.
    private func drawShadows(into output: UnsafeMutablePointer<UInt8>, stride: Int) {
        let bounds = outer.intersection(PixelRect(canvas))
        guard max(roundShadow, personShadow) > 0, !bounds.isEmpty else { return }
        let row = spare(4)
        func draw(_ opacity: Double, _ mask: (Int, Range<Int>) -> Void) {
            guard opacity > 0 else { return }
            shadow.update(bounds, opacity: opacity, hides: layer.opacity >= 1) { y, range in
                mask(y, range)
                return UnsafePointer(row)
            }
            for y in shadow.rows { shadow.apply(y: y, to: output + y * stride) }
        }
        draw(roundShadow) { y, range in
            (row + 2 * range.lowerBound).update(repeating: 0, count: 2 * range.count)
            let inside = layer.columns(y: y).clamped(to: range)
            (row + 2 * inside.lowerBound).update(repeating: 255, count: 2 * inside.count)
        }
        guard hasCutout || hasNextCutout else { return }
        draw(personShadow) { writeMask(y: $0, $1, into: row) }
    }

    private func drawPlain(
        into output: UnsafeMutablePointer<UInt8>,
        stride: Int,
        hole: PixelRect
    ) {
        let touched = outer.intersection(PixelRect(canvas))
        let rows = touched.y..<touched.maxY
        let beside = (hole.y..<max(hole.y, hole.maxY)).clamped(to: rows)
        func draw(_ band: Range<Int>) {
            // Only rows of the picture, from edge to edge?
            if picture.isView, picture.rect == touched, !hasVeil, !picture.isChanged, !hasNext {
                let target = output + band.lowerBound * stride + 2 * touched.x
                let first = band.lowerBound - touched.y
                picture.write(rows: first..<first + band.count, into: target, stride: stride)
                return
            }
            for y in band {
                write(y: y, touched.x..<touched.maxX, hole: hole, row: output + y * stride)
            }
        }
        draw(rows.lowerBound..<beside.lowerBound)
        for y in beside {
            write(y: y, touched.x..<touched.maxX, hole: hole, row: output + y * stride)
        }
        draw(beside.upperBound..<rows.upperBound)
    }

    private func drawDecorated(
        into output: UnsafeMutablePointer<UInt8>,
        stride: Int,
        hole: PixelRect
    ) {
        let touched = decoration.bounds
        guard !touched.isEmpty else { return }
        for y in touched.y..<touched.maxY { drawDecorated(y: y, hole, row: output + y * stride) }
    }

    private func drawDecorated(y: Int, _ hole: PixelRect, row: UnsafeMutablePointer<UInt8>) {
        let (touched, content) = (decoration.bounds, spare(0))
        let weights = decoration.row(y)
        let (left, right) = (weights.opaque.lowerBound, weights.opaque.upperBound)
        blend(y: y, touched.x..<left, weights.left, content, row: row)
        write(y: y, weights.opaque, hole: hole, row: row)
        blend(y: y, right..<touched.maxX, weights.right, content, row: row)
    }

    /// Draws what is left of the layer, as it would be drawn whole, where persons are.
    private func drawCut(into output: UnsafeMutablePointer<UInt8>, stride: Int) {
        let touched = isPlain ? outer.intersection(PixelRect(canvas)) : decoration.bounds
        guard !touched.isEmpty else { return }
        let (whole, mask) = (spare(3), spare(4))
        let share = Int((layer.cutout * 255).rounded())
        for y in touched.y..<touched.maxY {
            var range = touched.x..<touched.maxX
            writeMask(y: y, range, into: mask)
            if share == 255 { range = marked(mask, in: range) }
            guard !range.isEmpty else { continue }
            let row = output + y * stride
            let (start, count) = (2 * range.lowerBound, 2 * range.count)
            if isPlain {
                write(y: y, range, into: whole + start)
            } else {
                let left = 2 * touched.x
                (whole + left).update(from: row + left, count: 2 * touched.width)
                drawDecorated(y: y, .none, row: whole)
            }
            cut(whole + start, by: mask + start, share: share, over: row + start, count: count)
        }
    }

    /// Writes where persons are in pixels of the canvas's row `y`, as luma.
    private func writeMask(y: Int, _ range: Range<Int>, into row: UnsafeMutablePointer<UInt8>) {
        func write(_ mask: inout LensPicture, _ row: UnsafeMutablePointer<UInt8>) {
            (row + 2 * range.lowerBound).update(repeating: 0, count: 2 * range.count)
            let rect = mask.rect
            guard y >= rect.y, y < rect.maxY else { return }
            let met = range.clamped(to: rect.x..<rect.maxX)
            guard !met.isEmpty else { return }
            let target = row + 2 * met.lowerBound
            mask.write(y: y, from: met.lowerBound, to: met.upperBound, into: target)
        }
        if hasCutout {
            write(&cutout, row)
        } else {
            (row + 2 * range.lowerBound).update(repeating: 0, count: 2 * range.count)
        }
        guard hasNextCutout else { return }
        let (other, start) = (spare(2), 2 * range.lowerBound)
        write(&nextCutout, other)
        mix(
            row + start,
            other + start,
            fraction: min(255, Int(layer.nextShare * 256)),
            count: 2 * range.count,
            into: row + start
        )
    }

    /// Lays pixels of the layer over the row by their weights; `content` is room for a row.
    private func blend(
        y: Int,
        _ range: Range<Int>,
        _ weights: WeightRow,
        _ content: UnsafeMutablePointer<UInt8>,
        row: UnsafeMutablePointer<UInt8>
    ) {
        guard !range.isEmpty else { return }
        if y >= outer.y, y < outer.maxY {
            let inside = range.clamped(to: outer.x..<max(outer.x, outer.maxX))
            write(y: y, inside, into: content + 2 * inside.lowerBound)
        }
        let offset = 2 * range.lowerBound
        weights.apply(content + offset, to: row + offset, count: 2 * range.count)
    }

    /// Writes opaque pixels of the layer to the row, without the part that `hole` hides.
    private func write(
        y: Int,
        _ range: Range<Int>,
        hole: PixelRect,
        row: UnsafeMutablePointer<UInt8>
    ) {
        let (left, right) = hole.outside(range, y: y)
        write(y: y, left, into: row + 2 * left.lowerBound)
        write(y: y, right, into: row + 2 * right.lowerBound)
    }

    /// Writes pixels of the layer's row `y`, all inside `outer`, to `destination`.
    private func write(
        y: Int,
        _ range: Range<Int>,
        into destination: UnsafeMutablePointer<UInt8>
    ) {
        guard !range.isEmpty else { return }
        var inside = range.upperBound..<range.upperBound
        if y >= picture.rect.y, y < picture.rect.maxY {
            let met = range.clamped(to: picture.rect.x..<picture.rect.maxX)
            if !met.isEmpty { inside = met }
        }
        surround(y: y, range.lowerBound..<inside.lowerBound, into: destination)
        write(
            y: y,
            picture: inside,
            into: destination + 2 * (inside.lowerBound - range.lowerBound)
        )
        surround(
            y: y,
            inside.upperBound..<range.upperBound,
            into: destination + 2 * (inside.upperBound - range.lowerBound)
        )
        picture.grade(destination, count: range.count)
        if !inside.isEmpty {
            let offset = inside.lowerBound - range.lowerBound
            picture.ink(destination + 2 * offset, inside, y: y)
        }
        if hasNext { crossOver(y: y, range, into: destination) }
    }

    /// Lays the visible share of the next picture over pixels of the layer's row `y`.
    private func crossOver(
        y: Int,
        _ range: Range<Int>,
        into destination: UnsafeMutablePointer<UInt8>
    ) {
        guard y >= next.rect.y, y < next.rect.maxY else { return }
        let met = range.clamped(to: next.rect.x..<next.rect.maxX)
        guard !met.isEmpty else { return }
        let other = spare(2)
        next.write(y: y, from: met.lowerBound, to: met.upperBound, into: other)
        next.grade(other, count: met.count)
        next.ink(other, met, y: y)
        let target = destination + 2 * (met.lowerBound - range.lowerBound)
        mix(
            target,
            other,
            fraction: min(255, Int(layer.nextShare * 256)),
            count: 2 * met.count,
            into: target
        )
    }

    /// Returns the room for a row with this number, of five.
    private func spare(_ number: Int) -> UnsafeMutablePointer<UInt8> {
        rows.reserve(5 * 2 * canvas.width) + number * 2 * canvas.width
    }

    private func write(
        y: Int,
        picture range: Range<Int>,
        into destination: UnsafeMutablePointer<UInt8>
    ) {
        guard !range.isEmpty else { return }
        let (x0, x1) = (range.lowerBound, range.upperBound)
        guard hasVeil else {
            picture.write(y: y, from: x0, to: x1, into: destination)
            return
        }
        let (left, right) = (x0 - picture.rect.x, x1 - picture.rect.x)
        guard layer.veil < 1 else {
            veil.copy.write(y: y - picture.rect.y, from: left, to: right, into: destination)
            return
        }
        let veiled = spare(1)
        veil.copy.write(y: y - picture.rect.y, from: left, to: right, into: veiled)
        picture.write(y: y, from: x0, to: x1, into: destination)
        mix(
            destination,
            veiled,
            fraction: min(255, Int(layer.veil * 256)),
            count: 2 * range.count,
            into: destination
        )
    }

    private func surround(
        y: Int,
        _ range: Range<Int>,
        into destination: UnsafeMutablePointer<UInt8>
    ) {
        guard !range.isEmpty else { return }
        if hasSurroundings {
            surroundings.copy.write(
                y: y - outer.y,
                from: range.lowerBound - outer.x,
                to: range.upperBound - outer.x,
                into: destination
            )
            guard layer.blur < 1 else { return }
            let black = spare(1)
            LayerContent.fill(black, luma: LayerContent.black, count: range.count)
            mix(
                black,
                destination,
                fraction: min(255, Int(layer.blur * 256)),
                count: 2 * range.count,
                into: destination
            )
        } else {
            LayerContent.fill(destination, luma: LayerContent.black, count: range.count)
        }
    }
}

/// The picture of one lens as a layer shows it.
struct LensPicture: ~Copyable {
    private var first = Scratch()
    private var second = Scratch()
    private var layerContent = LayerContent()
    private var turned: (key: TurnKey, planes: Planes)?
    private var seen = PerspectiveCopy()
    private var grading: Grading?
    private var ink = Ink()
    /// The share of the grade for paper, 0 … 1.
    private var inkShare = 0.0
    /// The picture in which the light on the paper was found.
    private var inked: (frame: FrameIdentity, place: InkPlace)?

    /// The visible part of the frame's picture, in fractions of its size, before the turn.
    private(set) var part = Rect.unit
    /// The rectangle on the canvas; x and width are even. May reach beyond the canvas.
    var rect: PixelRect { layerContent.rect }
    /// `true` if the rows are the frame's own, scaled.
    var isView: Bool { layerContent.isView }
    /// `true` if the colours or the light are changed.
    var isChanged: Bool { grading != nil || inkShare > 0 }

    /// Brings the newest picture of `camera` to the size and turn in which `layer`, of pixels
    /// `outer`, shows it as `source`. Returns `true` if it fills the layer, with nothing around it.
    mutating func place(
        _ source: LayerSource,
        in layer: Layer,
        outer: PixelRect,
        of camera: CameraPicture
    ) -> Bool {
        grading = source.grade == .none ? nil : Grading(source.grade)
        layerContent.rect = outer
        layerContent.content = .nothing
        guard let frame = camera.frame, !outer.isEmpty else { return true }
        part = layer.sourcePart(of: source)
        let swapsAxes = layer.transform.swapsAxes
        let picture = frame.picture(in: source.perspective)
        let whole = picture.part(part)
        let aspect = swapsAxes ? 1 / whole.aspect : whole.aspect
        let fitted = layer.rect.fitting(aspect: aspect)
        // A difference in shape of less than a pixel pair does not count.
        let fits = layer.rect.width - fitted.width < 2 && layer.rect.height - fitted.height < 2
        guard !fits else {
            layerContent.content = content(of: camera, frame: frame, source, layer)
            return true
        }
        // The visible part of a picture between fitted and filling.
        let shown = fitted.interpolated(
            to: layer.rect.covering(aspect: aspect),
            fraction: layer.fill
        ).intersection(layer.rect)
        if layer.fill < 1 {
            let near = shown.nearest
            // What reaches from edge to edge covers the edges.
            let (spans, rises) = (
                layer.fill > 0 && shown.width == layer.rect.width,
                layer.fill > 0 && shown.height == layer.rect.height
            )
            layerContent.rect = PixelRect(
                x: spans ? outer.x : near.x,
                y: rises ? outer.y : near.y,
                width: spans ? outer.width : near.width,
                height: rises ? outer.height : near.height
            )
        }
        if layer.fill > 0 {
            let place = layer.sourcePlace(of: source)
            part = part.cropped(
                // In fractions of the picture, whose own shape is divided out.
                toAspect: (swapsAxes ? 1 / shown.aspect : shown.aspect) / picture.aspect,
                about: (place.x, place.y)
            )
        }
        layerContent.content = content(of: camera, frame: frame, source, layer)
        return layer.fill >= 1
    }

    /// Finds the light on the paper in the picture as it was placed from `source` of `camera`, to
    /// grade it by `share`, 0 … 1; 0 costs nothing. `room` is memory for a row of `most` pixels.
    mutating func prepareInk(
        _ share: Double,
        _ source: LayerSource,
        in layer: Layer,
        of camera: CameraPicture,
        _ room: UnsafeMutablePointer<UInt8>,
        most: Int
    ) {
        inkShare = 0
        let size = rect.size
        guard share > 0, let frame = camera.frame, !rect.isEmpty, size.width <= most else {
            inked = nil
            return
        }
        inkShare = share
        let place = InkPlace(
            size: size,
            part: part,
            transform: layer.transform,
            perspective: source.perspective,
            grade: source.grade
        )
        guard inked?.frame != frame.identity || inked?.place != place else { return }
        if inked?.place != place { ink.forget() }
        inked = (frame.identity, place)
        ink.begin()
        for row in 0..<Ink.rows {
            let y = (2 * row + 1) * size.height / (2 * Ink.rows)
            write(y: rect.y + y, from: rect.x, to: rect.maxX, into: room)
            grade(room, count: size.width)
            ink.look(room, count: size.width, y: (Double(y) + 0.5) / Double(size.height))
        }
        ink.settle(at: frame.timestamp)
    }

    /// Grades pixels of the canvas's row `y`, all inside `rect`, for paper.
    mutating func ink(_ pixels: UnsafeMutablePointer<UInt8>, _ range: Range<Int>, y: Int) {
        guard inkShare > 0 else { return }
        ink.apply(
            to: pixels,
            from: range.lowerBound - rect.x,
            count: range.count,
            width: rect.size.width,
            y: (Double(y - rect.y) + 0.5) / Double(rect.size.height),
            strength: inkShare
        )
    }

    /// Returns the source of the rows of `part`: in perspective, a copy made as it is shown.
    private mutating func content(
        of camera: CameraPicture,
        frame: Frame,
        _ source: LayerSource,
        _ layer: Layer
    ) -> LayerContent.Content {
        guard let perspective = source.perspective else {
            return content(of: camera, frame: frame, part: frame.picture.part(part), layer)
        }
        let view = PerspectiveView(
            perspective: perspective,
            part: part,
            transform: layer.transform,
            size: layerContent.rect.size
        )
        guard let planes = seen.update(camera, view) else { return .nothing }
        return .planes(planes, Packer(frame.color))
    }

    /// Returns the source of the rows: the frame itself if its rows stay rows, else a copy that is
    /// scaled and turned as a whole. `part` is the shown part of the frame, in its pixels.
    private mutating func content(
        of camera: CameraPicture,
        frame: Frame,
        part: Rect,
        _ layer: Layer
    ) -> LayerContent.Content {
        let (size, turn) = (layerContent.rect.size, layer.transform)
        guard turn.swapsAxes else {
            let view = View(part, at: size, transform: turn)
            return layerContent.scaler.prepare(frame, view) ? .view : .nothing
        }
        let key = TurnKey(frame: frame.identity, transform: turn, size: size, part: part)
        if turned?.key != key {
            // The size of the whole picture, of which the visible part may be less.
            let shown = turn.inverse.apply(to: size)
            let whole = frame.layout.size
            let extent = Size(
                width: Int((Double(shown.width * whole.width) / part.width).rounded()),
                height: Int((Double(shown.height * whole.height) / part.height).rounded())
            )
            guard let planes = camera.planes(for: extent) else { return .nothing }
            let across = Double(planes.size.width) / Double(whole.width)
            let down = Double(planes.size.height) / Double(whole.height)
            let cropped = Rect(
                x: part.x * across,
                y: part.y * down,
                width: part.width * across,
                height: part.height * down
            )
            let source = part == frame.picture ? planes : planes.cropped(to: cropped)
            turned = (key, source.scaled(to: size, transform: turn, &first, &second))
        }
        guard let turned else { return .nothing }
        return .planes(turned.planes, Packer(frame.color))
    }

    /// Writes the pixels of the canvas's row `y` from `x0` up to `x1`, all inside `rect`.
    mutating func write(
        y: Int,
        from x0: Int,
        to x1: Int,
        into destination: UnsafeMutablePointer<UInt8>
    ) {
        layerContent.write(y: y, from: x0, to: x1, into: destination)
    }

    /// Writes rows of a picture that `isView`, by their number in it.
    mutating func write(
        rows: Range<Int>,
        into destination: UnsafeMutablePointer<UInt8>,
        stride: Int
    ) {
        layerContent.scaler.write(rows: rows, into: destination, stride: stride)
    }

    /// Grades `count` pixels as the picture is graded.
    func grade(_ pixels: UnsafeMutablePointer<UInt8>, count: Int) {
        grading?.apply(to: pixels, count: count)
    }

    /// The placement of the picture in which the light on the paper was found.
    private struct InkPlace: Hashable {
        var size: Size
        var part: Rect
        var transform: Transform
        var perspective: Perspective?
        var grade: Grade
    }

    private struct TurnKey: Hashable {
        var frame: FrameIdentity
        var transform: Transform
        var size: Size
        /// The part of the picture, in the frame's pixels.
        var part: Rect
    }
}

/// A blurred copy and its source.
struct CachedCopy: ~Copyable {
    var copy = BlurredCopy()
    private var straight = PerspectiveCopy()
    private var made: Key?

    private struct Key: Hashable {
        var frame: FrameIdentity
        var recipe: BlurredCopy.Recipe
        var perspective: Perspective?
    }

    /// Makes the copy from the camera's newest picture; the recipe's part is one of what
    /// `perspective` makes of it. Returns `false` if there is none.
    mutating func update(
        _ camera: CameraPicture,
        recipe: BlurredCopy.Recipe,
        in perspective: Perspective? = nil
    ) -> Bool {
        guard let frame = camera.frame else { return false }
        let key = Key(frame: frame.identity, recipe: recipe, perspective: perspective)
        guard key != made else { return true }
        if let perspective {
            // It is turned and cropped in the same step.
            let view = PerspectiveView(
                perspective: perspective,
                part: recipe.part,
                transform: recipe.transform,
                size: recipe.smallSize
            )
            guard let planes = straight.update(camera, view) else { return false }
            var rest = recipe
            (rest.part, rest.transform) = (.unit, .identity)
            copy.update(planes, color: frame.color, recipe: rest)
        } else {
            let part = frame.picture.part(recipe.part)
            let aspect = recipe.transform.swapsAxes ? 1 / part.aspect : part.aspect
            let covering = Rect(recipe.smallSize).covering(aspect: aspect).outwards.size
            let shown = recipe.transform.inverse.apply(to: covering)
            let extent = Size(
                width: Int(Double(shown.width) / recipe.part.width),
                height: Int(Double(shown.height) / recipe.part.height)
            )
            guard let planes = camera.planes(for: extent) else { return false }
            copy.update(planes, color: frame.color, recipe: recipe)
        }
        made = key
        return true
    }
}

extension Grading {
    /// The grading of a scene. Red's and blue's gains are relative to green's, so that light stays.
    init(_ grade: Grade) {
        self.init(red: grade.red / grade.green, blue: grade.blue / grade.green, light: grade.light)
    }
}

extension Layer {
    /// The share, 0 … 1, to which it casts the shadow of its own shape instead of a rectangle's:
    /// all of it as a circle, nothing with small corners.
    var roundness: Double {
        let shorter = max(1, min(rect.width, rect.height))
        return min(1, max(0, 20 * corners.largest / shorter - 9))
    }

    /// Returns the pixels of the canvas's row `y` that it covers, to the nearest one.
    func columns(y: Int) -> Range<Int> {
        let y = Double(y) + 0.5
        func inset(_ radius: Double) -> Double {
            let depth = max(0, radius - min(y - rect.y, rect.maxY - y))
            return radius - max(0, radius * radius - depth * depth).squareRoot()
        }
        let left = rect.x + inset(y < rect.midY ? corners.topLeft : corners.bottomLeft)
        let right = rect.maxX - inset(y < rect.midY ? corners.topRight : corners.bottomRight)
        let start = Int(left.rounded())
        return start..<max(start, Int(right.rounded()))
    }

    /// Returns the part of the picture that `source` shows, before the turn.
    func sourcePart(of source: LayerSource) -> Rect { transform.inverse.apply(to: source.part) }

    /// Returns the point about which the picture of `source` is cropped, before the turn.
    func sourcePlace(of source: LayerSource) -> Rect {
        transform.inverse.apply(
            to: Rect(x: source.place.x, y: source.place.y, width: 0, height: 0)
        )
    }
}

extension Frame {
    /// Returns the rectangle that the picture becomes in `perspective`: of the shape of what is
    /// seen, and as many pixels as the frame has. The frame's own without one.
    fileprivate func picture(in perspective: Perspective?) -> Rect {
        guard let perspective else { return picture }
        let aspect = perspective.aspect(in: picture.aspect)
        let height = (picture.width * picture.height / aspect).squareRoot()
        return Rect(x: 0, y: 0, width: height * aspect, height: height)
    }
}

extension PixelRect {
    static let none = PixelRect(x: 0, y: 0, width: 0, height: 0)

    /// Returns the parts of `range` in row `y` to the left and to the right of the rectangle; the
    /// second is empty if the row does not meet it.
    func outside(_ range: Range<Int>, y: Int) -> (Range<Int>, Range<Int>) {
        let end = range.upperBound..<range.upperBound
        guard !isEmpty, y >= self.y, y < self.maxY else { return (range, end) }
        let hidden = range.clamped(to: x..<maxX)
        guard !hidden.isEmpty else { return (range, end) }
        return (range.lowerBound..<hidden.lowerBound, hidden.upperBound..<range.upperBound)
    }
}

extension Rect {
    /// Width over height; 1 for an empty rectangle.
    var aspect: Double { height > 0 ? width / height : 1 }

    /// Returns the largest rectangle of `aspect` inside this one, as near `place` as there is room.
    func cropped(toAspect aspect: Double, about place: (x: Double, y: Double)) -> Rect {
        var part = fitting(aspect: aspect)
        part.x = Swift.min(Swift.max(x, place.x - part.width / 2), maxX - part.width)
        part.y = Swift.min(Swift.max(y, place.y - part.height / 2), maxY - part.height)
        return part
    }
}
