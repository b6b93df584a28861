import Foundation
import Glibc
import Testing

@testable import Capture

@Suite struct CameraDirectoryTests {
    /// A sysfs and a /dev of our own, removed with this.
    private final class Tree {
        let root: String
        var answers: [String: CameraDirectory.Answer] = [:]

        init() throws {
            var template = Array("/tmp/dualcam-test-XXXXXX".utf8CString)
            root = String(cString: try #require(mkdtemp(&template)))
            for directory in ["sysfs", "dev/v4l/by-id", "dev/v4l/by-path"] {
                make("\(root)/\(directory)")
            }
        }

        deinit {
            try? FileManager.default.removeItem(atPath: root)
        }

        func make(_ directory: String) {
            var path = ""
            for part in directory.split(separator: "/") {
                path += "/\(part)"
                mkdir(path, 0o755)
            }
        }

        func write(_ text: String, to path: String) {
            let file = fopen(path, "w")
            fputs(text, file)
            if let file { fclose(file) }
        }

        /// A node of a USB device at `port`; `nil` for `capability`: it may not be opened.
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

        var cameras: [CameraDevice] {
            let answers = answers
            return CameraDirectory(sysfs: "\(root)/sysfs", dev: "\(root)/dev") {
                path throws(CaptureError) in
                guard let answer = answers[path] else {
                    throw CaptureError(.denied, "open", path, errno: EACCES)
                }
                return answer
            }.cameras()
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
        // Both fought for the one link, and the first won.
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

    @Test("where there is no video at all, there are no cameras")
    func nothing() {
        let directory = CameraDirectory(sysfs: "/nonexistent", dev: "/nonexistent") {
            path throws(CaptureError) in
            throw CaptureError(.notFound, "open", path)
        }
        #expect(directory.cameras().isEmpty)
    }
}
