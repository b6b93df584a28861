import DBusKit
import Desktop
import DualCamCore
import Logging
import Platform

/// Closes the cameras while filming is not allowed: during sleep, or while the session is locked or
/// in the background. Reports how the device is held while a camera is open.
@MainActor
final class Session {
    private let daemon: Daemon
    private var system: BusConnection?
    private var login: Login?
    private var sensor: SensorProxy?
    private var screenSavers: ScreenSavers?
    private var realTime: RealTimeKit?
    private var loggedPriority = ""
    /// Kept separately, since each source reports locks that the other does not.
    private var isAway = (login: false, screen: false)

    /// Watches the session bus and, if there is one, the system bus.
    init(_ daemon: Daemon, on connection: BusConnection, loop: EventLoop) {
        self.daemon = daemon
        screenSavers = ScreenSavers(on: connection) { [unowned self] isActive in
            isAway.screen = isActive
            reportLock()
        }
        do {
            let system = try BusConnection(to: .system, loop: loop)
            system.onDisconnect = { [unowned self] in
                if daemon.state.suspensions.contains(.asleep) { handle(.sleeping(false)) }
                handle(.away(false))
            }
            login = try Login(on: system, loop: loop) { [unowned self] in handle($0) }
            sensor = SensorProxy(on: system) { event in
                switch event {
                case .available(let isThere): daemon.send(.orientation(.sensorFound(isThere)))
                // A device that lies flat keeps its last orientation.
                case .orientation(let word):
                    if let orientation = DeviceOrientation(rawValue: word) {
                        daemon.send(.orientation(.sensed(orientation)))
                    }
                }
            }
            self.system = system
        } catch {
            Log.control.info("no system bus", metadata: ["reason": "\(error)"])
        }
        do throws(SystemError) {
            realTime = try RealTimeKit(
                for: daemon.timedThreads,
                system: system,
                session: connection,
                loop: loop
            ) { [unowned self] in logPriority($0) }
        } catch {
            Log.control.warning("ordinary priority", metadata: ["reason": "\(error)"])
        }
        daemon.observers.append { [unowned self] in
            letSleep()
            let cameras = daemon.state.cameras
            sensor?.isClaimed = cameras.back.mayBeOpen || cameras.front.mayBeOpen
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
        let state = daemon.state
        guard state.suspensions.contains(.asleep), !state.cameras.back.mayBeOpen,
            !state.cameras.front.mayBeOpen
        else { return }
        login?.releaseSleep()
    }

    private func handle(_ event: Login.Event) {
        switch event {
        case .sleeping(let isOn):
            Log.control.notice(isOn ? "before sleep" : "after sleep")
            daemon.send(.session(.suspend(.asleep, isOn)))
        case .away(let isOn):
            isAway.login = isOn
            reportLock()
        }
    }

    private func reportLock() {
        let isOn = isAway.login || isAway.screen
        guard isOn != daemon.state.suspensions.contains(.locked) else { return }
        Log.control.notice(isOn ? "session locked" : "session unlocked")
        daemon.send(.session(.suspend(.locked, isOn)))
    }
}
