import DBusKit

/// The orientation of the device, from iio-sensor-proxy. Bound to the connection's thread.
final class SensorProxy {
    enum Event: Hashable, Sendable {
        /// There is an accelerometer (`true`), or there is none.
        case available(Bool)
        /// The edge that is up, in the words of the proxy; "undefined" if it is not known.
        case orientation(String)
    }

    private static let interface = "net.hadess.SensorProxy"
    private static let path: ObjectPath = "/net/hadess/SensorProxy"
    private static let properties = "org.freedesktop.DBus.Properties"

    private let onEvent: (Event) -> Void
    private var peer: Peer?

    /// Follows the proxy on `connection`, the system bus, whenever there is one.
    init(on connection: BusConnection, onEvent: @escaping (Event) -> Void) {
        self.onEvent = onEvent
        peer = Peer(Self.interface, on: connection) { [unowned self] isThere in
            if isThere { begin() } else { onEvent(.available(false)) }
        }
    }

    /// `true` while orientation events are wanted: the sensor is on for as long.
    var isClaimed = false {
        didSet {
            guard isClaimed != oldValue, peer?.owner != nil else { return }
            if isClaimed { claim() } else { ask("ReleaseAccelerometer") {} }
        }
    }

    /// Subscribes and claims the sensor: a proxy that has restarted knows of no claim.
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
        // Values from before the claim are out of date.
        ask("ClaimAccelerometer") { [weak self] in self?.look() }
    }

    private func look() {
        peer?.ask("GetAll", of: Self.properties, at: Self.path, [.string(Self.interface)]) {
            [weak self] in
            if case .success(let values) = $0 { self?.learn(values.first?.named ?? [:]) }
        }
    }

    private func ask(_ member: String, done: @escaping () -> Void) {
        peer?.ask(member, of: Self.interface, at: Self.path) {
            if case .success = $0 { done() }
        }
    }

    private func learn(_ values: [String: Value]) {
        if let isThere = values["HasAccelerometer"]?.boolean { onEvent(.available(isThere)) }
        // Without a claim the value is not reliable.
        if isClaimed, let orientation = values["AccelerometerOrientation"]?.string {
            onEvent(.orientation(orientation))
        }
    }
}
