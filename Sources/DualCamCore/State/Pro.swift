/// The state of Pro mode.
package struct Pro: Hashable, Sendable {
    package var isEnabled = false
    /// The dial chosen last. In use is `State.dial`.
    package var dial = Dial.iso
    package var hud = HudMode.pro
    /// The consumers that draw the values themselves, by their names on the bus, the first first.
    package var hudConsumers: [String] = []
    /// The end of the dial that the last command ran into.
    var limit: Bound?

    package init() {}
}

/// The circumstances that decide how a camera's controls are polled and set.
package struct ControlUse: Hashable, Sendable {
    var device: String
    /// The node at which the device is opened.
    var place: String
    var pipeline: CapturePipeline
    var settings: ControlSettings
    var metering: Metering
    /// The rate in frames per second, while the camera delivers.
    var rate: Double?
    var isShown: Bool
    var zoomNumber: Int?
}
