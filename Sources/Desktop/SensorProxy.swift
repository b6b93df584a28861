package import DBusKit

/// What iio-sensor-proxy tells of how the device is held (net.hadess.SensorProxy).
///
/// - Context: bound to the connection's thread.
package final class SensorProxy {
    /// What it tells.
    package enum Event: Hashable, Sendable {
        /// There is an accelerometer, or there is none.
        case available(Bool)
        /// Which edge is up, in its own words; "undefined" where it does not know.
        case orientation(String)
    }

    private static let interface = "net.hadess.SensorProxy"
    private static let path: ObjectPath = "/net/hadess/SensorProxy"
    private static let properties = "org.freedesktop.DBus.Properties"

    private let onEvent: (Event) -> Void
    private var peer: Peer?

    /// Follows the proxy on `connection`, the system bus, whenever there is one.
    package init(on connection: BusConnection, onEvent: @escaping (Event) -> Void) {
        self.onEvent = onEvent
        peer = Peer(Self.interface, on: connection) { [unowned self] isThere in
            if isThere { begin() } else { onEvent(.available(false)) }
        }
    }

    /// Whether it is to be told how the device is held: the sensor works for as long.
    package var isClaimed = false {
        didSet {
            guard isClaimed != oldValue, peer?.owner != nil else { return }
            if isClaimed { claim() } else { ask("ReleaseAccelerometer") {} }
        }
    }

    /// A proxy that was restarted knows of no claim.
    private func begin() {
        peer?.unsubscribe()
        peer?.subscribe(Self.properties, at: Self.path) { [unowned self] signal in
            guard signal.arguments.first?.string == Self.interface, signal.arguments.count > 1
            else { return }
            learn(signal.arguments[1].named ?? [:])
        }
        if isClaimed { claim() } else { look() }
    }

    private func claim() {
        // What it told before is of the time before.
        ask("ClaimAccelerometer") { [weak self] in self?.look() }
    }

    private func look() {
        peer?.ask("GetAll", of: Self.properties, at: Self.path, [.string(Self.interface)]) {
            [weak self] in
            self?.learn($0.first?.named ?? [:])
        }
    }

    private func ask(_ member: String, done: @escaping () -> Void) {
        peer?.ask(member, of: Self.interface, at: Self.path) { _ in done() }
    }

    private func learn(_ values: [String: Value]) {
        if let isThere = values["HasAccelerometer"]?.boolean { onEvent(.available(isThere)) }
        // Nobody who has not claimed it is told the truth.
        if isClaimed, let orientation = values["AccelerometerOrientation"]?.string {
            onEvent(.orientation(orientation))
        }
    }
}
