import Control
import DBusKit
import DualCamCore

/// The Privacy interface on the session bus: the switch that closes the cameras.
@MainActor
final class PrivacyService {
    private let daemon: Daemon
    /// The writes of `Enabled` that wait for the disk and the cameras, by number.
    private var writes: [(number: Int, write: Write<Bool>)] = []

    /// Exports the interface on `server`.
    init(_ daemon: Daemon, on server: ObjectServer) {
        self.daemon = daemon
        server.export(PrivacyInterface.self, at: DualCam.path) { [unowned self] privacy in
            privacy.get(\.enabled) { daemon.state.isPrivate }
            privacy.setLater(\.enabled) { [unowned self] write in
                daemon.send(.privacy(.set(write.value)))
                writes.append((daemon.state.privacy.number, write))
                answerWaiting()
            }
        }
    }

    /// Answers the writes of `Enabled` that are complete, or will not be.
    func answerWaiting() {
        let waiting = writes
        writes = []
        for (number, write) in waiting {
            switch daemon.state.privacyOutcome(of: number) {
            case .complete: write.accept()
            case .incomplete(let reason): write.refuse(.failed(reason))
            case nil: writes.append((number, write))
            }
        }
    }
}
