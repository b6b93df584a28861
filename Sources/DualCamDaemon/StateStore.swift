import Control
import DualCamCore
import Frames
import Logging
import Platform

/// Stores what survives a restart: privacy always, and the rest of the state if the configuration
/// asks for it, on the thread `files`.
@MainActor
final class StateStore {
    private let daemon: Daemon
    private let isConfigured: Bool
    private let disk = Disk()
    /// The contents that the last run left, once they are read.
    private let loaded: Awaited<Disk.Contents>
    private let loop: EventLoop
    private var timer: EventLoop.Timer?
    private var retry: EventLoop.Timer?
    private var privacyTimer: EventLoop.Timer?
    /// The state on the disk, or on its way there.
    private var stored: SavedState?
    /// The hidden rooms on the disk, or on their way there.
    private var rooms: HiddenRooms?
    /// The state that could not be stored last, and why; another one, or time, may help.
    private var failed: SavedState?
    private var failure: String?
    private var retryDelay = StateStore.retryDelays.lowerBound
    /// The problems with what the last run left, one sentence each.
    private var problems: [String] = []
    /// `true` until the state of the last run has been read, which must not be replaced before.
    private var isReading = true
    /// `true` if that came after the start. The cameras that it is about are known by then, and it
    /// is not for them any more: it stays on the disk as it is, for the next start.
    private var isLate = false

    /// The seconds from a change until it is stored: not every click of a dial is.
    private static let delay = 1.0
    /// The range of the intervals, in seconds, at which a state that could not be stored is stored
    /// again. Each is longer than the one before.
    private static let retryDelays = 5.0...600

