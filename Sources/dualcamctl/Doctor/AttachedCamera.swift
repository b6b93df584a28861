import Glibc
import Platform

/// A camera that the kernel knows of, by sysfs alone: nothing is opened.
struct AttachedCamera: CustomStringConvertible {
    /// Its device file.
    let path: String
    /// What its driver calls it.
    let name: String

    var description: String { "\(name) (\(path))" }

    /// Those of the machine, or of the directories given.
    static func all(
        sysfs: String = "/sys/class/video4linux",
        dev: String = "/dev"
    ) -> [AttachedCamera] {
        entries(of: sysfs).filter { $0.hasPrefix("video") }.sorted().compactMap { entry in
            // The first node of a device is its camera; one without a device is a loopback's.
            guard access("\(sysfs)/\(entry)/device", F_OK) == 0,
                content("\(sysfs)/\(entry)/index") == "0"
            else { return nil }
            return AttachedCamera(
                path: "\(dev)/\(entry)",
                name: content("\(sysfs)/\(entry)/name") ?? entry
            )
        }
    }

    /// Whether this user may open it.
    var mayBeOpened: Bool { access(path, R_OK | W_OK) == 0 }

    /// The group that may open it.
    var group: String {
        var status = stat()
        guard stat(path, &status) == 0, let group = getgrgid(status.st_gid) else { return "video" }
        return String(cString: group.pointee.gr_name)
    }

    /// Whether there is a USB camera without a driver: an interface of class 0e, video.
    static func isWaitingForDriver(usb: String = "/sys/bus/usb/devices") -> Bool {
        entries(of: usb).contains {
            content("\(usb)/\($0)/bInterfaceClass") == "0e"
                && access("\(usb)/\($0)/driver", F_OK) != 0
        }
    }
}
