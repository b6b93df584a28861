import Control
import DBusKit
import DualCamCore

/// The Privacy interface on the session bus: the switch that closes the cameras.
@MainActor
final class PrivacyService {
    private let daemon: Daemon
    /// The answers that wait for the disk and the cameras, by number.
    private var writes: [(number: Int, isStep: Bool, done: (DBusError?) -> Void)] = []

    init(_ daemon: Daemon, on server: ObjectServer) {
        self.daemon = daemon
        server.export(PrivacyInterface.self, at: DualCam.path) { [unowned self] privacy in
            privacy.get(\.enabled) { daemon.state.isPrivate }
            privacy.setLater(\.enabled) { [unowned self] write in
                set(write.value) { $0.map(write.refuse) ?? write.accept() }
            }
            privacy.step(\.enabled) { [unowned self] step throws(DBusError) in
                _ = try step.turns
                set(!daemon.state.privacy.isWanted, isStep: true) {
                    $0.map(step.refuse) ?? step.accept()
                }
            }
        }
    }

    private func set(
        _ isOn: Bool,
        isStep: Bool = false,
        _ done: @escaping (DBusError?) -> Void
    ) {
        daemon.send(.privacy(.set(isOn)))
        writes.append((daemon.state.privacy.number, isStep, done))
        answerWaiting()
    }

    /// Answers the writes of `Enabled` that are complete, or will not be.
    func answerWaiting() {
        let waiting = writes
        writes = []
        for (number, isStep, done) in waiting {
            switch daemon.state.privacyOutcome(of: number) {
            case .complete: done(nil)
            // A step that the next one took back was taken.
            case .incomplete where isStep && daemon.state.isOvertaken(number): done(nil)
            case .incomplete(let reason): done(.failed(reason))
            case nil: writes.append((number, isStep, done))
            }
        }
    }
}
