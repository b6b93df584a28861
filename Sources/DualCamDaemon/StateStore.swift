import DualCamCore
import Logging
import Platform

/// Stores the state that survives a restart, if the configuration asks for it.
@MainActor
final class StateStore {
    private let daemon: Daemon
    private let file = StateFile()
    private var timer: EventLoop.Timer?
    private var stored: SavedState?

    /// The delay from a change until it is stored, in seconds, so that not every click of a dial is
    /// stored.
    private static let delay = 1.0

    /// Restores the state of the daemon, which must not have started yet, and stores it from now
    /// on.
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

    /// Stores the state unless it is stored already.
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
