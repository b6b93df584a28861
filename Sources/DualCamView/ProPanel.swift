import Control
import DBusKit
import DualCamCore
import Frames
import GTK
import Platform
import ViewCore

/// The dials of Pro mode, over the bar, and its values, in the bar.
final class ProPanel {
    /// The dial, the presets and the lenses, which stay for a while.
    let widget: Revealer
    /// The values, which stay.
    let values: ScrolledWindow
    private(set) var isOpen = false
    var onTrouble: (DBusError) -> Void = { _ in }
    /// `true` while the window may be visible.
    var isShown = true { didSet { follow(isPresent: isPresent) } }

    private let daemon: DaemonMirror?
    private let feedback: Feedback?
    private let dialFace = DialFace()
    private let presets = Box(spacing: 4)
    private let presetRow: ScrolledWindow
    private let content = Box(vertical: true, spacing: 8)
    private let lenses = Box(vertical: true, spacing: 4)
    private let presetGroup = ToggleGroup(
        WhiteBalance.words.map { ($0, ToggleButton(words: $0.capitalizedFirst, $0).keepsFocus()) }
    )
    private var lensGroup = ToggleGroup<String>([])
    private let dials = ToggleGroup(
        [Dial.iso, .shutter, .whiteBalance, .focus].map {
            ($0, ToggleButton(words: "", $0.title).keepsFocus())
        }
    )
    private let aperture = Label()
    private var wheel = DialWheel()
    private var lastMove: (y: Double, time: Timestamp)?
    private var isPresent = false
    private var pending = 0
    private var isStepping = false
    /// `true` if there is room for more than the dial.
    private var hasRoom = true
    private var fading: MainLoop.Timer?
    /// `true` while the stream has been told that the window draws its values.
    private var drawsHud = false

    init(_ daemon: DaemonMirror?, _ feedback: Feedback?) {
        self.daemon = daemon
        self.feedback = feedback
        let line = Box(spacing: 2).style("values")
        for (dial, button) in dials.buttons {
            if dial == .whiteBalance { line.append(aperture) }
            line.append(button)
        }
        values = ScrolledWindow(sideways: line.place(.center, .center))
        values.isVisible = false
        presetRow = ScrolledWindow(sideways: presets.style("presets"))
        presetRow.named("White balance presets")
        content.append(lenses.style("lenses").place(.end, .end))
        content.append(presetRow.place(.center, .end))
        content.append(dialFace.widget)
        content.setMargins(start: 12, end: 12)
        widget = Revealer(content, seconds: 0.3)
        for (_, button) in presetGroup.buttons { presets.append(button) }
        dials.onChoice { [unowned self] in choose($0) }
        presetGroup.onChoice { [unowned self] in setPreset($0) }
        dialFace.widget.onDrag { [unowned self] part, _ in drag(part) }
        dialFace.widget.onScroll { [unowned self] clicks, _, _ in
            wake()
            step(clicks < 0 ? 1 : -1)
        }
    }

    func redraw() { dialFace.widget.redraw() }

    /// Leaves the discs in an upper corner of the `space` over the bar alone: `room` with what is
    /// free around them, at the side where words begin, or end. What has no room is left out.
    func leave(_ room: Size, atStart isAtStart: Bool, of space: Size) {
        dialFace.isLow = space.height < 88 + Int(32 * textScale)
        hasRoom = space.height > 100
        let isLow = content.height(forWidth: space.width) + room.height > space.height
        presetRow.setMargins(
            start: isLow && isAtStart ? room.width : 0,
            end: isLow && !isAtStart ? room.width : 0
        )
    }

    private var camera: ObjectPath { daemon?[\SceneInterface.main] ?? DualCam.backPath }

    private var dial: Dial {
        daemon?[\ProInterface.dial].flatMap(Dial.init) ?? .iso
    }

    // MARK: Following

    func follow(isPresent: Bool) {
        self.isPresent = isPresent
        let isOn = isPresent && (daemon?[\ProInterface.enabled] ?? false)
        if isOn != isOpen {
            (isOpen, values.isVisible) = (isOn, isOn)
            if isOn { wake() } else { widget.isRevealed = false }
        }
        takeHud(isOn && isShown)
        guard isOn else { return }
        let present = values(of: camera)
        let dial = dial
        dials.chosen = dial
        for (own, button) in dials.buttons {
            button.label = present.text(own)
            button.isSensitive = present.has(own)
            if !present.has(own) { button.tooltip = DialScale(own, present).name }
        }
        aperture.isVisible = present.aperture > 0
        aperture.text = "f/\((present.aperture * 10).rounded() / 10)"
        presetRow.isVisible = hasRoom && dial == .whiteBalance && present.has(.whiteBalance)
        presetGroup.chosen = present.whiteBalance
        dialFace.show(DialScale(dial, present))
        followLenses()
    }

