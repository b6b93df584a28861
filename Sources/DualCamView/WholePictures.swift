import Control
import DBusKit
import DualCamCore
import Frames
import GTK
import Glibc
import Platform

/// Whole pictures of a camera itself, a few a second while somebody asks for them: neither
/// straightened nor zoomed, whatever the stream shows.
///
/// Each is a photograph in a file without a name, read and decoded on the thread `cameras`.
final class WholePictures {
    private final class Decoding {}

    private let daemon: DaemonMirror
    private let role: Role
    private let worker: LoopWorker<Decoding>
    private let latest = Latest()
    private let came: (Pixels, [NormalizedPoint]) -> Void
    private let failed: (DBusError) -> Void
    /// The corners of the picture that was asked for.
    private var corners: [NormalizedPoint] = []
    private var isAsked = false
    /// The time before which there is no other attempt.
    private var patience = Timestamp.zero
    private var timer: MainLoop.Timer?

    /// The seconds between two pictures, and after one that could not be had.
    private static let (interval, delay) = (0.2, 1.0)

    /// Begins with pictures of the camera of `role`; they end with this object. `came` gets each,
    /// with the places of its corners in the terms of the property Perspective, `failed` the reason
    /// that there is none.
    ///
    /// - Throws: `SystemError` when out of descriptors or threads.
    init(
        _ daemon: DaemonMirror,
        of role: Role,
        _ came: @escaping (Pixels, [NormalizedPoint]) -> Void,
        failed: @escaping (DBusError) -> Void
    ) throws(SystemError) {
        (self.daemon, self.role, self.came, self.failed) = (daemon, role, came, failed)
        worker = try LoopWorker(name: "cameras")
        try worker.start { _ in Decoding() }
        timer = MainLoop.Timer(every: Self.interval) { [unowned self] in look() }
        look()
    }

    deinit {
        worker.end()
        worker.leave()
    }

    private func look() {
        if let pixels = latest.take() {
            isAsked = false
            came(pixels, corners)
        }
        if !isAsked, patience <= MonotonicClock.now { ask() }
    }

    private func ask() {
        guard let made = tmpfile() else { return }
        let file = SharedDescriptor(owning: dup(fileno(made)))
        fclose(made)
        isAsked = true
        daemon.call(\CaptureInterface.takePhotoTo, (file, role.rawValue)) { [weak self] answer in
            guard let self else { return }
            switch answer {
            case .success(let photo):
                let points = photo["corners"].flatMap { [Pair<Double, Double>](dbus: $0) } ?? []
                corners = points.points
                worker.post { [latest] _ in
                    // What cannot be read is an empty picture, so that the next is asked for.
                    let none = Pixels(Size(width: 0, height: 0))
                    latest.put(file.contents(limit: 1 << 26).flatMap { Pixels(file: $0) } ?? none)
                }
            case .failure(let error):
                isAsked = false
                patience = MonotonicClock.now + Timestamp(seconds: Self.delay)
                failed(error)
            }
        }
    }
}

extension SharedDescriptor {
    /// Returns the bytes of the file, from its beginning; `nil` if they cannot be read, or are more
    /// than `limit`.
    func contents(limit: Int) -> [UInt8]? {
        try? readFile("/proc/self/fd/\(number)", limit: limit)
    }
}

extension [Pair<Double, Double>] {
    var points: [NormalizedPoint] { map { NormalizedPoint(x: $0.first, y: $0.second) } }
}
