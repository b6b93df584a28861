import CUdev
package import Platform

/// Tells when V4L2 devices come and go, as udev knows it: libudev(3).
///
/// After udev's own rules, so that links and permissions are there when it tells.
///
/// - Context: bound to the thread of its event loop.
package final class DeviceMonitor {
    private let monitor: OpaquePointer
    private let context: OpaquePointer
    private var watch: EventLoop.Watch?

    /// Calls `onChange` after each batch of changes.
    ///
    /// `nil` when udev cannot be listened to, as in a container: cameras are then found only when
    /// they are looked for.
    package init?(loop: EventLoop, onChange: @escaping () -> Void) {
        guard let context = udev_new() else { return nil }
        guard let monitor = udev_monitor_new_from_netlink(context, "udev") else {
            udev_unref(context)
            return nil
        }
        self.context = context
        self.monitor = monitor
        guard
            udev_monitor_filter_add_match_subsystem_devtype(monitor, "video4linux", nil) >= 0,
            udev_monitor_enable_receiving(monitor) >= 0
        else { return nil }
        do throws(SystemError) {
            watch = try loop.watch(udev_monitor_get_fd(monitor), for: .readable) {
                [unowned self] _ in
                if drain() { onChange() }
            }
        } catch {
            return nil
        }
    }

    deinit {
        // First: the descriptor belongs to the monitor.
        watch?.cancel()
        udev_monitor_unref(monitor)
        udev_unref(context)
    }

    /// Takes all messages that wait; whether there were any.
    private func drain() -> Bool {
        var isChanged = false
        while let device = udev_monitor_receive_device(monitor) {
            udev_device_unref(device)
            isChanged = true
        }
        return isChanged
    }
}
