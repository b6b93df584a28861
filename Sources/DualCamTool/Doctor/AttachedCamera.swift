import DualCamCore
import Glibc
import Platform

/// A camera as sysfs describes it. No device is opened.
struct AttachedCamera: CustomStringConvertible {
    /// The path of its device file.
    let path: String
    /// The name that its driver gives it, without repetition.
    let name: String
    /// The USB bus of the camera; `nil` if it is not on USB.
    let bus: Bus?

    /// A USB bus, whose devices share its bandwidth.
    struct Bus: Equatable {
        let number: Int
        /// The speed in Mb/s; 480 is USB 2.
        let megabits: Int

        /// Reads the bus of the device that has the video node in `directory`.
        fileprivate init?(ofNodeIn directory: String) {
            // The directory of the interface is inside that of the device.
            let device = "\(directory)/device/.."
            guard let number = content("\(device)/busnum").flatMap({ Int($0) }),
                let speed = content("\(device)/speed").flatMap({ Int($0) })
            else { return nil }
            self.number = number
            megabits = speed
        }
    }

    var description: String { "\(name) (\(path))" }

    /// Returns the cameras of the machine, or those in the directories given.
    static func all(
        sysfs: String = "/sys/class/video4linux",
        dev: String = "/dev"
    ) -> [AttachedCamera] {
        entries(of: sysfs).filter { $0.hasPrefix("video") }.sorted().compactMap { entry in
            // The first node of a device is its camera. A node without a device is a loopback's.
            guard access("\(sysfs)/\(entry)/device", F_OK) == 0,
                content("\(sysfs)/\(entry)/index") == "0"
            else { return nil }
            return AttachedCamera(
                path: "\(dev)/\(entry)",
                name: plainName(content("\(sysfs)/\(entry)/name") ?? entry),
                bus: Bus(ofNodeIn: "\(sysfs)/\(entry)")
            )
        }
    }

    /// `true` if this user may open it.
    var mayBeOpened: Bool { access(path, R_OK | W_OK) == 0 }

    /// The group that may open it.
    var group: String { Self.group(of: path) }

    /// Returns the group that may open the device file `path`.
    static func group(of path: String) -> String {
        var status = stat()
        guard stat(path, &status) == 0, let group = getgrgid(status.st_gid) else { return "video" }
        return String(cString: group.pointee.gr_name)
    }

    /// Returns `true` if a USB camera has no driver: an interface of class 0e, video.
    static func isWaitingForDriver(usb: String = "/sys/bus/usb/devices") -> Bool {
        entries(of: usb).contains {
            content("\(usb)/\($0)/bInterfaceClass") == "0e"
                && access("\(usb)/\($0)/driver", F_OK) != 0
        }
    }
}

/// The kernel module v4l2loopback, as sysfs describes it.
enum LoopbackModule {
    /// Returns the paths of its devices in the order of their numbers. Among the devices without
    /// hardware they are those with `max_openers`, an attribute of this module alone.
    static func devices(
        sysfs: String = "/sys/devices/virtual/video4linux",
        dev: String = "/dev"
    ) -> [String] {
        entries(of: sysfs).filter {
            $0.hasPrefix("video") && access("\(sysfs)/\($0)/max_openers", F_OK) == 0
        }.sorted { ($0.count, $0) < ($1.count, $1) }.map { "\(dev)/\($0)" }
    }
}
