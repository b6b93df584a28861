import DualCamCore
import Frames
import Glibc
import TestSupport

@testable import Capture

final class DeviceTree {
    private let scratch: ScratchDirectory
    var root: String { scratch.path }
    var answers: [String: CameraDirectory.Answer] = [:]
    /// The records of udev by node name; none: udev does not run.
    var records: [String: DeviceRecord] = [:]

    init() throws {
        scratch = try ScratchDirectory()
        for directory in ["sysfs", "dev/v4l/by-id", "dev/v4l/by-path"] {
            make("\(root)/\(directory)")
        }
    }

    func make(_ directory: String) {
        var path = ""
        for part in directory.split(separator: "/") {
            path += "/\(part)"
            mkdir(path, 0o755)
        }
    }

    func write(_ text: String, to path: String) { write(Array(text.utf8), to: path) }

    /// Adds a node of a USB device at `port`. `nil` for `capability` means that it may not be
    /// opened.
    func add(
        _ entry: String,
        port: String,
        driver: String = "uvcvideo",
        index: Int = 0,
        serial: String? = nil,
        id: String? = nil,
        place: String? = nil,
        card: String? = nil,
        interface: String = "",
        number: UInt8 = 0,
        isCamera: Bool = true,
        isFixed: Bool = false,
        isDenied: Bool = false,
        orientation: CameraDevice.Orientation? = nil,
        modes: String = "1280x720@30/MJPG",
        descriptors: [UInt8] = []
    ) {
        let device = "\(root)/usb/\(port)"
        make("\(device)/\(port):1.\(number)")
        write("\(interface)\n", to: "\(device)/\(port):1.\(number)/interface")
        write(String(number, radix: 16), to: "\(device)/\(port):1.\(number)/bInterfaceNumber")
        if !descriptors.isEmpty { write(descriptors, to: "\(device)/descriptors") }
        write("046d\n", to: "\(device)/idVendor")
        write("0825\n", to: "\(device)/idProduct")
        write(isFixed ? "fixed\n" : "removable\n", to: "\(device)/removable")
        if let serial { write("\(serial)\n", to: "\(device)/serial") }
        make("\(root)/sysfs/\(entry)")
        write("Camera \(port)\n", to: "\(root)/sysfs/\(entry)/name")
        write("\(index)\n", to: "\(root)/sysfs/\(entry)/index")
        symlink("\(device)/\(port):1.\(number)", "\(root)/sysfs/\(entry)/device")
        write("", to: "\(root)/dev/\(entry)")
        if let id { symlink("../../\(entry)", "\(root)/dev/v4l/by-id/\(id)") }
        if let place { symlink("../../\(entry)", "\(root)/dev/v4l/by-path/\(place)") }
        guard !isDenied else { return }
        answers["\(root)/dev/\(entry)"] = CameraDirectory.Answer(
            capability: VideoCapability(
                driver: driver,
                card: card ?? "Camera \(port)",
                bus: "usb-0000:00:14.0-\(port)",
                flags: isCamera ? [.capture, .streaming] : [.streaming]
            ),
            orientation: orientation,
            modes: ModeChoiceTests.modes(modes)
        )
    }

    /// Adds a node that is on no USB port; `hasDevice` if it belongs to hardware.
    func add(
        _ entry: String,
        platform driver: String,
        card: String? = nil,
        flags: NodeFacts.Capabilities = [.capture, .streaming],
        modes: String = "",
        functions: Set<UInt32> = [],
        hasDevice: Bool = true
    ) {
        make("\(root)/sysfs/\(entry)")
        if hasDevice {
            make("\(root)/platform/\(driver)")
            symlink("\(root)/platform/\(driver)", "\(root)/sysfs/\(entry)/device")
        }
        write("", to: "\(root)/dev/\(entry)")
        answers["\(root)/dev/\(entry)"] = CameraDirectory.Answer(
            capability: VideoCapability(
                driver: driver,
                card: card ?? driver,
                bus: "platform:\(driver)-\(entry)",
                flags: flags
            ),
            modes: ModeChoiceTests.modes(modes),
            functions: functions
        )
    }

    /// Adds a device of v4l2loopback, fed unless it has no modes.
    func addRelay(_ entry: String, _ card: String, modes: String = "1920x1080@30/YUYV") {
        add(
            entry,
            platform: "v4l2 loopback",
            card: card,
            flags: modes.isEmpty ? [.output, .streaming] : [.capture, .streaming],
            modes: modes,
            hasDevice: false
        )
    }

    private func write(_ bytes: [UInt8], to path: String) {
        guard let file = fopen(path, "w") else { return }
        _ = bytes.withUnsafeBytes { fwrite($0.baseAddress, 1, $0.count, file) }
        fclose(file)
    }

    var cameras: [CameraDevice] { directory().cameras() }
    var nodes: [CameraDevice] { directory().nodes() }

    /// Returns a directory of the present nodes. `pause` is called with the path of each node
    /// that is queried.
    func directory(
        onAnswer: @escaping @Sendable () -> Void = {},
        pause: @escaping @Sendable (String) -> Void = { _ in }
    ) -> CameraDirectory {
        let (answers, records) = (answers, records)
        let probe = DeviceProbe(onAnswer: onAnswer) { path throws(CaptureError) in
            pause(path)
            guard let answer = answers[path] else {
                throw CaptureError(.denied, "open", path, errno: EACCES)
            }
            return answer
        }
        return CameraDirectory(
            sysfs: "\(root)/sysfs",
            dev: "\(root)/dev",
            record: { records[$0] },
            probe: probe
        )
    }
}
