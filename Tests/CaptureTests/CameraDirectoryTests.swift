import DualCamCore
import Foundation
import Frames
import Glibc
import Platform
import Synchronization
import TestSupport
import Testing

@testable import Capture

@Suite(.timeLimit(.minutes(5))) struct CameraDirectoryTests {
    /// A sysfs and a /dev of the test's own, removed with this object.
    private final class Tree {
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

        func write(_ text: String, to path: String) {
            guard let file = fopen(path, "w") else { return }
            fputs(text, file)
            fclose(file)
        }

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
            isCamera: Bool = true,
            isFixed: Bool = false,
            isDenied: Bool = false,
            orientation: CameraDevice.Orientation? = nil
        ) {
            let device = "\(root)/usb/\(port)"
            make("\(device)/\(port):1.0")
            write("046d\n", to: "\(device)/idVendor")
            write("0825\n", to: "\(device)/idProduct")
            write(isFixed ? "fixed\n" : "removable\n", to: "\(device)/removable")
            if let serial { write("\(serial)\n", to: "\(device)/serial") }
            make("\(root)/sysfs/\(entry)")
            write("Camera \(port)\n", to: "\(root)/sysfs/\(entry)/name")
            write("\(index)\n", to: "\(root)/sysfs/\(entry)/index")
            symlink("\(device)/\(port):1.0", "\(root)/sysfs/\(entry)/device")
            write("", to: "\(root)/dev/\(entry)")
            if let id { symlink("../../\(entry)", "\(root)/dev/v4l/by-id/\(id)") }
            if let place { symlink("../../\(entry)", "\(root)/dev/v4l/by-path/\(place)") }
            guard !isDenied else { return }
            answers["\(root)/dev/\(entry)"] = CameraDirectory.Answer(
                capability: VideoCapability(
                    driver: driver,
                    card: "Camera \(port)",
                    bus: "usb-0000:00:14.0-\(port)",
                    isCamera: isCamera
                ),
                orientation: orientation,
                isMonochrome: false
            )
        }

        var cameras: [CameraDevice] { directory().cameras() }

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

    @Test("a camera is known by its serial number where it has one, else by its place")
    func identity() throws {
        let tree = try Tree()
        tree.add(
            "video0",
            port: "1-1",
            serial: "S1",
            id: "usb-Cam_S1-video-index0",
            place: "pci-usb-0:1:1.0-video-index0"
        )
        tree.add(
            "video2",
            port: "1-2",
            id: "usb-Cam-video-index0",
            place: "pci-usb-0:2:1.0-video-index0"
        )
        let cameras = tree.cameras
        #expect(
            cameras.map(\.identity) == [
                "v4l2:usb-0000:00:14.0-1-2", "v4l2:usb-Cam_S1-video-index0",
            ]
        )
        #expect(cameras.map(\.name) == ["Camera 1-2", "Camera 1-1"])
        let named = try #require(cameras.last)
        for name in [
            "usb-Cam_S1-video-index0", "usb-0000:00:14.0-1-1", "pci-usb-0:1:1.0-video-index0",
            "\(tree.root)/dev/video0", "\(tree.root)/dev/v4l/by-id/usb-Cam_S1-video-index0",
        ] {
            #expect(named.isCalled(name), "\(name)")
            #expect(cameras.first?.isCalled(name) == false, "\(name)")
        }
    }

    @Test("two cameras with one serial number are told apart by their places")
    func twins() throws {
        let tree = try Tree()
        tree.add("video0", port: "1-1", serial: "0001", id: "usb-Cam_0001-video-index0")
        // Both claim the same link, and the first one gets it.
        tree.add("video2", port: "1-2", serial: "0001")
        #expect(
            tree.cameras.map(\.identity) == [
                "v4l2:usb-0000:00:14.0-1-1", "v4l2:usb-0000:00:14.0-1-2",
            ]
        )
    }

    @Test("two cameras in one device are told apart, too")
    func pair() throws {
        let tree = try Tree()
        tree.add("video0", port: "1-1", place: "pci-usb-0:1:1.0-video-index0")
        tree.add("video2", port: "1-1", place: "pci-usb-0:1:1.2-video-index0")
        #expect(
            tree.cameras.map(\.identity)
                == ["v4l2:pci-usb-0:1:1.0-video-index0", "v4l2:pci-usb-0:1:1.2-video-index0"]
        )
    }

    @Test("numbers in /dev do not matter")
    func renumbering() throws {
        let (before, after) = (try Tree(), try Tree())
        for (tree, entry) in [(before, "video0"), (after, "video7")] {
            tree.add(entry, port: "1-1", serial: "S1", id: "usb-Cam_S1-video-index0")
        }
        #expect(before.cameras.map(\.identity) == after.cameras.map(\.identity))
        #expect(before.cameras.map(\.path) != after.cameras.map(\.path))
    }

    @Test("metadata nodes and our own loopback device are no cameras")
    func exclusion() throws {
        let tree = try Tree()
        tree.add("video0", port: "1-1")
        tree.add("video1", port: "1-1", index: 1, isCamera: false)
        tree.add("video9", port: "1-9", driver: "v4l2 loopback")
        tree.add("vbi0", port: "1-3")
        #expect(tree.cameras.map(\.name) == ["Camera 1-1"])
    }

    @Test("a camera that may not be opened is listed once, and what is known of others is told")
    func facts() throws {
        let tree = try Tree()
        tree.add("video0", port: "1-1", isFixed: true, isDenied: true)
        tree.add("video1", port: "1-1", index: 1, isFixed: true, isDenied: true)
        tree.add("video2", port: "1-2", isFixed: true, orientation: .front)
        tree.add("video4", port: "1-3", orientation: .external)
        let cameras = tree.cameras.sorted { $0.path < $1.path }
        #expect(cameras.map(\.name) == ["Camera 1-1", "Camera 1-2", "Camera 1-3"])
        #expect(cameras.map(\.isFixed) == [true, true, false])
        #expect(cameras.map(\.orientation) == [nil, .front, .external])
    }

    @Test("a node is a camera once udev has looked at it, and only if udev found one")
    func records() throws {
        let tree = try Tree()
        for index in 0..<4 { tree.add("video\(index)", port: "1-\(index)", index: index) }
        tree.records = [
            "video0": DeviceRecord(isSettled: false),
            "video1": DeviceRecord(isSettled: true, capabilities: ":capture:"),
            "video2": DeviceRecord(isSettled: true, capabilities: ":"),
            "video3": DeviceRecord(isSettled: true),
        ]
        #expect(tree.cameras.map(\.name) == ["Camera 1-1", "Camera 1-3"])
        let asked = Mutex<[String]>([])
        _ = tree.directory(pause: { path in asked.withLock { $0.append(path) } }).cameras()
        let nodes = asked.withLock { $0.sorted() }
        #expect(nodes == ["\(tree.root)/dev/video1", "\(tree.root)/dev/video3"])
    }

    @Test("a node is asked once, and again when its permissions change or it failed")
    func asking() throws {
        let tree = try Tree()
        tree.add("video0", port: "1-1")
        tree.add("video2", port: "1-2", isDenied: true)
        let asked = Mutex<[String]>([])
        let directory = tree.directory(pause: { path in
            asked.withLock { $0.append(String(path.suffix(1))) }
        })
        func listed() -> [String] {
            asked.withLock { $0 = [] }
            #expect(directory.cameras().count == 2)
            return asked.withLock { $0.sorted() }
        }
        #expect(listed() == ["0", "2"])
        #expect(listed() == ["2"])
        chmod("\(tree.root)/dev/video0", 0o600)
        #expect(listed() == ["0", "2"])
    }

    @Test("a node that hangs keeps nobody from the others, and has its place when it answers")
    func hanging() throws {
        let tree = try Tree()
        tree.add("video0", port: "1-1")
        tree.add("video2", port: "1-2")
        // The place that its driver reports; sysfs gives the same one.
        tree.write("1\n", to: "\(tree.root)/usb/1-1/devpath")
        let (gate, answered) = (try Bell(), try Bell())
        let directory = tree.directory(onAnswer: { answered.ring() }) { path in
            if path.hasSuffix("video0") { gate.wait(until: nil) }
        }
        #expect(directory.cameras().map(\.name).sorted() == ["Camera 1-1", "Camera 1-2"])
        #expect(directory.cameras().count == 2, "it is not asked again meanwhile")
        gate.ring()
        let isTold = answered.wait(until: MonotonicClock.now + Timestamp(seconds: 10))
        #expect(isTold)
        #expect(directory.cameras().count { $0.bus.hasPrefix("usb-0000") } == 2)
    }

    @Test("where there is no video at all, there are no cameras")
    func nothing() {
        let probe = DeviceProbe { path throws(CaptureError) in
            throw CaptureError(.notFound, "open", path)
        }
        let directory = CameraDirectory(
            sysfs: "/nonexistent",
            dev: "/nonexistent",
            probe: probe
        )
        #expect(directory.cameras().isEmpty)
    }
}
