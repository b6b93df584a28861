/// An event of the orientation of the device.
package enum OrientationEvent: Hashable, Sendable {
    /// An orientation sensor appeared, or there is none.
    case sensorFound(Bool)
    /// The sensor reported which edge is up.
    case sensed(DeviceOrientation)
}

extension State {
    mutating func handle(_ event: OrientationEvent) {
        switch event {
        case .sensorFound(let isThere): orientation.hasSensor = isThere
        case .sensed(let sensed): orientation.sensed = sensed
        }
    }
}
