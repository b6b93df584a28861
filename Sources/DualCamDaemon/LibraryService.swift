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
    /// The lists to ask for. The library makes one after the other.
    private let requests = CallerTurns(limit: 2)
    /// The files that are being recorded.
    private var writing: Set<String> = []

    /// The largest number of items per reply: one that takes a few milliseconds to build.
    private static let longestPage = 1000

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
        server.export(LibraryInterface.self, at: DualCam.path) { [unowned self] library in
            library.answer(\.list) { [unowned self] call throws(DBusError) in
                list(call, try ready())
            }
            library.answer(\.thumbnail) { [unowned self] call throws(DBusError) in
                try thumbnail(call, try ready())
            }
        }
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

    /// Ends the thread; `true` if that took at most `duration` seconds: its disk may not answer.
    func end(within duration: Double = 0.1) -> Bool {
        library?.end()
        let deadline = MonotonicClock.now + Timestamp(seconds: duration)
        return library?.wait(until: deadline) ?? true
    }

    /// Returns the library, which the first call starts.
    private func ready() throws(DBusError) -> LibraryThread {
        do throws(SystemError) { return if let library { library } else { try start() } } catch {
            throw .failed("\(error)")
        }
    }

    private func start() throws(SystemError) -> LibraryThread {
        let mailbox = mailbox
        let new = try LibraryThread(
            folders,
            helper: HelperKind.thumbnails.arguments
        ) {
            mailbox.onMain { self.server.emit(\LibraryInterface.changed, at: DualCam.path) }
        }
        new.leaveOut(writing)
        library = new
        return new
    }

    private func list(
        _ call: Call<(UInt32, UInt32), NoOptions, ([[String: Value]], UInt32)>,
        _ library: LibraryThread
    ) {
        let (offset, count) = (Int(call.arguments.0), min(Int(call.arguments.1), Self.longestPage))
        let mailbox = mailbox
        let reply = { @MainActor @Sendable (items: [[String: Value]], total: Int) in
            call.reply((items, UInt32(clamping: total)))
            self.requests.finish()
        }
        let work = {
            library.list(from: offset, count: count) { items, total in
                let values = items.map(\.description)
                mailbox.onMain { reply(values, total) }
            }
        }
        requests.add(work, of: call.sender)
    }

    private func thumbnail(
        _ call: Call<(String, UInt32), NoOptions, SharedDescriptor>,
        _ library: LibraryThread
    ) throws(DBusError) {
        let (path, pixels) = call.arguments
        guard let size = ThumbnailSize(atLeast: Int(pixels)) else {
            let most = ThumbnailSize.allCases.map(\.rawValue).max() ?? 0
            throw .invalidArguments("The size must be between 1 and \(most), not \(pixels).")
        }
        let mailbox = mailbox
        let reply = { @MainActor @Sendable (result: Result<SharedDescriptor, ThumbnailError>) in
            call.answer(result.mapError(\.dbusError))
        }
        library.thumbnail(of: path, size, for: call.sender) { result in
            let result = result.map { SharedDescriptor(owning: $0) }
            mailbox.onMain { reply(result) }
        }
    }
}

extension ThumbnailError {
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
        values["seconds"] = seconds.map { .double($0) }
        return values
    }
}
