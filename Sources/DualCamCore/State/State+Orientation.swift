/// An event of the orientation of the device.
package enum OrientationEvent: Hashable, Sendable {
    /// Sets the orientation whatever the sensor reports; `nil`: uses the sensor's.
    case set(DeviceOrientation?)
    /// An orientation sensor appeared, or there is none.
    case sensorFound(Bool)
    /// The sensor reported which edge is up.
    case sensed(DeviceOrientation)
}

/// The orientation of the device.
extension State {
    mutating func handle(_ event: OrientationEvent) {
        switch event {
        case .set(let mode): orientation.mode = mode
        case .sensorFound(let isThere): orientation.hasSensor = isThere
        case .sensed(let sensed): orientation.sensed = sensed
        }
    }
}