    /// Restores the state of the daemon, which has not started yet, and stores it from now on. All
    /// cameras are closed until the disk has answered, for which `timeout` seconds are waited. With
    /// `isConfigured`, the configuration says which rooms it hides.
    init(
        _ daemon: Daemon,
        loop: EventLoop,
        isConfigured: Bool = true,
        timeout: Double = 0.5
    ) throws(SystemError) {
        (self.daemon, self.isConfigured) = (daemon, isConfigured)
        self.loop = loop
        loaded = try Awaited()
        timer = try loop.timer { [unowned self] in store() }
        retry = try loop.timer { [unowned self] in store(anew: true) }
        privacyTimer = try loop.timer {
            daemon.send(.privacy(.timedOut(number: daemon.state.privacy.number)))
        }
        daemon.performers.append { [unowned self] effect in
            if case .storePrivacy(let isOn, let number) = effect {
                storePrivacy(isOn, number: number)
            }
        }
        daemon.observers.append { [weak self] in
            guard let self else { return }
            if !isReading { store(HiddenRooms(daemon.state)) }
            guard daemon.configuration.memory != .nothing else {
                // Nothing can be forgotten that is not to be remembered.
                if failure != nil { finish(nil, nil) }
                return
            }
            guard !isReading, !isLate else { return }
            let saved = SavedState(daemon.state)
            if saved != stored, saved != failed { timer?.arm(after: Self.delay) }
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
        let isRemembered = daemon.configuration.memory != .nothing
        let (mailbox, loaded, disk) = (loop.mailbox, loaded, disk)
        daemon.files.post(.state) {
            let contents = disk.load(isRemembered)
            loaded.deliver(contents)
            mailbox.onMain { self.take(contents) }
            // A person should hear at the first change that it will be forgotten.
            guard isRemembered, let failure = disk.check() else { return }
            mailbox.onMain { self.finish(nil, failure) }
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
        problems = contents.problems
        self.rooms = contents.rooms
        let rooms = contents.rooms.roles(
            isConfigured: isConfigured,
            isRemembered: daemon.configuration.memory != .nothing
        )
        daemon.send(.stored(problems: problems, hiddenRooms: rooms))
        if let saved = contents.saved {
            stored = saved
            daemon.restore(saved)
        }
        daemon.send(.privacy(.read(contents.isPrivate)))
    }

    /// Stores which rooms are hidden, at once: the next run must not show them.
    private func store(_ rooms: HiddenRooms) {
        guard rooms != self.rooms else { return }
        self.rooms = rooms
        let disk = disk
        daemon.files.post(.state) {
            guard let failure = disk.store(rooms) else { return }
            Log.control.warning("rooms", metadata: ["reason": "\(failure)"])
        }
    }

    private func storePrivacy(_ isOn: Bool, number: Int) {
        privacyTimer?.arm(after: PrivacyState.timeout)
        let (mailbox, disk) = (loop.mailbox, disk)
        daemon.files.post(.state) {
            let failure = disk.storePrivacy(isOn)
            if let failure { Log.control.error("privacy", metadata: ["reason": "\(failure)"]) }
            mailbox.onMain {
                self.daemon.send(.privacy(.stored(number: number, failure: failure)))
            }
        }
    }

    /// Stores the state unless it is stored already; even then if `anew`.
    func store(anew: Bool = false) {
        timer?.disarm()
        let saved = SavedState(daemon.state)
        guard daemon.configuration.memory != .nothing, !isReading, !isLate, anew || saved != stored
        else { return }
        stored = saved
        let (text, mailbox, disk) = (saved.text, loop.mailbox, disk)
        daemon.files.post(.state) {
            let failure = disk.store(text)
            if let failure {
                Log.control.warning("nothing is remembered", metadata: ["reason": "\(failure)"])
            }
            mailbox.onMain { self.finish(saved, failure) }
        }
    }

    /// Notes that `saved` is on the disk, or is not. A failure is a problem until the next success.
    private func finish(_ saved: SavedState?, _ failure: String?) {
        if failure == nil {
            failed = nil
            retry?.disarm()
            retryDelay = Self.retryDelays.lowerBound
        } else {
            failed = saved
            if stored == saved { stored = nil }
            retry?.arm(after: retryDelay)
            retryDelay = min(2 * retryDelay, Self.retryDelays.upperBound)
        }
        guard failure != self.failure else { return }
        self.failure = failure
        let forgetting = failure.map { ["\(DualCam.forgetting)\($0)"] } ?? []
        daemon.send(.stored(problems: problems + forgetting))
    }
}

/// The roles of the cameras whose rooms are hidden, by commands and by the configuration.
private struct HiddenRooms: Equatable, Sendable {
    private var commanded: Set<Role>
    private var configured: Set<Role> = []

    /// Those that are, or are to be once there is a camera.
    @MainActor init(_ state: State) {
        commanded = state.hiddenRooms
        for role in Role.allCases where state.cameras[role].room != .asIs {
            if state.configured.cameras[role].room == .asIs {
                commanded.insert(role)
            } else {
                configured.insert(role)
            }
        }
    }

    /// Reads what `text` gives; `nil`, what may be all of them.
    init(_ text: String?) {
        let words = text.map { Set($0.split(separator: "\n").map(String.init)) }
        func roles(_ prefix: String) -> Set<Role> {
            Set(Role.allCases.filter { words?.contains(prefix + $0.rawValue) ?? true })
        }
        (commanded, configured) = (roles(""), roles("configured "))
    }

    var text: String {
        let lines =
            commanded.map(\.rawValue) + configured.map { "configured \($0.rawValue)" }
        return lines.sorted().map { $0 + "\n" }.joined()
    }

    /// Returns those that stay hidden: not what the configuration says itself, nor what is not to
    /// be remembered.
    func roles(isConfigured: Bool, isRemembered: Bool) -> Set<Role> {
        (isRemembered ? commanded : []).union(isConfigured ? [] : configured)
    }
}

/// The files of the state. What waits for the disk is here. The thread `files`.
private struct Disk: Sendable {
    /// The contents that the last run left.
    struct Contents: Sendable {
        var isPrivate = false
        var saved: SavedState?
        var rooms = HiddenRooms("")
        var problems: [String] = []
    }

    private let state = StateFile()
    /// A file that exists while privacy is on: nothing in it can be damaged.
    private let privacy = StateFile("privacy")
    /// A file that exists while a room is hidden, whatever else of the state is lost.
    private let rooms = StateFile("rooms")

    /// Returns what the last run left: privacy, and the rest if it is remembered.
    func load(_ isRemembered: Bool) -> Contents {
        var contents = Contents()
        do throws(SystemError) {
            contents.isPrivate = try privacy?.exists() ?? false
        } catch {
            // Somebody may have asked for privacy.
            contents.isPrivate = true
            contents.problems.append(
                "Privacy is on, because DualCam cannot read whether you had turned it on: \(error)"
            )
        }
        do throws(SystemError) {
            contents.rooms = HiddenRooms(try rooms?.load() ?? "")
        } catch {
            contents.rooms = HiddenRooms(nil)
            contents.problems.append(
                "Rooms are blurred, because DualCam cannot read which you had hidden: \(error)"
            )
        }
        guard isRemembered else { return contents }
        let (saved, problem) =
            state?.load("What was remembered", "is") { text throws(ConfigurationError) in
                try SavedState(parsing: text)
            } ?? (nil, nil)
        contents.saved = saved
        if let own = privacy?.storedAt, let kept = state?.storedAt, kept < own {
            contents.saved?.forgetPrivacy()
        }
        if let problem { contents.problems.append(problem) }
        return contents
    }

    /// Stores the state. Returns the reason that it failed, or `nil`.
    func store(_ text: String) -> String? {
        guard let state else { return "there is no home directory" }
        return failure { () throws(SystemError) in try state.store(text) }
    }

    /// Stores which rooms are hidden. Returns the reason that it failed, or `nil`.
    func store(_ hidden: HiddenRooms) -> String? {
        guard let rooms else { return nil }
        let text = hidden.text
        return failure { () throws(SystemError) in
            try text.isEmpty ? rooms.remove() : rooms.store(text)
        }
    }

    /// Returns the reason that the state cannot be stored now, or `nil`.
    func check() -> String? {
        guard let state else { return "there is no home directory" }
        return failure { () throws(SystemError) in try state.check() }
    }

    /// Stores whether privacy is on. Returns the reason that it failed, or `nil`.
    func storePrivacy(_ isOn: Bool) -> String? {
        guard let privacy else { return isOn ? "There is no home directory." : nil }
        return failure { () throws(SystemError) in
            try isOn ? privacy.store("DualCam keeps cameras closed.\n") : privacy.remove()
        }
    }
}
