import DBusKit
import DualCamCore
import Logging
import Platform

/// Reports what closes the cameras: sleep, and a session that is locked or in the background.
/// Reports how the device is held while a camera is open.
@MainActor
final class Session {
    private let daemon: Daemon
    private let loop: EventLoop
    private let bus: BusConnection.Bus
    private var system: BusConnection?
    private var login: Login?
    private var sensor: SensorProxy?
    private var screenSavers: ScreenSavers?
    private var realTime: RealTimeKit?
    private var loggedPriority = ""
    private var asking: EventLoop.Timer?
    private var memory: EventLoop.Timer?
    private var reconnecting: EventLoop.Timer?
    private var waiting: EventLoop.Timer?
    /// `true` while a thread waits for the system bus.
    private(set) var isConnecting = false
    private var hasAskedWithoutBus = false
    private var reconnectDelay = leastDelay

    /// The shortest and the longest delay until a lost system bus is looked for again, in seconds.
    private static let (leastDelay, mostDelay) = (1.0, 60.0)
    /// The seconds after which a system bus that does not answer is not waited for.
    private static let patience = 5.0

    /// Watches the session bus and, if there is one, the system bus: `bus`. No camera opens before
    /// it is known if there is one. Throws `SystemError` when the process is out of descriptors.
    init(
        _ daemon: Daemon,
        on connection: BusConnection,
        loop: EventLoop,
        bus: BusConnection.Bus = .system
    ) throws(SystemError) {
        self.daemon = daemon
        self.loop = loop
        self.bus = bus
        asking = try loop.timer { [unowned self] in login?.ask() }
        memory = try loop.timer { daemon.send(.session(.login(.outdated))) }
        reconnecting = try loop.timer { [unowned self] in connect() }
        waiting = try loop.timer { [unowned self] in goOnWithoutBus() }
        daemon.performers.append { [unowned self] in carryOut($0) }
        screenSavers = ScreenSavers(on: connection) { daemon.send(.session(.covered($0))) }
        do throws(SystemError) {
            realTime = try RealTimeKit(
                for: daemon.threads.timed,
                session: connection,
                loop: loop
            ) { [unowned self] in logPriority($0) }
        } catch {
            Log.control.warning("ordinary priority", metadata: ["reason": "\(error)"])
        }
        daemon.observers.append { [weak self] in
            guard let self else { return }
            letSleep()
            sensor?.isClaimed = !daemon.state.areCamerasClosed
            realTime?.isResting = daemon.state.areCamerasClosed
        }
        // Cameras stay closed until it is known.
        daemon.send(.session(.login(.expected)))
        connect()
    }

    private func connect() {
        isConnecting = true
        waiting?.arm(after: Self.patience)
        do throws(SystemError) {
            try BusConnection.open(bus, loop: loop) { [weak self] result in
                MainActor.assumeIsolated { self?.connected(result) }
            }
        } catch {
            connected(.failure(.failed("\(error)")))
        }
    }

    private func connected(_ result: Result<BusConnection, DBusError>) {
        isConnecting = false
        waiting?.disarm()
        switch result {
        case .success(let system):
            system.onDisconnect = { [unowned self] in
                Log.control.warning("the system bus is gone")
                daemon.send(.session(.sleeping(false)))
                daemon.send(.session(.login(.absent)))
                reconnect()
            }
            self.system = system
            reconnectDelay = Self.leastDelay
            // If it comes late, cameras need not close for a bus without a logind.
            login = Login(on: system) { [unowned self] in handle($0) }
            sensor = SensorProxy(on: system) { [unowned self] in handle($0) }
            realTime?.ask(on: system)
        case .failure(let error):
            Log.control.info("no system bus", metadata: ["reason": "\(error)"])
            if system == nil { daemon.send(.session(.login(.absent))) }
            askWithoutBus()
            reconnect()
        }
    }

    /// Goes on without a system bus that does not answer. It is used if it answers later.
    private func goOnWithoutBus() {
        Log.control.warning("the system bus does not answer")
        daemon.send(.session(.login(.silent)))
        askWithoutBus()
    }

    /// Asks for priority elsewhere, once.
    private func askWithoutBus() {
        guard !hasAskedWithoutBus, system == nil else { return }
        hasAskedWithoutBus = true
        realTime?.ask(on: nil)
    }

    private func reconnect() {
        reconnecting?.arm(after: reconnectDelay)
        reconnectDelay = min(2 * reconnectDelay, Self.mostDelay)
    }

    private func carryOut(_ effect: Effect) {
        switch effect {
        case .askLogin(let delay): asking?.arm(after: delay)
        case .startLoginMemory: memory?.arm(after: SessionLock.memory)
        case .endLoginMemory: memory?.disarm()
        default: break
        }
    }

    /// Logs who gave the threads their priority, or why they have none, once for each.
    private func logPriority(_ outcome: RealTimeKit.Outcome) {
        let line = outcome.provider ?? outcome.refusal
        guard line != loggedPriority else { return }
        loggedPriority = line
        if let provider = outcome.provider {
            Log.control.notice("real-time priority", metadata: ["from": "\(provider)"])
        } else {
            Log.control.warning("ordinary priority", metadata: ["reason": "\(outcome.refusal)"])
        }
    }

    /// Lets the machine sleep once the cameras are closed.
    private func letSleep() {
        guard daemon.state.suspensions.contains(.asleep), daemon.state.areCamerasClosed else {
            return
        }
        login?.releaseSleep()
    }

    private func handle(_ event: Login.Event) {
        switch event {
        case .sleeping(let isOn):
            Log.control.notice(isOn ? "before sleep" : "after sleep")
            daemon.send(.session(.sleeping(isOn)))
        case .available(true): daemon.send(.session(.login(.found)))
        case .available(false): daemon.send(.session(.login(.absent)))
        case .away(let isOn): daemon.send(.session(.login(.answered(isAway: isOn))))
        case .silent:
            Log.control.warning("logind does not answer")
            daemon.send(.session(.login(.silent)))
        }
    }

    private func handle(_ event: SensorProxy.Event) {
        switch event {
        case .available(let isThere): daemon.send(.orientation(.sensorFound(isThere)))
        // A device that lies flat keeps its last orientation.
        case .orientation(let word):
            guard let orientation = DeviceOrientation(rawValue: word) else { return }
            daemon.send(.orientation(.sensed(orientation)))
        }
    }
}
