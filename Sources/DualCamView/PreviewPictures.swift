import Control
import DBusKit
import Frames
import GTK
import Glibc
import Platform
import Synchronization
import ViewCore

/// Live pictures of cameras, "front", "back" or others by identity, while they are wanted.
///
/// The daemon opens the cameras. What it sends is read and decoded on the thread `previews`.
final class PreviewPictures {
    private final class Shown {
        /// `nil` before there is a preview, and once it has ended.
        var latest: Latest?
        var isAsked = false
        /// The time before which it is not tried again.
        var patience = Timestamp.zero
    }

    private let daemon: DaemonMirror
    private let worker: LoopWorker<Reading>
    private var shown: [String: Shown] = [:]
    private var places = PreviewPlaces()
    /// The user and the password, for a camera on the network.
    var login = Options<Control.Login>()
    /// Called when pictures cannot be had.
    var onTrouble: (DBusError) -> Void = { _ in }

    /// The time between two attempts to get a preview, in seconds.
    private static let delay = 2.0

    /// Starts the thread. `daemon` is asked for the previews.
    ///
    /// - Throws: `SystemError` when out of descriptors or threads.
    init(_ daemon: DaemonMirror) throws(SystemError) {
        self.daemon = daemon
        worker = try LoopWorker(name: "previews")
        try worker.start { Reading($0) }
    }

    deinit {
        worker.end()
        worker.leave()
    }

    /// Shows these cameras, as many as may be, and no others any more.
    func follow(_ all: [String]) {
        let wanted = places.choose(all)
        for (device, one) in shown where !wanted.contains(device) {
            shown[device] = nil
            if let latest = one.latest { worker.post { $0.close(latest) } }
        }
        for device in wanted {
            let one = shown[device] ?? Shown()
            shown[device] = one
            if one.latest?.hasEnded == true { wait(one) }
            if one.latest == nil, !one.isAsked, one.patience <= MonotonicClock.now {
                ask(one, device)
            }
        }
    }

    func take(_ device: String) -> Pixels? { shown[device]?.latest?.take() }

    /// Returns `true` while pictures of a device come.
    func isLive(_ device: String) -> Bool {
        shown[device]?.latest.map { !$0.hasEnded } ?? false
    }

    private func ask(_ one: Shown, _ device: String) {
        one.isAsked = true
        daemon.call(\StreamInterface.openPreview, device, options: login, within: 40) {
            [weak self, weak one] answer in
            // If the preview is no longer wanted, its socket closes with the last reference.
            guard let self, let one, shown[device] === one else { return }
            one.isAsked = false
            switch answer {
            case .success(let socket):
                let latest = Latest()
                one.latest = latest
                worker.post { $0.read(socket, latest) }
            case .failure(let error):
                let isPassing = Self.passing.contains { error.name.hasSuffix(".\($0)") }
                if isPassing { wait(one) } else { places.refuse(device) }
                onTrouble(error)
            }
        }
    }

    /// The errors that may pass.
    private static let passing = ["Busy", "CameraLost", "Locked", "NoCamera"]

    private func wait(_ one: Shown) {
        one.latest = nil
        one.patience = MonotonicClock.now + Timestamp(seconds: Self.delay)
    }
}

/// The newest picture of a camera, until it is taken.
///
/// - Context: any thread.
final class Latest: Sendable {
    private let pixels = Mutex<Pixels?>(nil)
    private let ended = Atomic(false)

    /// `true` once there will be no more.
    var hasEnded: Bool { ended.load(ordering: .acquiring) }

    func end() { ended.store(true, ordering: .releasing) }

    /// Leaves `new` here. Returns `true` if the one before was taken.
    @discardableResult
    func put(_ new: Pixels) -> Bool {
        pixels.withLock { pixels in
            defer { pixels = new }
            return pixels == nil
        }
    }

    func take() -> Pixels? {
        pixels.withLock { pixels in
            defer { pixels = nil }
            return pixels
        }
    }
}

/// The reading of previews, on their thread.
private final class Reading {
    private final class Source {
        let socket: SharedDescriptor
        var bytes = PreviewBytes()
        var watch: EventLoop.Watch?

        init(_ socket: SharedDescriptor) { self.socket = socket }
    }

    private let loop: EventLoop
    private var sources: [ObjectIdentifier: Source] = [:]

    init(_ loop: EventLoop) { self.loop = loop }

    deinit { for source in sources.values { source.watch?.cancel() } }

    /// Reads from `socket`, and leaves the newest picture in `latest`.
    func read(_ socket: SharedDescriptor, _ latest: Latest) {
        let source = Source(socket)
        sources[ObjectIdentifier(latest)] = source
        source.watch = try? loop.watch(socket.number, for: .readable) {
            [unowned self, weak source] _ in
            if let source, !take(from: source, latest) { close(latest) }
        }
        if source.watch == nil { close(latest) }
    }

    func close(_ latest: Latest) {
        sources.removeValue(forKey: ObjectIdentifier(latest))?.watch?.cancel()
        latest.end()
    }

    /// Takes what is there. Returns `false` at the end.
    private func take(from source: Source, _ latest: Latest) -> Bool {
        var part = [UInt8](repeating: 0, count: 1 << 16)
        let count = recv(source.socket.number, &part, part.count, CInt(MSG_DONTWAIT))
        if count < 0, errno == EAGAIN || errno == EINTR { return true }
        guard count > 0 else { return false }
        do throws(PreviewBytes.Invalid) {
            let picture = try source.bytes.take(part[..<count])
            if let pixels = picture.flatMap({ Pixels(file: $0) }) { latest.put(pixels) }
            return true
        } catch {
            return false
        }
    }
}
