import DBusKit
import DualCamCore
import Frames
import Platform

/// Opens closed cameras for a moment, for calls that need their pictures.
@MainActor
final class CameraLook {
    private let daemon: Daemon
    private let photos: PhotoService
    private var timer: EventLoop.Timer?
    /// The calls that wait for a camera, until a time.
    private var waiting: [(role: Role, until: Timestamp, done: (DBusError?) -> Void)] = []
    /// The times until which cameras stay open for the next call.
    private var ends: [Role: Timestamp] = [:]

    /// The seconds that a camera gets to open; those that its automatic gets to find something; and
    /// those for which it stays open after a call.
    private static let (timeout, settling, stay) = (10.0, 2.0, 3.0)
    private static let interval = 0.1

    /// Opens nothing yet.
    ///
    /// - Throws: `SystemError` if the system has no descriptor left.
    init(_ daemon: Daemon, _ photos: PhotoService, loop: EventLoop) throws(SystemError) {
        (self.daemon, self.photos) = (daemon, photos)
        timer = try loop.timer { [unowned self] in follow() }
    }

    /// Calls `done` once the camera of `role` delivers, and its automatic has had its time; or with
    /// the reason why it does not. `lack` is what is missing without a picture.
    func open(_ role: Role, _ lack: String, done: @escaping (DBusError?) -> Void) {
        let now = MonotonicClock.now
        guard daemon.state.cameras[role].mode == nil || ends[role] != nil else { return done(nil) }
        guard daemon.state.suspension == nil,
            ![.unavailable, .interrupted].contains(daemon.state.cameras[role].phase)
        else { return done(daemon.noPicture(of: role, lack)) }
        waiting.append(
            (
                role, now + Timestamp(seconds: Self.timeout),
                { [unowned self] error in
                    done(error ?? (isReady(role) ? nil : daemon.noPicture(of: role, lack)))
                }
            )
        )
        ends[role] = now + Timestamp(seconds: Self.timeout)
        follow()
    }

    private func isReady(_ role: Role) -> Bool {
        let camera = daemon.state.cameras[role]
        return camera.mode != nil
            && (MonotonicClock.now - camera.deliveringSince).seconds >= Self.settling
    }

    /// Answers the calls whose cameras are ready, or will not be, and closes what is wanted no
    /// more.
    private func follow() {
        let now = MonotonicClock.now
        let all = waiting
        waiting = []
        for (role, until, done) in all {
            let isLost = [.unavailable, .interrupted].contains(daemon.state.cameras[role].phase)
            guard isReady(role) || isLost || now >= until else {
                waiting.append((role, until, done))
                continue
            }
            ends[role] = now + Timestamp(seconds: Self.stay)
            done(nil)
        }
        ends = ends.filter { now < $0.value }
        photos.others = Set(ends.keys)
        if !ends.isEmpty { timer?.arm(after: Self.interval) }
    }
}
