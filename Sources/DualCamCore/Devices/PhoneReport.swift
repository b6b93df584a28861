/// The words of a phone's page about itself, and about the camera that it has open.
package struct PhoneReport: Hashable, Sendable {
    /// The state of the page. The words are those of the page and of the D-Bus interface.
    package enum State: String, CaseIterable, Hashable, Sendable {
        /// No page has come yet.
        case waiting
        /// The page is there, and the phone has not allowed it the camera yet.
        case asking
        case live
        /// Its camera is off, since nobody looks.
        case ready
        /// It is in the background, or the phone's screen is off.
        case hidden
        /// The phone does not allow it the camera.
        case refused
        /// Another app on the phone uses the camera.
        case busy
        /// Somebody has ended it on the phone.
        case stopped
        /// It was there, and does not answer any more.
        case away
    }

    /// A camera of the phone.
    package enum Side: String, CaseIterable, Hashable, Sendable {
        case back, front
    }

    /// The zoom of the camera.
    package struct Zoom: Hashable, Sendable {
        package let range: ClosedRange<Double>
        package let step: Double
        package let value: Double
    }

    package var state = State.waiting
    /// The number of the command that it has carried out last.
    package var command: UInt64 = 0
    package var side: Side?
    package var zoom: Zoom?
    /// `true` if the light is on; `nil` if there is none.
    package var light: Bool?
    /// `true` while its network is too slow for whole pictures.
    package var isSlow = false

    package init(_ state: State = .waiting) { self.state = state }

    /// Reads "state=live&command=12&side=back&zoom=1,8,0.1,2&light=0&slow=0", of which anybody may
    /// have made up each byte; `nil` without a state that a page has.
    package init?(parsing text: String) {
        var fields: [Substring: Substring] = [:]
        for field in text.prefix(1024).split(separator: "&").prefix(16) {
            let parts = field.split(separator: "=", maxSplits: 1)
            if parts.count == 2 { fields[parts[0]] = parts[1] }
        }
        guard let state = fields["state"].flatMap({ State(rawValue: String($0)) }),
            ![.waiting, .away].contains(state)
        else { return nil }
        self.state = state
        command = fields["command"].flatMap { UInt64($0) } ?? 0
        side = fields["side"].flatMap { Side(rawValue: String($0)) }
        light = fields["light"].map { $0 == "1" }
        isSlow = fields["slow"] == "1"
        let numbers = (fields["zoom"] ?? "").split(separator: ",").compactMap { Double($0) }
        guard numbers.count == 4, numbers.allSatisfy({ (0.01...1000).contains($0) }),
            numbers[0] < numbers[1]
        else { return }
        zoom = Zoom(
            range: numbers[0]...numbers[1],
            step: numbers[2],
            value: min(max(numbers[3], numbers[0]), numbers[1])
        )
    }
}
