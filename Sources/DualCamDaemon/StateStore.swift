import DualCamCore
import Frames
import Logging
import Platform

/// Stores what survives a restart: privacy always, and the rest of the state if the configuration
/// asks for it. All file access is on a thread of its own.
@MainActor
final class StateStore {
    private let daemon: Daemon
    private let disk: LoopWorker<Disk>
    /// The contents that the last run left, once they are read.
    private let loaded: Awaited<Disk.Contents>
    private let loop: EventLoop
    private var timer: EventLoop.Timer?
    private var privacyTimer: EventLoop.Timer?
    /// The state on the disk, or on its way there.
    private var stored: SavedState?
    /// `true` until the state of the last run has been read, which must not be replaced before.
    private var isReading = true
    /// `true` if that came after the start. The cameras that it is about are known by then, and it
    /// is not for them any more: it stays on the disk as it is, for the next start.
    private var isLate = false

    /// The delay from a change until it is stored, in seconds, so that not every click of a dial is
    /// stored.
    private static let delay = 1.0

    /// Restores the state of the daemon, which must not have started yet, and stores it from now
    /// on. Until the disk has answered, all cameras are closed; one that takes more than `timeout`
    /// seconds is not waited for.
    init(_ daemon: Daemon, loop: EventLoop, timeout: Double = 0.5) throws(SystemError) {
        self.daemon = daemon
        self.loop = loop
        loaded = try Awaited()
        disk = try LoopWorker(name: "state")
        try disk.start { _ throws(SystemError) in Disk() }
        timer = try loop.timer { [unowned self] in store() }
        privacyTimer = try loop.timer {
            daemon.send(.privacy(.timedOut(number: daemon.state.privacy.number)))
        }
        daemon.onPrivacy = { [unowned self] in storePrivacy($0, number: $1) }
        daemon.observers.append { [unowned self] in
            if daemon.configuration.state.isRemembered, !isReading, !isLate,
                SavedState(daemon.state) != stored
            {
                timer?.arm(after: Self.delay)
            }
        }
        daemon.onReset = { [unowned self] in
            // Not even what was read too late counts at the next start.
            isLate = false
            store()
        }
        load(within: timeout)
    }

    /// Reads what the last run left, and waits for it for a while.
    private func load(within timeout: Double) {
        daemon.send(.privacy(.reading))
        let isRemembered = daemon.configuration.state.isRemembered
        let (mailbox, loaded) = (loop.mailbox, loaded)
        disk.post { disk in
            let contents = disk.load(isRemembered)
            loaded.deliver(contents)
            mailbox.onMain { self.take(contents) }
        }
        if let contents = loaded.wait(timeout) { take(contents) } else { isLate = true }
    }

    private func take(_ contents: Disk.Contents) {
        guard isReading else { return }
        isReading = false
        var contents = contents
        if contents.saved == nil { isLate = false }
        if isLate {
            contents.saved = nil
            contents.problems.append(
                "The disk was slow, so your remembered settings come back only at the next start."
            )
        }
        for problem in contents.problems {
            Log.control.warning("state", metadata: ["reason": "\(problem)"])
        }
        daemon.send(.stored(problems: contents.problems))
        if let saved = contents.saved {
            stored = saved
            daemon.restore(saved)
        }
        daemon.send(.privacy(.read(contents.isPrivate)))
    }

    private func storePrivacy(_ isOn: Bool, number: Int) {
        privacyTimer?.arm(after: PrivacyState.timeout)
        let mailbox = loop.mailbox
        disk.post { disk in
            let failure = disk.storePrivacy(isOn)
            if let failure { Log.control.error("privacy", metadata: ["reason": "\(failure)"]) }
            mailbox.onMain {
                self.daemon.send(.privacy(.stored(number: number, failure: failure)))
            }
        }
    }

    /// Stores the state unless it is stored already.
    func store() {
        timer?.disarm()
        let saved = SavedState(daemon.state)
        guard daemon.configuration.state.isRemembered, !isReading, !isLate, saved != stored else {
            return
        }
        stored = saved
        let text = saved.text
        disk.post { disk in
            guard let failure = disk.store(text) else { return }
            Log.control.warning("nothing is remembered", metadata: ["reason": "\(failure)"])
        }
    }

    /// Stores the state and ends the thread. Returns `true` if it has ended by `deadline`.
    func end(by deadline: Timestamp) -> Bool {
        store()
        disk.end()
        return disk.join(until: deadline)
    }

    deinit {
        disk.end()
        disk.leave()
    }
}

/// The files of the state. What waits for the disk is here.
///
/// - Context: Bound to the thread `state`.
private final class Disk {
    /// The contents that the last run left.
    struct Contents: Sendable {
        var isPrivate = false
        var saved: SavedState?
        var problems: [String] = []
    }

    private let state = StateFile()
    /// A file that exists while privacy is on: nothing in it can be damaged.
    private let privacy = StateFile("privacy")

    /// Returns what the last run left: privacy, and the rest if it is remembered.
    func load(_ isRemembered: Bool) -> Contents {
        var contents = Contents()
        do throws(SystemError) {
            contents.isPrivate = try privacy?.exists() ?? false
        } catch {
            // Somebody may have asked for privacy.
            contents.isPrivate = true
            contents.problems.append(
                "Privacy is on, because DualCam cannot read if you had turned it on: \(error)"
            )
        }
        guard isRemembered else { return contents }
        do throws(SystemError) {
            guard let text = try state?.load() else { return contents }
            do throws(ConfigurationError) {
                contents.saved = try SavedState(parsing: text)
            } catch {
                contents.problems.append(setAside("\(error)"))
            }
        } catch {
            contents.problems.append(setAside("\(error)"))
        }
        return contents
    }

    /// Sets the damaged file aside, and returns a sentence about it.
    private func setAside(_ reason: String) -> String {
        let what = "What was remembered cannot be read"
        guard let state else { return what }
        do throws(SystemError) {
            return "\(what), and is now in \(try state.setAside()): \(reason)"
        } catch {
            return "\(what), and the file cannot be moved away (\(error)): \(reason)"
        }
    }

    /// Stores the state. Returns the reason that it failed, or `nil`.
    func store(_ text: String) -> String? {
        attempt { () throws(SystemError) in try state?.store(text) }
    }

    /// Stores whether privacy is on. Returns the reason that it failed, or `nil`.
    func storePrivacy(_ isOn: Bool) -> String? {
        guard let privacy else { return isOn ? "There is no home directory." : nil }
        return attempt { () throws(SystemError) in
            try isOn ? privacy.store("DualCam keeps cameras closed.\n") : privacy.remove()
        }
    }

    private func attempt(_ body: () throws(SystemError) -> Void) -> String? {
        do throws(SystemError) {
            try body()
            return nil
        } catch {
            return "\(error)"
        }
    }
}
