import Glibc
import Platform

/// A camera that the kernel knows of, by sysfs alone: nothing is opened.
struct AttachedCamera: CustomStringConvertible {
    /// Its device file.
    let path: String
    /// What its driver calls it.
    let name: String
    /// The USB bus that it is plugged into; nil where it is none.
    let bus: Bus?

    /// A bus of USB, whose devices share what it carries.
    struct Bus: Equatable {
        let number: Int
        /// What it carries, in Mb/s: 480 is USB 2.
        let megabits: Int

        /// The bus of the video node in `directory`: that of its device.
        fileprivate init?(ofNodeIn directory: String) {
            // The interface's folder is in that of the device.
            let device = "\(directory)/device/.."
            guard let number = content("\(device)/busnum").flatMap({ Int($0) }),
                let speed = content("\(device)/speed").flatMap({ Int($0) })
            else { return nil }
            self.number = number
            megabits = speed
        }
    }

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
                name: content("\(sysfs)/\(entry)/name") ?? entry,
                bus: Bus(ofNodeIn: "\(sysfs)/\(entry)")
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

/// The kernel's module v4l2loopback, by sysfs alone.
enum LoopbackModule {
    /// The paths of its devices, in the order of their numbers. They are among those without hardware,
    /// and what the module says of each is there: max_openers.
    static func devices(
        sysfs: String = "/sys/devices/virtual/video4linux",
        dev: String = "/dev"
    ) -> [String] {
        entries(of: sysfs).filter {
            $0.hasPrefix("video") && access("\(sysfs)/\($0)/max_openers", F_OK) == 0
        }.sorted { ($0.count, $0) < ($1.count, $1) }.map { "\(dev)/\($0)" }
    }
}
