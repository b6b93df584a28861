package import DualCamCore
package import Frames
import Glibc
package import PipeWire
package import Platform

/// A list of the cameras that only PipeWire has, such as those of libcamera and of phones, kept up
/// to date by PipeWire.
///
/// Works on a thread of its own, named `node-cameras`.
package final class PipeWireCameraWatch: Sendable {
    private let report: @Sendable ([CameraDevice], Set<String>) -> Void
    private let worker: LoopWorker<Following>

    /// Starts looking for cameras. `report` receives them on the watch's thread after each change,
    /// as devices that programs feed, and the names of all nodes of other programs that are
    /// cameras.
    ///
    /// - Throws: `SystemError` if the system is out of threads or descriptors.
    package init(
        report: @escaping @Sendable ([CameraDevice], Set<String>) -> Void
    ) throws(SystemError) {
        self.report = report
        worker = try LoopWorker(name: "node-cameras")
        try worker.start(first: { $0.begin() }) { loop throws(SystemError) in
            try Following(loop, report)
        }
    }

    /// Makes the thread end. Does not wait for it.
    package func end() { worker.end() }

    /// Waits for the thread to end, at most until `deadline`. Returns `true` if it has ended. Call
    /// after `end()`.
    package func wait(until deadline: Timestamp) -> Bool { worker.join(until: deadline) }

    /// Lets the thread end by itself, instead of `wait`. Call after `end()`.
    package func leave() { worker.leave() }

    /// The state of the thread. Bound to it.
    private final class Following: PipeWireObserver {
        private let report: @Sendable ([CameraDevice], Set<String>) -> Void
        private var registry: RegistryWatch?
        private var list = PipeWireCameraList()
        private var reported: (cameras: [CameraDevice], names: Set<String>)?

        /// The seconds after which a PipeWire that is not there is looked for again.
        private static let pause = 3.0

        init(
            _ loop: EventLoop,
            _ report: @escaping @Sendable ([CameraDevice], Set<String>) -> Void
        ) throws(SystemError) {
            self.report = report
            registry = try RegistryWatch(
                loop: loop,
                [.camera, .location, .client],
                retryingAfter: Self.pause,
                by: self
            ) { [unowned self] change in
                switch change {
                case .lost: list = PipeWireCameraList()
                case .objects(isWhole: false): return
                case .objects(isWhole: true): break
                }
                reportCameras()
            }
        }

        func begin() { registry?.begin() }

        private func reportCameras() {
            let others = list.cameras.values.filter { !list.isOurs($0) }
            let cameras = others.compactMap(\.asDevice).sorted { $0.identity < $1.identity }
            let names = Set(others.map(\.name)).subtracting([""])
            if let reported, reported == (cameras, names) { return }
            reported = (cameras, names)
            report(cameras, names)
        }

        func objectCame(_ id: UInt32, _ object: PipeWireObject) { list.add(id, object) }
        func objectWent(_ id: UInt32) { list.remove(id) }
    }
}

extension PipeWireObject.Camera {
    /// The camera as one that `auto` may take; `nil` if it is none of PipeWire's own: if it stands
    /// for a V4L2 device, which is listed anyway, or may show the stream itself.
    package var asDevice: CameraDevice? {
        guard role == "Camera", !name.isEmpty, device.isEmpty, !isUSB else { return nil }
        let words = [name, title].map { $0.lowercased() }
        guard !words.contains(where: { $0.hasPrefix("dualcam") || $0.hasPrefix("obs") }) else {
            return nil
        }
        return CameraDevice(
            path: "pipewire:\(name)",
            name: title.isEmpty ? name : title,
            identity: "pipewire:\(name)",
            orientation: orientation,
            isFixed: orientation == .front || orientation == .back,
            isRelay: !isLibcamera
        )
    }

    /// The direction that libcamera says it faces; `nil` if it says none.
    private var orientation: CameraDevice.Orientation? {
        switch location {
        case "front": .front
        case "back": .back
        case "external": .external
        default: nil
        }
    }

    /// `true` for a camera of the machine itself that libcamera drives.
    private var isLibcamera: Bool { path.hasPrefix("libcamera:") }

    /// `true` for a USB camera that libcamera lists, too: its path ends with the numbers of the
    /// vendor and the product, as in "…-5:1.0-046d:0825".
    private var isUSB: Bool {
        guard isLibcamera, let last = path.split(separator: "-").last else {
            return false
        }
        let numbers = last.split(separator: ":", omittingEmptySubsequences: false)
        return numbers.count == 2
            && numbers.allSatisfy { $0.count == 4 && $0.allSatisfy(\.isHexDigit) }
    }
}
