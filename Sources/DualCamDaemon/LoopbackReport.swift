import Capture
import DualCamCore
import Logging
import Platform

extension LoopbackMirror.Report {
    var state: LoopbackState {
        switch self {
        case .resting, .unavailable: LoopbackState()
        case .ready(let path): LoopbackState(device: path)
        case .mirroring(let path, let readers):
            LoopbackState(
                device: path,
                readers: readers.map {
                    Viewer(
                        name: $0.name,
                        application: "",
                        process: UInt32($0.process),
                        since: $0.since,
                        through: path
                    )
                }
            )
        }
    }

    /// The reported problem, a sentence; empty without one.
    var problem: String {
        guard case .unavailable(let reason) = self else { return "" }
        return "The stream is not on a loopback device: \(reason)"
    }

    func log() {
        switch self {
        case .resting: break
        case .ready(let path):
            Log.publish.notice("loopback ready", metadata: ["device": "\(path)"])
        case .mirroring(let path, let readers):
            let names = readers.map(\.name).joined(separator: ", ")
            Log.publish.notice(
                "loopback in use",
                metadata: ["device": "\(path)", "by": "\(names)"]
            )
        case .unavailable(let reason):
            Log.publish.warning("no loopback", metadata: ["reason": "\(reason)"])
        }
    }
}
