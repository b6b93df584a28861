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
                Action.of(context)?.body()
                return 1
            },
            retained(Action(handler)),
            Action.release
        )
    }

    /// Calls `handler` once GTK has done what it is doing.
    package static func later(_ handler: @escaping () -> Void) {
        let call: GSourceFunc = { context in
            Action.of(context)?.body()
            return 0
        }
        g_timeout_add_full(
            G_PRIORITY_DEFAULT,
            0,
            call,
            retained(Action(handler)),
            Action.release
        )
    }

    /// A timer, which ends when it is released.
    package final class Timer {
        private var id: guint = 0
        /// `true` once it has called, if it calls once, or was cancelled.
        package var isOver: Bool { id == 0 }

        package convenience init(every seconds: Double, _ handler: @escaping () -> Void) {
            self.init(seconds, repeats: true, handler)
        }

        package convenience init(after seconds: Double, _ handler: @escaping () -> Void) {
            self.init(seconds, repeats: false, handler)
        }

        private init(_ seconds: Double, repeats: Bool, _ handler: @escaping () -> Void) {
            let action = Action { [weak self] in
                if !repeats { self?.id = 0 }
                handler()
            }
            let call: GSourceFunc =
                repeats
                ? { context in
                    Action.of(context)?.body()
                    return 1
                }
                : { context in
                    Action.of(context)?.body()
                    return 0
                }
            id = g_timeout_add_full(
                G_PRIORITY_DEFAULT,
                guint(max(0, seconds) * 1000),
                call,
                retained(action),
                Action.release
            )
        }

        deinit { cancel() }

        /// Ends the timer.
        package func cancel() {
            if id != 0 { g_source_remove(id) }
            id = 0
        }
    }
}
