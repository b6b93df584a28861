import Frames
import GTK
import Platform
import ViewCore

/// The window on Sway, which puts it above others and elsewhere when `swaymsg` asks for it: no
/// program may do so by Wayland alone.
final class SwayWindow {
    private static let title = "DualCam"
    /// The longest time for which the window waits for Sway, in seconds.
    private static let patience = 0.5

    private let commands = SwayCommands(of: ViewProgram.id, title: title)
    private var patience: MainLoop.Timer?
    /// The arguments of `swaymsg` and the receivers of its answers, in order; the first runs.
    private var calls: [(words: [String], done: (String?) -> Void)] = []
    /// The place that the window is on its way to.
    private var target: Rect?

    /// The place that Sway told last; `nil` before, and if it told none.
    private(set) var place: SwayPlace?

    /// Creates what moves the window on Sway; `nil` where something else runs.
    init?() {
        guard !Backend.isX11, environmentVariable("SWAYSOCK")?.hasPrefix("/") ?? false else {
            return nil
        }
    }

    private func ask(_ words: [String], _ done: @escaping (String?) -> Void) {
        calls.append((words, done))
        if calls.count == 1 { run() }
    }

    private func run() {
        Subprocess.run(["swaymsg"] + calls[0].words) { [weak self] answer, _ in
            guard let self else { return }
            calls[0].done(answer)
            calls.removeFirst()
            if !calls.isEmpty { run() }
        }
    }

    /// Asks Sway to keep the window above others, and on every workspace, and calls `done` once it
    /// knows: the window may then appear. It does so, too, where Sway does not answer.
    func keepAbove(_ done: @escaping () -> Void) {
        patience = MainLoop.Timer(after: Self.patience, done)
        ask([commands.keepAbove]) { [weak self] _ in
            guard let self, patience?.isOver == false else { return }
            patience = nil
            done()
        }
    }

    /// Moves the window, without its shadow, to `rect` on the screen.
    func move(to rect: Rect) {
        place?.window = rect
        let isOnTheWay = target != nil
        target = rect
        if !isOnTheWay { follow() }
    }

    private func follow() {
        guard let rect = target else { return }
        ask([commands.move(to: rect)]) { [weak self] _ in
            guard let self else { return }
            if target == rect { target = nil } else { follow() }
        }
    }

    /// Asks where the window is, and calls `done` once `place` is what Sway says.
    func look(_ done: @escaping () -> Void) {
        ask(["-t", "get_tree", "-r"]) { [weak self] tree in
            self?.place = tree.flatMap {
                SwayPlace(of: ViewProgram.id, title: Self.title, in: $0)
            }
            done()
        }
    }
}
