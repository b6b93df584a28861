import CGTK

/// GLib's loop, which GTK runs.
package enum MainLoop {
    /// Calls `handler` whenever `descriptor` is readable, for the rest of the program.
    package static func watch(_ descriptor: CInt, _ handler: @escaping () -> Void) {
        g_unix_fd_add_full(
            G_PRIORITY_DEFAULT,
            descriptor,
            G_IO_IN,
            { _, _, context in
                if let context { Action.of(context)() }
                return 1
            },
            retained(Action(handler)),
            release
        )
    }

    /// Calls `handler` once GTK has done what it is doing.
    package static func later(_ handler: @escaping () -> Void) {
        _ = call(after: 0) {
            handler()
            return false
        }
    }

    /// Calls `handler` after so many seconds, and again until it returns `false`; returns GLib's
    /// number for that.
    private static func call(after seconds: Double, _ handler: @escaping () -> Bool) -> guint {
        g_timeout_add_full(
            G_PRIORITY_DEFAULT,
            guint(max(0, seconds) * 1000),
            { context in context.map(Callback<() -> Bool>.of)?() == true ? 1 : 0 },
            retained(Callback(handler)),
            release
        )
    }

    /// A timer, which ends when it is released.
    package final class Timer {
        private var id: guint = 0
        /// `true` once it has called, if it calls once, or was cancelled.
        package var isOver: Bool { id == 0 }

        package init(every seconds: Double, _ handler: @escaping () -> Void) {
            id = call(after: seconds) {
                handler()
                return true
            }
        }

        package init(after seconds: Double, _ handler: @escaping () -> Void) {
            id = call(after: seconds) { [weak self] in
                self?.id = 0
                handler()
                return false
            }
        }

        deinit { cancel() }

        /// Ends the timer.
        package func cancel() {
            if id != 0 { g_source_remove(id) }
            id = 0
        }
    }
}
