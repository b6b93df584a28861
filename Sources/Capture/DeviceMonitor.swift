import CUdev
import Glibc
import Platform

/// A video node's entry in udev: libudev(3).
struct DeviceRecord {
    /// `true` once udev's rules have run: links, permissions and properties are final.
    var isSettled: Bool
    /// The capabilities that udev found on the node, such as ":capture:"; `nil` if it did not look.
    var capabilities: String?
}

extension DeviceRecord {
    /// Reads the record of the node called `entry` in sysfs; `nil` if udev does not run.
    init?(of entry: String) {
        guard DeviceMonitor.isPossible, let context = udev_new() else { return nil }
        defer { udev_unref(context) }
        guard let device = udev_device_new_from_subsystem_sysname(context, "video4linux", entry)
        else {
            // It is already gone.
            isSettled = false
            return
        }
        defer { udev_device_unref(device) }
        isSettled = udev_device_get_is_initialized(device) > 0
        capabilities = udev_device_get_property_value(device, "ID_V4L_CAPABILITIES")
            .map { String(cString: $0) }
    }
}

/// Reports when V4L2 devices appear and disappear.
///
/// It reports after udev's own rules, so that links and permissions are final.
///
/// - Context: bound to the thread of its event loop.
final class DeviceMonitor {
    private let monitor: OpaquePointer
    private let context: OpaquePointer
    private var watch: EventLoop.Watch?

    /// `true` if udev runs. Without udev, a monitor neither fails nor reports anything.
    static var isPossible: Bool { access("/run/udev/control", F_OK) == 0 }

    /// Calls `onChange` after each batch of changes.
    ///
    /// Returns `nil` if udev cannot be reached, as in a container: cameras are then found only by
    /// an explicit look.
    init?(loop: EventLoop, onChange: @escaping () -> Void) {
        guard Self.isPossible, let context = udev_new() else { return nil }
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
        // First, since the descriptor belongs to the monitor.
        watch?.cancel()
        udev_monitor_unref(monitor)
        udev_unref(context)
    }

    /// Takes all pending messages. Returns `true` if there were any.
    private func drain() -> Bool {
        var isChanged = false
        while let device = udev_monitor_receive_device(monitor) {
            udev_device_unref(device)
            isChanged = true
        }
        return isChanged
    }
}
