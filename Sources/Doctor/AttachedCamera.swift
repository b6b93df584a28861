import DualCamCore
import Glibc
import Platform

/// A camera as sysfs describes it. No device is opened.
struct AttachedCamera: CustomStringConvertible {
    /// A USB bus, whose devices share its bandwidth. A speed of 480 Mb/s is USB 2.
    struct Bus: Equatable { let number, megabits: Int }

    let path: String
    /// The name that its driver gives it, without repetition.
    let name: String
    /// `nil` if it is not on USB.
    let bus: Bus?

    var description: String { "\(name) (\(path))" }

    /// Returns the cameras of the machine, or those in the directories given.
    static func all(
        sysfs: String = "/sys/class/video4linux",
        dev: String = "/dev"
    ) -> [AttachedCamera] {
        entries(of: sysfs).filter { $0.hasPrefix("video") }.sorted().compactMap { entry in
            let node = "\(sysfs)/\(entry)"
            // The first node of a device is its camera. A node without a device is a loopback's.
            guard isThere("\(node)/device"), content("\(node)/index") == "0" else { return nil }
            // The directory of the interface is inside that of the USB device.
            let numbers = ["busnum", "speed"].compactMap { name in
                content("\(node)/device/../\(name)").flatMap { Int($0) }
            }
            return AttachedCamera(
                path: "\(dev)/\(entry)",
                name: plainName(content("\(node)/name") ?? entry),
                bus: numbers.count == 2 ? Bus(number: numbers[0], megabits: numbers[1]) : nil
            )
        }
    }

    var mayBeOpened: Bool { access(path, R_OK | W_OK) == 0 }

    /// Returns the group that may open the device file `path`.
    static func group(of path: String) -> String {
        var status = stat()
        guard stat(path, &status) == 0, let group = getgrgid(status.st_gid) else { return "video" }
        return String(cString: group.pointee.gr_name)
    }

    /// Returns `true` if a USB camera has no driver: an interface of class 0e, video.
    static func isWaitingForDriver(usb: String = "/sys/bus/usb/devices") -> Bool {
        entries(of: usb).contains {
            content("\(usb)/\($0)/bInterfaceClass") == "0e" && !isThere("\(usb)/\($0)/driver")
        }
    }
}

/// The kernel module v4l2loopback, as sysfs describes it.
enum LoopbackModule {
    /// Returns the paths of its devices in the order of their numbers. Among the devices without
    /// hardware they are those with `max_openers`, an attribute of this module alone.
    static func devices(sysfs: String = "/sys/devices/virtual/video4linux") -> [String] {
        entries(of: sysfs).filter { $0.hasPrefix("video") && isThere("\(sysfs)/\($0)/max_openers") }
            .sorted { ($0.count, $0) < ($1.count, $1) }.map { "/dev/\($0)" }
    }
}

func isThere(_ path: String) -> Bool { access(path, F_OK) == 0 }

/// Returns the numbers of this user's processes, as /proc names them.
func ownProcesses() -> [String] {
    entries(of: "/proc").filter { process in
        var status = stat()
        return Int32(process) != nil && stat("/proc/\(process)", &status) == 0
            && status.st_uid == geteuid()
    }
}
