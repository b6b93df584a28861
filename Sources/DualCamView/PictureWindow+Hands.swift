import Control
import DBusKit
import DualCamCore
import Frames
import GTK
import ViewCore

extension PictureWindow {
    func attachHands() {
        picture.onPress(.primary) { [unowned self] count, x, y in
            let point = viewport.point(x: x, y: y)
            pressed = (x, y)
            hand.press(count, x: point.x, y: point.y, areas)
        }
        picture.onDrag { [unowned self] in drag($0, isFree: $1) }
        picture.onPress(.secondary) { [unowned self] _, x, y in showMenu(x, y) }
        picture.onLongPress(
            held: { [unowned self] in carryOut(hand.cancel()) },
            { [unowned self] x, y in showMenu(x, y) }
        )
        picture.onScroll { [unowned self] clicks, x, y in
            if let wheel = scaling(x, y) { resize(wheel.grip, to: wheel.value(clicks: clicks)) }
        }
        attachPinch()
        stage.onPointer { [unowned self] place in
            placement?.pointer(isHere: place != nil)
            guard place != nil else { return showControls(false) }
            if !hand.isCarrying { showControls() }
        }
    }

    private func attachPinch() {
        var pinch: Scaling?
        picture.onPinch(
            { [unowned self] x, y in
                // One finger came first, and may have begun something else.
                letGoOfWindow()
                carryOut(hand.cancel())
                pinch = scaling(x, y)
            },
            { [unowned self] scale in
                if let pinch { resize(pinch.grip, to: pinch.value(scale: scale)) }
            }
        )
    }

    private func showMenu(_ x: Double, _ y: Double) {
        let place = Rect(x: x, y: y, width: 1, height: 1)
        menu?.show(at: placement?.onScreen(place) ?? place)
    }

    // MARK: Dragging

    /// `isFree`: edges do not draw the inset near.
    private func drag(_ part: Widget.Drag, isFree: Bool) -> Bool {
        carriesFreely = isFree
        switch part {
        case .began: break
        case .moved(let x, let y): carryOut(hand.move(x: x, y: y, lifted ?? areas))
        case .ended(let x, let y):
            letGoOfWindow()
            carryOut(hand.release(x: x, y: y, lifted ?? areas))
        case .cancelled:
            letGoOfWindow()
            carryOut(hand.cancel())
        }
        if isMovingWindow { placement?.move() }
        return true
    }

    private func letGoOfWindow() {
        guard isMovingWindow else { return }
        isMovingWindow = false
        placement?.endMove()
    }

    func carryOut(_ wishes: [Hand.Wish]) {
        for wish in wishes { carryOut(wish) }
    }

    private func carryOut(_ wish: Hand.Wish) {
        switch wish {
        case .swap: perform(.swap)
        case .reset: perform(.reset)
        case .lift:
            guard let other = areas.other else { return }
            lifted = areas
            showControls(false)
            carrier.lift(viewport.place(other), newest?.texture(of: other), insetShape)
        case .carry(let x, let y):
            guard let areas = lifted, let place = place(x, y), let target = areas.inset(at: place)
            else { return }
            carrier.carry(
                x: x,
                y: y,
                target: viewport.place(target),
                guides: areas.guides(at: place).map(viewport.place)
            )
        case .drop(let x, let y):
            guard let place = place(x, y) else { return settle(at: lifted?.other) }
            set(insetPlace: place)
            if Corner(at: place) == nil { toast.show("It stays where you dropped it") }
            settle(at: lifted?.inset(at: place))
        case .putBack: settle(at: lifted?.other)
        case .moveWindow:
            if let placement, placement.beginMove() {
                isMovingWindow = true
            } else {
                window.beginMove(from: picture, x: pressed.x, y: pressed.y)
            }
        }
    }

    private func settle(at target: Rect?) {
        guard let target else { return }
        lifted = nil
        carrier.settle(at: viewport.place(target))
    }

    /// The place that the inset would go to from this far away.
    private func place(_ x: Double, _ y: Double) -> NormalizedPoint? {
        lifted?.place(movedBy: x, y, in: viewport, snapping: !carriesFreely)
    }

    private func set(insetPlace place: NormalizedPoint) {
        if let corner = Corner(at: place) {
            set(\SceneInterface.insetCorner, to: corner.rawValue)
        } else {
            set(\SceneInterface.insetPosition, to: [place.x, place.y])
        }
    }

    /// Moves the inset so far, in units of the window.
    func moveInset(x: Int, y: Int) {
        let areas = areas
        guard areas.hasInset, !hand.isCarrying,
            let place = areas.place(
                from: wantedPlace,
                movedBy: Double(x),
                Double(y),
                in: viewport,
                snapping: false
            )
        else { return }
        wantedPlace = place
        settleWishes()
        set(insetPlace: place)
    }

    // MARK: Sizes

    /// Makes the inset as much larger as so many clicks of a wheel over it.
    func resizeInset(by steps: Int) {
        let inset = Scaling(of: .inset, from: insetSize, in: insetShape.sizes)
        if areas.hasInset { set(insetSize: inset.value(clicks: -Double(steps))) }
    }

    /// Returns what can be resized at a point of the picture.
    private func scaling(_ x: Double, _ y: Double) -> Scaling? {
        let point = viewport.point(x: x, y: y)
        return areas.grip(x: point.x, y: point.y).map { grip in
            grip == .inset
                ? Scaling(of: grip, from: insetSize, in: insetShape.sizes)
                : Scaling(of: grip, from: zoom.zoom, in: zoomRange)
        }
    }

    private func resize(_ grip: Grip, to value: Double) {
        switch grip {
        case .inset: set(insetSize: value)
        case .main(let x, let y): magnify(to: value, x, y)
        }
    }

    private var insetSize: Double {
        wantedSize ?? daemon?[\SceneInterface.insetSize] ?? 0.25
    }

    private func set(insetSize size: Double) {
        wantedSize = size
        settleWishes()
        daemon?.set(\SceneInterface.insetSize, to: size) { [weak self] in self?.report($0) }
    }

    private var zoomRange: ClosedRange<Double> {
        guard let path = mainFirst.first, let range = daemon?[\CameraInterface.zoomRange, at: path],
            range.first <= range.second
        else { return 1...1 }
        return range.first...range.second
    }

    /// The part of the main camera's picture that is shown, as far as the window knows.
    private var zoom: ZoomView {
        let path = mainFirst.first ?? DualCam.backPath
        let present = daemon?[\CameraInterface.zoom, at: path] ?? 1
        if let view = zooms[path], isZooming || abs(view.zoom - present) < 0.01 { return view }
        return ZoomView(zoom: present)
    }

    private func magnify(to wanted: Double, _ x: Double, _ y: Double) {
        guard let path = mainFirst.first, let daemon else { return }
        var view = zoom
        view.magnify(to: wanted, atX: x, y: y)
        zooms[path] = view
        isZooming = true
        settleWishes()
        var options = Options<CameraInterface.Zoom>()
        options.at = Pair(view.x, view.y)
        options.ramp = 120
        daemon.call(\CameraInterface.setZoom, at: path, wanted, options: options) {
            [weak self] in self?.report($0.error)
        }
    }

    /// Believes the daemon again once the hand rests.
    private func settleWishes() {
        wishing = MainLoop.Timer(after: 1) { [unowned self] in
            (wantedSize, wantedPlace) = (nil, nil)
            isZooming = false
        }
    }
}