    private func values(of camera: ObjectPath) -> DialValues {
        func value<Content>(
            _ property: KeyPath<ControlsInterface, PropertyMember<Content>>
        ) -> Content? {
            daemon?[property, at: camera]
        }
        var values = DialValues()
        values.iso = Int(value(\.iso) ?? 0)
        values.isISOAutomatic = value(\.isoAuto) ?? true
        values.isoStops = (value(\.isoStops) ?? []).map { Int($0) }
        values.shutter = Int(clamping: value(\.shutter) ?? 0)
        values.isExposureAutomatic = value(\.exposureAuto) ?? true
        values.shutterStops = (value(\.shutterStops) ?? []).map { Int(clamping: $0) }
        values.focus = value(\.focus) ?? 0
        values.focusText = value(\.focusText) ?? ""
        values.isFocusAutomatic = value(\.focusAuto) ?? true
        values.whiteBalance = value(\.whiteBalance) ?? "auto"
        values.kelvin = Int(value(\.kelvin) ?? 0)
        if let range = value(\.kelvinRange), range.first <= range.second {
            values.kelvins = Int(range.first)...Int(range.second)
        }
        values.aperture = value(\.aperture) ?? 0
        return values
    }

    private func followLenses() {
        let all = (daemon?[\CameraInterface.lenses, at: camera] ?? []).sorted {
            $0.second < $1.second
        }
        lenses.isVisible = hasRoom && all.count > 1
        if lensGroup.buttons.map(\.word) != all.map(\.first) {
            lensGroup.buttons.forEach { lenses.remove($0.button) }
            lensGroup = ToggleGroup(
                all.map {
                    ($0.first, ToggleButton(words: LensFactor.text($0.second), "Lens \($0.first)"))
                }
            )
            lensGroup.buttons.forEach { lenses.append($0.button) }
            lensGroup.onChoice { [unowned self] in select($0) }
        }
        lensGroup.chosen = daemon?[\CameraInterface.lens, at: camera]
    }

    // MARK: The stream's HUD

    /// Draws the values instead of the stream, or no longer, so that none is shown twice.
    func takeHud(_ isOurs: Bool) {
        guard isPresent else { return drawsHud = false }
        guard isOurs != drawsHud else { return }
        drawsHud = isOurs
        let method = isOurs ? \SceneInterface.claimHud : \SceneInterface.releaseHud
        daemon?.call(method, ())
    }

    // MARK: Hands

    /// Turns the dial in use by `steps`, up for more.
    func step(_ steps: Int) {
        guard isPresent, steps != 0 else { return }
        pending += steps
        send()
    }

    /// Sends what was asked for while the camera was busy with the last step as one.
    private func send() {
        guard !isStepping, pending != 0, let daemon else { return }
        let steps = pending
        pending = 0
        isStepping = true
        daemon.call(\ProInterface.stepDial, Int32(clamping: steps)) { [weak self] answer in
            guard let self else { return }
            isStepping = false
            switch answer {
            case .success(let (_, isLimited)):
                feedback?.tick(isEnd: isLimited)
                if isLimited { reachEnd(isHigh: steps > 0) } else { wheel.free() }
            case .failure(let error):
                pending = 0
                onTrouble(error)
            }
            dialFace.pull(wheel.offset, isAtEnd: wheel.isAtEnd)
            send()
        }
    }

    /// The daemon says that a dial was turned against its end.
    func limitReached(_ signal: Signal) {
        guard signal.arguments.first?.string == dial.rawValue else { return }
        reachEnd(isHigh: signal.arguments.last?.string == Bound.maximum.rawValue)
    }

    private func reachEnd(isHigh: Bool) {
        wheel.limit(isHigh: isHigh)
        dialFace.bump(isHigh: isHigh)
    }

    private func drag(_ part: Widget.Drag) -> Bool {
        wake()
        switch part {
        case .began:
            lastMove = (0, MonotonicClock.now)
        case .moved(_, let y):
            let now = MonotonicClock.now
            if let last = lastMove {
                step(wheel.drag(last.y - y, seconds: (now - last.time).seconds))
            }
            lastMove = (y, now)
            dialFace.pull(wheel.offset, isAtEnd: wheel.isAtEnd)
        case .ended, .cancelled:
            lastMove = nil
            wheel.release()
            dialFace.pull(0, isAtEnd: wheel.isAtEnd)
        }
        return true
    }

    func choose(_ dial: Dial) {
        wake()
        wheel = DialWheel()
        if daemon?[\ProInterface.enabled] != true {
            daemon?.set(\ProInterface.enabled, to: true, done)
        }
        daemon?.set(\ProInterface.dial, to: dial.rawValue, done)
        follow(isPresent: isPresent)
    }

    private func setPreset(_ word: String) {
        wake()
        let done = done
        daemon?.call(\ControlsInterface.setWhiteBalance, at: camera, word) { done($0.error) }
        follow(isPresent: isPresent)
    }

    private func select(_ lens: String) {
        wake()
        let done = done
        daemon?.call(\CameraInterface.selectLens, at: camera, lens) { done($0.error) }
        follow(isPresent: isPresent)
    }

    private var done: (DBusError?) -> Void {
        { [weak self] in if let error = $0 { self?.onTrouble(error) } }
    }

    /// Shows the dial for a while.
    func wake() {
        guard isOpen else { return }
        widget.isRevealed = true
        fading = MainLoop.Timer(after: DialMotion.stay) { [unowned self] in
            widget.isRevealed = false
        }
    }
}
