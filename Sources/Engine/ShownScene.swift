package import DualCamCore
package import Frames
package import Platform
import Synchronization

/// The scene as the frame thread shows it, with the words of its notices.
///
/// Words are written on a thread of their own, named `labels`: fonts are slow to find, and neither
/// the frame thread nor D-Bus may wait for them. So a notice's words may come a moment after its
/// veil, the first time that it is shown; they are kept from then on.
package final class ShownScene: Sendable {
    private struct Content: Sendable {
        var state: SceneState
        var labels = PerRole<NoticeLabels?>(back: nil, front: nil)
    }

    private let canvas: Size
    private let content: Mutex<Content>
    /// What was written, by its text; `nil` for what is being written. Locked before `content`,
    /// and never by the frame thread. Frees nothing, so that the frame thread frees no label.
    private let written = Mutex<[String: NoticeLabels?]>([:])
    private let mailbox: EventLoop.Mailbox
    private let thread: Thread
    private let stop: @Sendable () -> Void

    /// Shows `state` on a canvas of `canvas`. Throws when the system has no thread or descriptor
    /// to give.
    package init(_ state: SceneState, canvas: Size) throws(SystemError) {
        self.canvas = canvas
        content = Mutex(Content(state: state))
        // Unsafe: made here, so that its failure can be thrown, and used by the new thread alone.
        nonisolated(unsafe) let loop = try EventLoop()
        mailbox = loop.mailbox
        stop = { loop.stop() }
        thread = try Thread(name: "labels") { loop.run() }
        show(state)
    }

    /// What to show now. Does not allocate.
    package var current: (state: SceneState, labels: PerRole<NoticeLabels?>) {
        content.withLock { ($0.state, $0.labels) }
    }

    /// Shows `state` from now on, and has the words written that it lacks.
    package func show(_ state: SceneState) {
        written.withLock { written in
            for role in Role.allCases {
                guard let text = state.notices[role]?.text(for: role) else { continue }
                if written[text] == nil { write(text, &written) }
            }
            put(state, written)
        }
    }

    /// Ends the thread and waits for it. Once.
    package func end() {
        mailbox.post(stop)
        thread.join()
    }

    private func write(_ text: String, _ written: inout [String: NoticeLabels?]) {
        written.updateValue(nil, forKey: text)
        mailbox.post { [self] in
            let labels = NoticeLabels(text, canvas: canvas)
            self.written.withLock { written in
                written[text] = labels
                put(content.withLock { $0.state }, written)
            }
        }
    }

    private func put(_ state: SceneState, _ written: [String: NoticeLabels?]) {
        func labels(_ role: Role) -> NoticeLabels? {
            state.notices[role].flatMap { written[$0.text(for: role)] ?? nil }
        }
        let new = Content(state: state, labels: PerRole(back: labels(.back), front: labels(.front)))
        content.withLock { $0 = new }
    }
}
