package import DualCamCore
import Frames
package import Platform
import Synchronization

/// A phone whose browser sends its camera's pictures.
package struct PhoneSource: WaitingSource {
    package let name: String
    private let phone: String
    private let phones: Phones

    /// Creates the source of the phone that was added as `phone`. Throws `unsupported` without
    /// `phones`.
    package init(_ phone: String, _ name: String, _ phones: Phones?) throws(CaptureError) {
        guard let phones else {
            throw CaptureError(.unsupported, "open", name, detail: "no phone is served here")
        }
        (self.phone, self.name, self.phones) = (phone, name, phones)
    }

    package var identity: String { SourceSpecification.phone(phone).description }

    /// Serves the phone, and waits for its first picture. Throws `hidden`, `refused`, `busy` or
    /// `away` for what its page says, and `unreachable` if it cannot be served.
    package func open(
        _ request: CaptureRequest,
        bell: Bell,
        while isWanted: () -> Bool
    ) throws(CaptureError) -> any CameraStream {
        let stream: PhoneStream
        do throws(SystemError) {
            stream = try PhoneStream(phone, name, phones, PhoneWish(request))
        } catch {
            throw CaptureError(.system, error.operation, errno: error.errno)
        }
        try stream.waitForFirst(bell, while: isWanted)
        return stream
    }

    /// Returns the zoom, the light and the side of its camera.
    package func openControls() throws(CaptureError) -> any ControlPort {
        PhonePort(phone, phones)
    }
}

extension PhoneWish {
    /// A wish for pictures that fill what `request` asks for, in the phone's usual form.
    init(_ request: CaptureRequest) {
        let (one, other) = (request.size.width, request.size.height)
        // For a photo, too: what a phone has is larger, and of no use for a call.
        let least = request.isFull ? Size(width: 1920, height: 1080) : Size(width: 0, height: 0)
        size = Size(
            width: max(one, other, least.width),
            height: max(min(one, other), least.height)
        )
        rate = request.rate
    }
}

/// The pictures of a phone.
private final class PhoneStream: CameraStream {
    private(set) var mode: CaptureMode
    private let name: String
    private let phones: Phones
    private let box: PhoneBox
    private var wish: PhoneWish
    private var pace = Pace()
    private var next: JPEGFrame?
    private var lastPicture = MonotonicClock.now

    var isShown = true
    /// `true` from the time on at which nobody saw the picture, until it is opened anew.
    private var isResting = false

    /// The seconds in which a state may pass that keeps the first picture from coming, those that a
    /// page may take to come, and those between two pictures of a phone that goes on.
    private static let (settling, calling, patience) = (0.6, 4.0, 1.5)

    init(
        _ phone: String,
        _ name: String,
        _ phones: Phones,
        _ wish: PhoneWish
    ) throws(SystemError) {
        (self.name, self.phones, self.wish) = (name, phones, wish)
        mode = CaptureMode(size: wish.size, rate: 0, format: .mjpg)
        box = try PhoneBox(phone, wish)
        try phones.attach(box)
    }

    deinit {
        let box = box
        phones.post { $0.detach(box) }
    }

    func waitForFirst(_ bell: Bell, while isWanted: () -> Bool) throws(CaptureError) {
        let start = MonotonicClock.now
        while try !take() {
            let state = box.contents.withLock { $0.report.state }
            let limit =
                switch state {
                case .waiting, .ready, .live: Self.calling
                // A person has to answer.
                case .asking: Self.calling * 2
                case .hidden, .refused, .busy, .stopped, .away: Self.settling
                }
            let deadline = start + Timestamp(seconds: limit)
            switch Capture.wait(for: box.bell.descriptor, bell: bell, until: deadline) {
            case .ready: box.bell.silence()
            case .rang: guard isWanted() else { throw CaptureError(.woken, "open", name) }
            case .due: throw reason(state)
            }
        }
    }

    /// Takes over the newest picture. Returns `false` if there is none.
    private func take() throws(CaptureError) -> Bool {
        let (picture, failure) = box.contents.withLock { contents in
            defer { contents.picture = nil }
            return (contents.picture, contents.failure)
        }
        guard let picture else {
            if let failure { throw CaptureError(.unreachable, "phone", detail: failure) }
            return next != nil
        }
        pace.count(picture.timestamp)
        if let rate = pace.rate { mode.rate = rate }
        next = picture
        lastPicture = picture.timestamp
        return true
    }

    private func reason(_ state: PhoneReport.State) -> CaptureError {
        switch state {
        case .hidden: CaptureError(.hidden, "phone")
        case .asking, .refused: CaptureError(.refused, "phone")
        case .busy:
            CaptureError(.busy, "phone", detail: "another app on the phone uses its camera")
        case .waiting, .live, .ready, .stopped, .away: CaptureError(.away, "phone")
        }
    }

