package import DualCamCore
package import Frames
import Glibc
package import PipeWire
package import Platform

/// The objects of PipeWire that the daemon follows: the cameras that only PipeWire has, such as
/// those of libcamera and of phones, and the programs that are linked to our nodes.
///
/// Works on a thread of its own, named `registry`, with a connection while any of it is wanted.
package final class PipeWireFollower: Sendable {
    /// A change of what is followed.
    package enum Report: Sendable {
        /// The cameras as devices that programs feed, and the names of all nodes of other programs
        /// that are cameras.
        case cameras([CameraDevice], names: Set<String>)
        /// The programs that are linked to the watched nodes, in a stable order.
        case consumers([Consumer])
        /// A program of this name cannot be linked, since it takes no format of the node's.
        case refused(String)
    }

    private let worker: LoopWorker<Following>

    /// Starts the thread, which follows nothing yet. `report` is called on it.
    ///
    /// - Throws: `SystemError` if the system is out of threads or descriptors.
    package init(report: @escaping @Sendable (Report) -> Void) throws(SystemError) {
        worker = try LoopWorker(name: "registry")
        try worker.start { loop throws(SystemError) in try Following(loop, report) }
    }

    /// Follows the cameras from now on, or stops it.
    package func followCameras(_ isWanted: Bool) { worker.post { $0.followCameras(isWanted) } }

    /// Watches the nodes with these ids from now on.
    package func watch(_ nodes: [UInt32]) { worker.post { $0.watch(nodes) } }

    /// Makes the thread end. Does not wait for it.
    package func end() { worker.end() }

    /// Waits for the thread to end, at most until `deadline`. Returns `true` if it has ended. Call
    /// after `end()`.
    package func wait(until deadline: Timestamp) -> Bool { worker.join(until: deadline) }

    /// The state of the thread. Bound to it.
    private final class Following: PipeWireObserver {
        private let report: @Sendable (Report) -> Void
        private let consumers: ConsumerWatch
        private var registry: RegistryWatch?
        private var list = PipeWireCameraList()
        private var reported: (cameras: [CameraDevice], names: Set<String>)?
        private var (followsCameras, watchesNodes, isWhole) = (false, false, false)

        init(
            _ loop: EventLoop,
            _ report: @escaping @Sendable (Report) -> Void
        ) throws(SystemError) {
            self.report = report
            consumers = ConsumerWatch {
                report(.consumers($0))
            } refused: {
                report(.refused($0))
            }
            registry = try RegistryWatch(
                loop: loop,
                [.camera, .location, .client, .node, .link, .failure],
                by: self
            ) { [unowned self] change in
                isWhole = change != .objects(isWhole: false)
                if change == .lost {
                    list = PipeWireCameraList()
                    consumers.forget()
                }
                consumers.report()
                reportCameras()
            }
        }

        func followCameras(_ isWanted: Bool) {
            followsCameras = isWanted
            reported = nil
            connect()
            reportCameras()
        }

        func watch(_ nodes: [UInt32]) {
            let isNew = !watchesNodes
            watchesNodes = !nodes.isEmpty
            if isNew || !watchesNodes { connect() }
            consumers.watch(nodes)
        }

        private func connect() {
            if followsCameras || watchesNodes { registry?.begin() } else { registry?.end() }
        }

        private func reportCameras() {
            guard followsCameras, isWhole else { return }
            let others = list.cameras.values.filter { !list.isOurs($0) }
            let echoes = list.echoes
            let cameras = list.cameras.filter { !list.isOurs($0.value) }
                .compactMap { id, camera in
                    var device = camera.asDevice
                    if echoes.contains(id) { device?.refusal = .echo }
                    return device
                }
                .sorted { $0.identity < $1.identity }
            let names = Set(others.map(\.name)).subtracting([""])
            if let reported, reported == (cameras, names) { return }
            reported = (cameras, names)
            report(.cameras(cameras, names: names))
        }

        func objectCame(_ id: UInt32, _ object: PipeWireObject) {
            list.add(id, object)
            consumers.objectCame(id, object)
        }

        func objectWent(_ id: UInt32) {
            list.remove(id)
            consumers.objectWent(id)
        }
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
