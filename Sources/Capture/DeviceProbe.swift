import Frames
import Glibc
import Platform
import Synchronization

/// Probes device nodes, each once while it exists.
///
/// Each probe has a thread of its own: a device may take seconds to open, and a broken one for
/// ever, which must not delay the other cameras.
///
/// - Context: bound to one thread at a time.
final class DeviceProbe {
    typealias Reply = Result<CameraDirectory.Answer, CaptureError>

    private let ask: @Sendable (String) throws(CaptureError) -> CameraDirectory.Answer
    private let onAnswer: @Sendable () -> Void
    private var probes: [NodeID: NodeProbe] = [:]

    /// The time that a list waits for answers, in seconds.
    private static let timeout = 1.0

    /// Queries nodes with `ask`. `onAnswer` is called on a thread of its own when a node answers
    /// after the wait for it.
    init(
        onAnswer: @escaping @Sendable () -> Void = {},
        ask: @escaping @Sendable (String) throws(CaptureError) -> CameraDirectory.Answer
    ) {
        self.ask = ask
        self.onAnswer = onAnswer
    }

    /// The identity of a node. A file that was recreated, or has new permissions, is another node.
    private struct NodeID: Hashable {
        let path: String
        let inode: UInt
        let seconds: Int
        let nanoseconds: Int

        /// Returns `nil` if nothing is at `path`.
        init?(_ path: String) {
            var file = stat()
            guard stat(path, &file) == 0 else { return nil }
            self.path = path
            inode = UInt(file.st_ino)
            seconds = file.st_ctim.tv_sec
            nanoseconds = file.st_ctim.tv_nsec
        }
    }

    /// Returns the replies of the nodes at `paths`, without those that do not answer.
    func replies(of paths: [String]) -> [String: Reply] {
        let nodes = paths.compactMap(NodeID.init)
        // A probe that hangs in a device that is gone is kept until its thread returns.
        probes = probes.filter { nodes.contains($0.key) || !$0.value.isOver }
        for node in nodes where probes[node] == nil {
            probes[node] = try? NodeProbe(node.path, ask, onAnswer)
        }
        let deadline = MonotonicClock.now + Timestamp(seconds: Self.timeout)
        var replies: [String: Reply] = [:]
        for node in nodes {
            replies[node.path] = probes[node]?.reply(until: deadline)
            // A failure may be temporary, so the node is probed again next time.
            switch replies[node.path] {
            case .failure: probes[node] = nil
            case .success(let answer) where !answer.isLasting: probes[node] = nil
            case .success, nil: break
            }
        }
        return replies
    }
}

/// The probe of one node, with its reply once it has one.
private final class NodeProbe: Sendable {
    private struct Course {
        var reply: DeviceProbe.Reply?
        var isMissed = false
    }
    private let course = Mutex(Course())
    private let worker: Worker

    init(
        _ path: String,
        _ ask: @escaping @Sendable (String) throws(CaptureError) -> CameraDirectory.Answer,
        _ onAnswer: @escaping @Sendable () -> Void
    ) throws(SystemError) {
        worker = try Worker(name: "ask")
        try worker.start { [self] in
            let reply = DeviceProbe.Reply { () throws(CaptureError) in try ask(path) }
            let isMissed = course.withLock { course in
                course.reply = reply
                return course.isMissed
            }
            if isMissed { onAnswer() }
        }
    }

    /// A running thread goes on by itself.
    deinit { worker.leave() }

    /// Returns the reply, or `nil` if there is none. Waits until `deadline` the first time only.
    func reply(until deadline: Timestamp) -> DeviceProbe.Reply? {
        let wasMissed = course.withLock { $0.isMissed }
        _ = worker.join(until: wasMissed ? .zero : deadline)
        return course.withLock { course in
            course.isMissed = course.reply == nil
            return course.reply
        }
    }

    /// `true` once its thread has ended.
    var isOver: Bool { worker.join(until: .zero) }
}
