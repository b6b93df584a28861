import Frames
import GTK
import Platform
import ViewCore

/// The window on Sway, which puts it above others and elsewhere when it is asked to, over its own
/// socket: no program may do so by Wayland alone.
///
/// - Context: bound to GTK's thread; a thread of its own waits for Sway.
final class SwayWindow {
    private let worker: LoopWorker<SwaySocket>
    private let inbox: Inbox
    private let commands: SwayCommands
    private var patience: MainLoop.Timer?
    /// The title of the picture's window.
    private static let title = "DualCam"
    /// The longest time for which the window waits for Sway, in seconds.
    private static let patience = 0.5

    /// The place that Sway told last; `nil` before, and if it told none.
    private(set) var place: SwayPlace?

    /// The answers for GTK's thread, which are let go of with the window.
    private final class Inbox: Sendable {
        let mailbox: EventLoop.Mailbox
        // Unsafe: set and used on GTK's thread alone.
        nonisolated(unsafe) weak var owner: SwayWindow?
        nonisolated(unsafe) var ready: (() -> Void)?
        nonisolated(unsafe) var waiting: [() -> Void] = []

        init(_ mailbox: EventLoop.Mailbox) { self.mailbox = mailbox }

        func arrive() {
            owner?.patience = nil
            let done = ready
            ready = nil
            done?()
        }

        func take(_ place: SwayPlace?) {
            guard let owner, !waiting.isEmpty else { return }
            owner.place = place
            waiting.removeFirst()()
        }
    }

    /// Creates what moves the window on Sway; `nil` where something else runs. Answers come by
    /// `mailbox`.
    init?(_ mailbox: EventLoop.Mailbox) {
        guard !Backend.isX11, let socket = SwaySocket() else { return nil }
        do throws(SystemError) {
            worker = try LoopWorker(name: "sway")
            try worker.start { _ in socket }
        } catch {
            return nil
        }
        inbox = Inbox(mailbox)
        commands = SwayCommands(of: ViewProgram.id, title: Self.title)
        inbox.owner = self
    }

    deinit {
        worker.end()
        worker.leave()
    }

    /// Asks Sway to keep the window above others, and on every workspace, and calls `done` once it
    /// knows: the window may then appear. It does so, too, where Sway does not answer.
    func keepAbove(_ done: @escaping () -> Void) {
        inbox.ready = done
        let (inbox, words) = (inbox, commands.keepAbove)
        patience = MainLoop.Timer(after: Self.patience) { inbox.arrive() }
        worker.post { socket in
            _ = socket.ask(.command, words)
            inbox.mailbox.post { inbox.arrive() }
        }
    }

    /// Moves the window, without its shadow, to `rect` on the screen.
    func move(to rect: Rect) {
        place?.window = rect
        let words = commands.move(to: rect)
        worker.post { _ = $0.ask(.command, words) }
    }

    /// Asks where the window is, and calls `done` once `place` is what Sway says.
    func look(_ done: @escaping () -> Void) {
        inbox.waiting.append(done)
        let inbox = inbox
        worker.post { socket in
            let place = socket.ask(.tree).flatMap {
                SwayPlace(of: ViewProgram.id, title: Self.title, in: $0)
            }
            inbox.mailbox.post { inbox.take(place) }
        }
    }
}
