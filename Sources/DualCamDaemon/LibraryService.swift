import Control
import DBusKit
import DualCamCore
import Frames
import Library
import Logging
import Platform

/// The Library interface on the session bus: the photographs and movies that were taken.
@MainActor
final class LibraryService {
    private let daemon: Daemon
    private let recording: RecordingSession
    private let server: ObjectServer
    private let mailbox: EventLoop.Mailbox
    /// Created at the first call, so that nothing is read before.
    private var library: LibraryThread?
    private var folders: LibraryThread.Folders
    /// The calls that wait for the library, by number.
    private var calls: [Int: Invocation] = [:]
    private var callCount = 0
    /// The files that are being recorded.
    private var writing: Set<String> = []

    /// The largest number of items per reply: one that takes a few milliseconds to build.
    private static let longestPage = 1000
    /// The time in seconds for which the end of the daemon waits for the thread's disk access.
    private static let endDuration = 0.3
    /// The largest number of calls that may wait for a disk that does not answer.
    private static let mostCalls = 256

    /// Exports the interface on `server`, for the directories that the configuration of `daemon`
    /// names. Files that `recording` writes are left out.
    init(
        _ daemon: Daemon,
        _ recording: RecordingSession,
        on server: ObjectServer,
        loop: EventLoop
    ) {
        self.daemon = daemon
        self.recording = recording
        self.server = server
        mailbox = loop.mailbox
        folders = LibraryThread.Folders(daemon.configuration)
        server.export(.library, at: DualCam.path, properties: [:]) { [unowned self] in answer($0) }
    }

    /// Updates the set of files left out to those being recorded now.
    func refresh() {
        let new = Set(recording.writing.map(\.path))
        guard new != writing else { return }
        writing = new
        library?.leaveOut(new)
    }

    /// Takes over the directories that are configured now.
    func reconfigure() {
        let new = LibraryThread.Folders(daemon.configuration)
        guard new != folders else { return }
        folders = new
        library?.use(new)
    }

    /// Ends the thread. Returns `true` if it has ended in time.
    func end() -> Bool {
        library?.end()
        let deadline = MonotonicClock.now + Timestamp(seconds: Self.endDuration)
        return library?.wait(until: deadline) ?? true
    }

    private func answer(_ call: Invocation) {
        guard calls.count < Self.mostCalls else {
            return call.fail(.busy("\(calls.count) calls wait for the disk already."))
        }
        do throws(SystemError) {
            let library = if let library { library } else { try start() }
            switch call.member {
            case "List": list(call, library)
            case "Thumbnail": thumbnail(call, library)
            default: preconditionFailure("\(call.member) is declared and not answered")
            }
        } catch {
            call.fail(.failed("\(error)"))
        }
    }

    private func start() throws(SystemError) -> LibraryThread {
        let mailbox = mailbox
        let new = try LibraryThread(
            folders,
            helpers: (HelperKind.thumbnails.arguments, HelperKind.idleThumbnails.arguments),
            program: "dualcam-\(DualCam.version)"
        ) {
            mailbox.post {
                MainActor.assumeIsolated {
                    self.server.emit("Changed", of: .library, at: DualCam.path)
                }
            }
        }
        new.leaveOut(writing)
        library = new
        return new
    }

    /// Keeps `call` until its reply and returns its number. The call itself stays on the main
    /// thread; only the number is passed to another thread.
    private func keep(_ call: Invocation) -> Int {
        callCount += 1
        calls[callCount] = call
        return callCount
    }

    private func list(_ call: Invocation, _ library: LibraryThread) {
        let count = min(call.arguments[1].integer ?? 0, Self.longestPage)
        let (number, mailbox) = (keep(call), mailbox)
        library.list(from: call.arguments[0].integer ?? 0, count: count) { items, total in
            let values = items.map { Value.named($0.description) }
            mailbox.post {
                MainActor.assumeIsolated {
                    self.calls.removeValue(forKey: number)?.reply(
                        .array(values, of: .dictionary(key: .string, value: .variant)),
                        .uint32(UInt32(clamping: total))
                    )
                }
            }
        }
    }

    private func thumbnail(_ call: Invocation, _ library: LibraryThread) {
        guard let size = ThumbnailSize(atLeast: call.arguments[1].integer ?? 0) else {
            let most = ThumbnailSize.allCases.map(\.rawValue).max() ?? 0
            let wrong = call.arguments[1].integer ?? 0
            return call.fail(.invalidArguments("size is \(wrong), expected 1 to \(most)"))
        }
        let (number, mailbox) = (keep(call), mailbox)
        library.thumbnail(of: call.arguments[0].string ?? "", size) { result in
            mailbox.post {
                MainActor.assumeIsolated {
                    let call = self.calls.removeValue(forKey: number)
                    switch result {
                    case .success(let file):
                        call?.reply(.descriptor(SharedDescriptor(owning: file)))
                    case .failure(let error): call?.fail(error.dbusError)
                    }
                }
            }
        }
    }
}

extension ThumbnailError {
    /// The error as the caller gets it.
    fileprivate var dbusError: DBusError {
        switch code {
        case .notFound: DBusError("org.freedesktop.DBus.Error.FileNotFound", description)
        case .denied: .denied(description)
        case .noSpace: .noSpace(description)
        case .unreadable, .system: .failed(description)
        }
    }
}

extension LibraryThread.Folders {
    fileprivate init(_ configuration: Configuration) {
        let capture = configuration.capture
        self.init(photos: capture.photoDirectory, movies: capture.videoDirectory)
    }
}

extension MediaItem {
    /// The item as D-Bus properties.
    fileprivate var description: [String: Value] {
        var values: [String: Value] = [
            "path": .string(path),
            "kind": .string(kind.rawValue),
            "size": .uint64(UInt64(clamping: byteCount)),
            "time": .int64(time),
        ]
        values["uri"] = fileURI(path).map { .string($0) }
        values["camera"] = camera.map { .string($0) }
        values["movie"] = movie.map { .string($0) }
        return values
    }
}
