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
    private let tree: DeviceTree

    init() throws { tree = try DeviceTree() }

    @Test("a camera is known by its serial number where it has one, else by its place")
    func identity() throws {
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

    @Test func `a serial number that is empty is none`() throws {
        tree.add("video0", port: "1-1", serial: "", id: "usb-Cam-video-index0")
        #expect(tree.cameras.map(\.identity) == ["v4l2:usb-0000:00:14.0-1-1"])
    }

    @Test("nodes that give no pictures are listed after the cameras, and known by their paths")
    func others() throws {
        tree.add("video0", port: "1-1", index: 1, isCamera: false)
        tree.add("video1", port: "1-1")
        tree.add("video2", platform: "codec", flags: [.memoryToMemory, .streaming])
        tree.records["video2"] = DeviceRecord(isSettled: true, capabilities: ":video_m2m:")
        // Not known yet: udev has not run its rules, or nobody may ask.
        tree.add("video3", port: "1-2", index: 1, isCamera: false)
        tree.records["video3"] = DeviceRecord(isSettled: false)
        tree.add("video4", port: "1-3", index: 1, isDenied: true)
        tree.add("video5", port: "1-4", isDenied: true)
        let nodes = tree.nodes
        #expect(
            nodes.map { $0.path.split(separator: "/").last } == [
                "video5", "video1", "video0", "video2",
            ]
        )
        #expect(nodes.map(\.refusal) == [nil, nil, .noPictures, .noPictures])
        #expect(nodes.map(\.answer) == [.denied, .given, .given, .given])
        #expect(nodes[1].modes.map(\.description) == ["1280x720@30/MJPG"])
        #expect(nodes[2].identity == "v4l2:\(tree.root)/dev/video0")
        #expect(nodes[2].name == "Camera 1-1")
        #expect(tree.cameras == Array(nodes.prefix(2)))
    }

    @Test func `two cameras with one serial number are told apart by their places`() throws {
        tree.add("video0", port: "1-1", serial: "0001", id: "usb-Cam_0001-video-index0")
        // Both claim the same link, and the first one gets it.
        tree.add("video2", port: "1-2", serial: "0001")
        #expect(
            tree.cameras.map(\.identity) == [
                "v4l2:usb-0000:00:14.0-1-1", "v4l2:usb-0000:00:14.0-1-2",
            ]
        )
    }

    @Test func `two cameras in one device are told apart, too`() throws {
        tree.add("video0", port: "1-1", place: "pci-usb-0:1:1.0-video-index0")
        tree.add("video2", port: "1-1", place: "pci-usb-0:1:1.2-video-index0")
        #expect(
            tree.cameras.map(\.identity)
                == ["v4l2:pci-usb-0:1:1.0-video-index0", "v4l2:pci-usb-0:1:1.2-video-index0"]
        )
    }

    @Test("metadata nodes are no cameras; a loopback device is one that auto takes once it is fed")
    func exclusion() throws {
        tree.add("video0", port: "1-1")
        tree.add("video1", port: "1-1", index: 1, isCamera: false)
        tree.addRelay("video9", "DroidCam", modes: "")
        tree.add("vbi0", port: "1-3")
        #expect(Set(tree.cameras.map(\.name)) == ["Camera 1-1", "DroidCam"])
        func relay() -> CameraDevice? { tree.cameras.first { $0.name == "DroidCam" } }
        #expect(relay()?.refusal == .unfed)
        #expect(tree.cameras.first { $0.name == "Camera 1-1" }?.refusal == nil)
        #expect(relay()?.isCalled("\(tree.root)/dev/video9") == true)
        tree.addRelay("video9", "DroidCam")
        #expect(relay()?.refusal == nil && relay()?.isRelay == true)
    }

    @Test("a camera that may not be opened is listed once, and what is known of others is told")
    func facts() throws {
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

    @Test func `a node is asked once, and again when its permissions change or it failed`() throws {
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
        #expect(answered.wait(until: MonotonicClock.now + Timestamp(seconds: 10)))
        #expect(directory.cameras().count { $0.bus.hasPrefix("usb-0000") } == 2)
    }

    @Test func `where there is no video at all, there are no cameras`() {
        let probe = DeviceProbe { path throws(CaptureError) in
            throw CaptureError(.notFound, "open", path)
        }
        let directory = CameraDirectory(sysfs: "/nonexistent", dev: "/nonexistent", probe: probe)
        #expect(directory.cameras().isEmpty)
    }
}
