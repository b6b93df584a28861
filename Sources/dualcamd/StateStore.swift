import DualCamCore
import Logging
import Platform

/// Keeps what survives a restart, where the configuration asks for it.
@MainActor
final class StateStore {
    private let daemon: Daemon
    private let file = StateFile()
    private var timer: EventLoop.Timer?
    private var stored: SavedState?

    /// Seconds from a change until it is stored: a dial that is turned is not stored at each click.
    private static let delay = 1.0

    /// Has the daemon, which has not started, be as it was; and saves its state from now on.
    init(_ daemon: Daemon, loop: EventLoop) throws(SystemError) {
        self.daemon = daemon
        timer = try loop.timer { [unowned self] in store() }
        daemon.observers.append { [unowned self] in
            if daemon.configuration.state.isRemembered, SavedState(daemon.state) != stored {
                timer?.arm(after: Self.delay)
            }
        }
        guard daemon.configuration.state.isRemembered else { return }
        do throws(SystemError) {
            guard let text = try file?.load() else { return }
            guard let saved = SavedState(parsing: text) else {
                Log.control.warning("what was remembered cannot be read")
                return
            }
            daemon.restore(saved)
            stored = saved
        } catch {
            Log.control.warning("nothing is remembered", metadata: ["reason": "\(error)"])
        }
    }

    /// Stores the state, where it is not stored yet.
    func store() {
        timer?.disarm()
        let saved = SavedState(daemon.state)
        guard daemon.configuration.state.isRemembered, saved != stored else { return }
        stored = saved
        do throws(SystemError) {
            try file?.store(saved.text)
        } catch {
            Log.control.warning("nothing is remembered", metadata: ["reason": "\(error)"])
        }
    }
}
