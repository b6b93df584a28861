import Frames
import Glibc
import Platform
import Synchronization

/// Probes device nodes, each once for as long as it is there.
///
/// Each on a thread of its own: a device may take seconds to be opened, and one that is broken may
/// take for ever, which is to keep nobody from the other cameras.
///
/// - Context: bound to one thread at a time.
final class DeviceProbe {
    typealias Reply = Result<CameraDirectory.Answer, CaptureError>

    private let ask: @Sendable (String) throws(CaptureError) -> CameraDirectory.Answer
    private let onAnswer: @Sendable () -> Void
    private var probes: [NodeID: NodeProbe] = [:]

    /// Seconds that a list waits for answers.
    private static let timeout = 1.0

    /// Talks to nodes with `ask`; `onAnswer` is called, on a thread of its own, when one answers later
    /// than it was waited for.
    init(
        onAnswer: @escaping @Sendable () -> Void = {},
        ask: @escaping @Sendable (String) throws(CaptureError) -> CameraDirectory.Answer
    ) {
        self.ask = ask
        self.onAnswer = onAnswer
    }

    /// A file that came to be anew, or has other permissions, is another one.
    private struct NodeID: Hashable {
        let path: String
        let inode: UInt
        let seconds: Int
        let nanoseconds: Int

        /// `nil` when there is nothing at `path`.
        init?(_ path: String) {
            var file = stat()
            guard stat(path, &file) == 0 else { return nil }
            self.path = path
            inode = UInt(file.st_ino)
            seconds = file.st_ctim.tv_sec
            nanoseconds = file.st_ctim.tv_nsec
        }
    }

    /// What the nodes at `paths` said; none of those that do not answer.
    func replies(of paths: [String]) -> [String: Reply] {
        let nodes = paths.compactMap(NodeID.init)
        // A thread that hangs in a device that is gone is kept until it comes back.
        probes = probes.filter { nodes.contains($0.key) || !$0.value.isOver }
        for node in nodes where probes[node] == nil {
            probes[node] = try? NodeProbe(node.path, ask, onAnswer)
        }
        let deadline = MonotonicClock.now + Timestamp(seconds: Self.timeout)
        var replies: [String: Reply] = [:]
        for node in nodes {
            replies[node.path] = probes[node]?.reply(until: deadline)
            // What went wrong may go right another time.
            if case .failure = replies[node.path] { probes[node] = nil }
        }
        return replies
    }
}

/// One node that is asked, or has answered.
private final class NodeProbe: Sendable {
    private struct Course {
        var reply: DeviceProbe.Reply?
        var isMissed = false
    }
    private let course = Mutex(Course())
    private let thread = Mutex<Thread?>(nil)

    init(
        _ path: String,
        _ ask: @escaping @Sendable (String) throws(CaptureError) -> CameraDirectory.Answer,
        _ onAnswer: @escaping @Sendable () -> Void
    ) throws(SystemError) {
        let started = try Thread(name: "ask") { [self] in
            let reply = DeviceProbe.Reply { () throws(CaptureError) in try ask(path) }
            let isMissed = course.withLock { course in
                course.reply = reply
                return course.isMissed
            }
            if isMissed { onAnswer() }
        }
        thread.withLock { $0 = started }
    }

    /// A thread that has not ended yet goes on by itself.
    deinit { thread.withLock { $0?.detach() } }

    /// The reply; `nil` when there is none by `deadline`, for which it is waited once.
    func reply(until deadline: Timestamp) -> DeviceProbe.Reply? {
        let wasMissed = course.withLock { $0.isMissed }
        _ = hasEnded(by: wasMissed ? .zero : deadline)
        return course.withLock { course in
            course.isMissed = course.reply == nil
            return course.reply
        }
    }

    /// Whether its thread has ended.
    var isOver: Bool { hasEnded(by: .zero) }

    private func hasEnded(by deadline: Timestamp) -> Bool {
        thread.withLock { thread in
            guard let running = thread else { return true }
            guard running.join(until: deadline) else { return false }
            thread = nil
            return true
        }
    }
}
