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
    private typealias ListCall = Call<(UInt32, UInt32), NoOptions, ([[String: Value]], UInt32)>
    private typealias ThumbnailCall = Call<(String, UInt32), NoOptions, SharedDescriptor>
    /// The calls that wait for the library, by number. They stay on the main thread; only their
    /// numbers are passed to others.
    private var lists: [Int: ListCall] = [:]
    private var thumbnails: [Int: ThumbnailCall] = [:]
    private var callCount = 0
    /// The files that are being recorded.
    private var writing: Set<String> = []

    /// The largest number of items per reply: one that takes a few milliseconds to build.
    private static let longestPage = 1000
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

    /// Ends the thread, whose disk may not answer. Returns `true` if it has ended within
    /// `duration` seconds.
    func end(within duration: Double = 0.3) -> Bool {
        library?.end()
        let deadline = MonotonicClock.now + Timestamp(seconds: duration)
        return library?.wait(until: deadline) ?? true
    }

    /// Returns the library, which the first call starts.
    private func ready() throws(DBusError) -> LibraryThread {
        let waiting = lists.count + thumbnails.count
        guard waiting < Self.mostCalls else {
            throw .busy("\(waiting) calls wait for the disk already.")
        }
        do throws(SystemError) { return if let library { library } else { try start() } } catch {
            throw .failed("\(error)")
        }
    }

    private func start() throws(SystemError) -> LibraryThread {
        let mailbox = mailbox
        let new = try LibraryThread(
            folders,
            helpers: (HelperKind.thumbnails.arguments, HelperKind.idleThumbnails.arguments),
            program: "dualcam-\(DualCam.version)"
        ) {
            mailbox.onMain {
                self.server.emit(\LibraryInterface.changed, at: DualCam.path)
            }
        }
        new.leaveOut(writing)
        library = new
        return new
    }

    private func list(_ call: ListCall, _ library: LibraryThread) {
        callCount += 1
        let (number, mailbox) = (callCount, mailbox)
        lists[number] = call
        let (offset, count) = call.arguments
        library.list(from: Int(offset), count: min(Int(count), Self.longestPage)) { items, total in
            let values = items.map(\.description)
            mailbox.onMain {
                let call = self.lists.removeValue(forKey: number)
                call?.reply((values, UInt32(clamping: total)))
            }
        }
    }

    private func thumbnail(
        _ call: ThumbnailCall,
        _ library: LibraryThread
    ) throws(DBusError) {
        let (path, pixels) = call.arguments
        guard let size = ThumbnailSize(atLeast: Int(pixels)) else {
            let most = ThumbnailSize.allCases.map(\.rawValue).max() ?? 0
            throw .invalidArguments("The size must be between 1 and \(most), not \(pixels).")
        }
        callCount += 1
        let (number, mailbox) = (callCount, mailbox)
        thumbnails[number] = call
        library.thumbnail(of: path, size) { result in
            let result = result.map { SharedDescriptor(owning: $0) }
            mailbox.onMain {
                let call = self.thumbnails.removeValue(forKey: number)
                call?.answer(result.mapError(\.dbusError))
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
        values["seconds"] = seconds.map { .double($0) }
        return values
    }
}
