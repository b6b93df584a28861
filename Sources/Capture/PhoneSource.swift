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
    private var pace = Pace()
    /// The picture that was waited for when it was opened, until it is taken.
    private var first: JPEGFrame?
    /// The time of the last picture, or of the opening.
    private var last = MonotonicClock.now
    private var hasBegun = false

    var isShown = true
    /// `true` from the time on at which nobody saw the picture, until it is opened anew.
    private var isResting = false

    init(
        _ phone: String,
        _ name: String,
        _ phones: Phones,
        _ wish: PhoneWish
    ) throws(SystemError) {
        (self.name, self.phones) = (name, phones)
        mode = CaptureMode(size: wish.size, rate: 0, format: .mjpg)
        box = try PhoneBox(phone, wish)
        try phones.attach(box)
    }

    deinit {
        let box = box
        phones.post { $0.links[box.name]?.detach(box) }
    }

    func waitForFirst(_ bell: Bell, while isWanted: () -> Bool) throws(CaptureError) {
        while first == nil {
            switch try next(until: Timestamp(nanoseconds: .max), bell: bell) {
            case .jpeg(let picture): first = picture
            case .woken where isWanted(): break
            default: throw CaptureError(.woken, "open", name)
            }
        }
    }

    /// Returns the seconds without a picture that a page in `state` may take.
    private func patience(_ state: PhoneReport.State) -> Double {
        switch state {
        case .waiting, .ready, .live: hasBegun ? 1.5 : 4
        // A person has to answer.
        case .asking: hasBegun ? 1.5 : 8
        // At first it may pass.
        case .hidden, .refused, .busy, .stopped, .away: hasBegun ? 0 : 0.6
        }
    }

    private func reason(_ state: PhoneReport.State) -> CaptureError {
        switch state {
        case .hidden: CaptureError(.hidden, "phone")
        case .asking, .refused: CaptureError(.refused, "phone")
        case .busy:
            CaptureError(.busy, "phone", detail: "another app on the phone uses its camera")
        case .stopped: CaptureError(.stopped, "phone")
        case .waiting, .live, .ready, .away: CaptureError(.away, "phone")
        }
    }

    func suits(_ request: CaptureRequest) -> Bool {
        if !isResting { wish { $0 = PhoneWish(request) } }
        return true
    }

    private func wish(_ change: (inout PhoneWish) -> Void) {
        box.contents.withLock { change(&$0.wish) }
        let name = box.name
        phones.post { $0.links[name]?.follow() }
    }

    var interval: Double { pace.patience }

    func next(until deadline: Timestamp, bell: Bell) throws(CaptureError) -> CapturedEvent {
        if isResting, isShown { throw CaptureError(.woken, "open", name) }
        if !isShown, !isResting {
            isResting = true
            wish { $0.rate = 0 }
            return .resting
        }
        if let picture = first {
            first = nil
            return .jpeg(picture)
        }
        while true {
            let (picture, failure, state) = box.contents.withLock { contents in
                defer { contents.picture = nil }
                return (contents.picture, contents.failure, contents.report.state)
            }
            if !isResting, let picture {
                pace.count(picture.timestamp)
                if let rate = pace.rate { mode.rate = rate }
                (last, hasBegun) = (picture.timestamp, true)
                return .jpeg(picture)
            }
            if !isResting, let failure {
                throw CaptureError(.unreachable, "phone", detail: failure)
            }
            let patience = patience(state)
            let limit = last + Timestamp(seconds: patience)
            let end =
                isResting && patience > 0 ? Timestamp(nanoseconds: .max) : min(deadline, limit)
            switch Capture.wait(for: box.bell.descriptor, bell: bell, until: end) {
            case .ready: box.bell.silence()
            case .rang: return .woken
            case .due:
                guard MonotonicClock.now >= limit else { return .timedOut }
                throw reason(state)
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
