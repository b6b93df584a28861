import Control
import DBusKit
import DualCamCore
import Frames
import GTK
import Glibc
import Platform

/// Whole pictures of the cameras themselves, a few a second while somebody asks for them: neither
/// straightened nor zoomed, whatever the stream shows.
///
/// Each is a photograph in a file without a name, read and decoded on the thread `cameras`.
///
/// - Context: bound to GTK's thread.
final class WholePictures {
    /// A camera's newest picture.
    struct Shown {
        var pixels: Pixels
        /// The places of its corners in the terms of the property Perspective.
        var corners: [NormalizedPoint]
    }

    private final class Camera {
        let latest = Latest()
        var shown: Shown?
        var corners: [NormalizedPoint] = []
        var isAsked = false
        /// The time before which it is not asked again.
        var patience = Timestamp.zero
    }

    private final class Decoding {}

    private let daemon: DaemonMirror
    private let worker: LoopWorker<Decoding>
    private var cameras: [Role: Camera] = [:]
    /// The least width of what is shown of a picture, in pixels.
    private let width: Int
    private let onChange: () -> Void
    private let onTrouble: (DBusError) -> Void
    private var timer: MainLoop.Timer?

    /// The seconds between two pictures, and after one that could not be had.
    private static let (interval, delay) = (0.2, 1.0)

    /// Begins with pictures of `roles`, at least `width` pixels wide; they end with this object.
    /// `onChange` is called when there are newer ones, `onTrouble` when one cannot be had.
    ///
    /// - Throws: `SystemError` when out of descriptors or threads.
    init(
        _ daemon: DaemonMirror,
        of roles: [Role],
        width: Int,
        _ onChange: @escaping () -> Void,
        onTrouble: @escaping (DBusError) -> Void = { _ in }
    ) throws(SystemError) {
        (self.daemon, self.width) = (daemon, width)
        (self.onChange, self.onTrouble) = (onChange, onTrouble)
        worker = try LoopWorker(name: "cameras")
        try worker.start { _ in Decoding() }
        for role in roles { cameras[role] = Camera() }
        timer = MainLoop.Timer(every: Self.interval) { [unowned self] in look() }
        look()
    }

    deinit {
        worker.end()
        worker.leave()
    }

    subscript(role: Role) -> Shown? { cameras[role]?.shown }

    private func look() {
        var isNew = false
        for (role, camera) in cameras {
            if let pixels = camera.latest.take() {
                camera.shown = Shown(pixels: pixels, corners: camera.corners)
                camera.isAsked = false
                isNew = true
            }
            if !camera.isAsked, camera.patience <= MonotonicClock.now { ask(camera, role) }
        }
        if isNew { onChange() }
    }

    private func ask(_ camera: Camera, _ role: Role) {
        guard let made = tmpfile() else { return }
        let file = SharedDescriptor(owning: dup(fileno(made)))
        fclose(made)
        camera.isAsked = true
        daemon.call(\CaptureInterface.takePhotoTo, (file, role.rawValue)) {
            [weak self, weak camera] answer in
            guard let self, let camera else { return }
            switch answer {
            case .success(let photo):
                let corners = photo["corners"].flatMap { [Pair<Double, Double>](dbus: $0) } ?? []
                camera.corners = corners.points
                let (latest, width) = (camera.latest, width)
                worker.post { _ in
                    let bytes = try? readFile("/proc/self/fd/\(file.number)", limit: 1 << 26)
                    // What cannot be read is an empty picture, so that the next is asked for.
                    let pixels = bytes.flatMap { Pixels(file: $0) }
                    let none = Size(width: 0, height: 0)
                    latest.put(pixels?.reduced(toWidth: width) ?? Pixels(none))
                }
            case .failure(let error):
                camera.isAsked = false
                camera.shown = nil
                camera.patience = MonotonicClock.now + Timestamp(seconds: Self.delay)
                onChange()
                onTrouble(error)
            }
        }
    }
}

extension [Pair<Double, Double>] {
    var points: [NormalizedPoint] { map { NormalizedPoint(x: $0.first, y: $0.second) } }
}