    func suits(_ request: CaptureRequest) -> Bool {
        let wish = PhoneWish(request)
        if wish != self.wish {
            self.wish = wish
            if !isResting { adapt(wish) }
        }
        return true
    }

    private func adapt(_ wish: PhoneWish) {
        let box = box
        phones.post { $0.adapt(box, to: wish) }
    }

    var interval: Double { pace.patience }

    func next(until deadline: Timestamp, bell: Bell) throws(CaptureError) -> CapturedEvent {
        if isResting, isShown { throw CaptureError(.woken, "open", name) }
        if !isShown, !isResting {
            isResting = true
            wish.rate = 0
            adapt(wish)
            return .resting
        }
        while true {
            if !isResting, try take(), let picture = next {
                next = nil
                return .jpeg(picture)
            }
            let state = box.contents.withLock { $0.report.state }
            if ![.live, .ready, .asking, .waiting].contains(state) { throw reason(state) }
            let last = lastPicture + Timestamp(seconds: Self.patience)
            let end = isResting ? Timestamp(nanoseconds: .max) : min(deadline, last)
            switch Capture.wait(for: box.bell.descriptor, bell: bell, until: end) {
            case .ready: box.bell.silence()
            case .rang: return .woken
            case .due:
                guard MonotonicClock.now >= last else { return .timedOut }
                throw reason(.away)
            }
        }
    }
}

/// The zoom, the light and the side of a phone's camera, as controls of a device.
private final class PhonePort: ControlPort {
    let descriptor: CInt = -1
    private let phone: String
    private let phones: Phones

    private static let (zoomID, lightID, sideID) = (UInt32(1), UInt32(2), UInt32(3))

    init(_ phone: String, _ phones: Phones) { (self.phone, self.phones) = (phone, phones) }

    func controls() -> [DeviceControl] {
        guard let report = phones.report(of: phone) else { return [] }
        func hundredths(_ number: Double) -> Int { Int((number * 100).rounded()) }
        var all: [DeviceControl] = []
        if let zoom = report.zoom {
            let range = hundredths(zoom.range.lowerBound)...hundredths(zoom.range.upperBound)
            all.append(
                DeviceControl(
                    id: Self.zoomID,
                    name: "zoom_absolute",
                    title: "Zoom",
                    purpose: .zoom,
                    range: range,
                    step: hundredths(zoom.step),
                    initial: range.lowerBound,
                    flags: .volatile,
                    value: hundredths(zoom.value)
                )
            )
        }
        func add(_ id: UInt32, _ name: String, _ title: String, _ items: [String?], _ value: Int) {
            let menu = items.enumerated().compactMap { index, name in
                name.map { DeviceControl.Item(index: index, name: $0) }
            }
            all.append(
                DeviceControl(
                    id: id,
                    name: name,
                    title: title,
                    kind: .menu,
                    range: 0...items.count - 1,
                    menu: menu,
                    flags: .volatile,
                    value: value
                )
            )
        }
        if let isLit = report.light {
            add(Self.lightID, "flash_led_mode", "Light", ["Off", nil, "Torch"], isLit ? 2 : 0)
            all[all.count - 1].purpose = .flashMode
        }
        if let side = report.side {
            add(Self.sideID, "camera", "Camera", ["Back", "Front"], side == .back ? 0 : 1)
        }
        return all
    }

    func update(_ controls: inout [DeviceControl], where matters: (DeviceControl) -> Bool) {
        let now = self.controls()
        for index in controls.indices where matters(controls[index]) {
            let new = now.first { $0.id == controls[index].id }
            controls[index] = new ?? controls[index]
        }
    }

    func write(_ write: ControlWrite) throws(ControlRefusal) {
        guard let control = controls().first(where: { $0.id == write.id }) else {
            throw .notSupported("The phone's camera has no control \(write.name).")
        }
        guard control.range.contains(write.value) else {
            throw .outOfRange("The phone does not take \(write.name)=\(write.value).")
        }
        let (isLit, side) = (write.value != 0, write.value == 0 ? PhoneReport.Side.back : .front)
        phones.change(phone) { wish in
            switch write.id {
            case Self.zoomID: wish.zoom = Double(write.value) / 100
            case Self.lightID: wish.light = isLit
            default: wish.side = side
            }
        } expecting: { report in
            // The page says so a moment later. Of the zoom it is needed when it has happened.
            if write.id == Self.lightID { report.light = isLit }
            if write.id == Self.sideID { report.side = side }
        }
    }

    func subscribe(to controls: [DeviceControl]) {}
    func takeEvents() -> Bool { false }
}
