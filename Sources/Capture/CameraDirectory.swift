package import DualCamCore
import Frames
import Glibc
import Platform

/// The cameras now attached to this machine, from sysfs, from udev where it runs, and from the
/// devices themselves, each of which is queried once.
///
/// - Context: bound to one thread at a time.
package final class CameraDirectory {
    /// A node's answer about itself.
    struct Answer {
        var capability: VideoCapability
        var orientation: CameraDevice.Orientation?
        /// The modes that it offers, readable or not.
        var modes: [CaptureMode] = []
        /// The functions of the entities in its media device.
        var functions: Set<UInt32> = []

        /// `true` if the answer stays the same while the node exists. A program may begin to feed a
        /// relay at any time.
        var isLasting: Bool { !capability.isRelay }
    }

    private let sysfs: String
    private let dev: String
    private let record: (String) -> DeviceRecord?
    private let probe: DeviceProbe

    /// Creates the directory of this machine. `onAnswer` is called on a thread of its own when a
    /// node answers after a list was made without it.
    package convenience init(onAnswer: @escaping @Sendable () -> Void = {}) {
        self.init(
            sysfs: "/sys/class/video4linux",
            dev: "/dev",
            record: DeviceRecord.init(of:),
            probe: DeviceProbe(onAnswer: onAnswer, ask: Self.askNode)
        )
    }

    /// Creates a directory of the nodes named in `sysfs`, whose files are in `dev`. `record`
    /// returns what udev knows of a node.
    init(
        sysfs: String,
        dev: String,
        record: @escaping (String) -> DeviceRecord? = { _ in nil },
        probe: DeviceProbe
    ) {
        self.sysfs = sysfs
        self.dev = dev
        self.record = record
        self.probe = probe
    }

    @Sendable private static func askNode(_ path: String) throws(CaptureError) -> Answer {
        let device = try VideoDevice(path: path)
        let capability = try device.capability()
        guard capability.isCamera || capability.isRelay else {
            return Answer(capability: capability)
        }
        return Answer(
            capability: capability,
            orientation: device.orientation(),
            modes: try device.modes(for: usualRequest),
            functions: MediaDevice.functions(ofNodeAt: path)
        )
    }

    /// The request by which cameras that take any size are compared.
    private static let usualRequest = CaptureRequest(
        size: Size(width: 1920, height: 1080),
        rate: 30
    )

    /// A node, before it has a stable name.
    private struct Candidate {
        let path: String
        let name: String
        let bus: String
        let answer: Answer?
        /// The path of its interface in sysfs, which leads to the USB device.
        let parent: String?
        /// `true` if it may not be opened.
        var isDenied = false
        /// By-id names; `places` has the by-path names.
        var ids: [String] = []
        var places: [String] = []
    }

    /// Lists the cameras in the order of their identities.
    ///
    /// A new node is opened briefly, which does not turn the camera on. A node that may not be
    /// opened, or does not answer within a second, is listed with what sysfs knows, so that opening
    /// it reports the reason. A node that udev has not processed yet is left out, since its links
    /// and permissions are not final. Takes some milliseconds, or that second.
    package func cameras() -> [CameraDevice] { nodes().filter { $0.refusal != .noPictures } }

    /// Lists the cameras as `cameras` does, and after them the nodes that give no pictures.
    package func nodes() -> [CameraDevice] {
        let records = entries(of: sysfs).filter { $0.hasPrefix("video") }.sorted()
            .map { (entry: $0, record: record($0)) }
            .filter { $0.record?.isSettled ?? true }
        // What udev found of a node without hardware, a relay, was true when it was made.
        let candidates = records.filter {
            $0.record?.capabilities?.contains(":capture:") ?? true
                || resolvedPath("\(sysfs)/\($0.entry)/device") == nil
        }
        let replies = probe.replies(of: candidates.map { "\(dev)/\($0.entry)" })
        var nodes = candidates.compactMap {
            node($0.entry, $0.record, replies["\(dev)/\($0.entry)"])
        }
        let ids = links(in: "\(dev)/v4l/by-id")
        let places = links(in: "\(dev)/v4l/by-path")
        for index in nodes.indices {
            let path = resolvedPath(nodes[index].path)
            nodes[index].ids = ids.filter { $0.target == path }.map(\.name)
            nodes[index].places = places.filter { $0.target == path }.map(\.name)
        }
        let cameras = nodes.map { camera($0, among: nodes) }.sorted { $0.identity < $1.identity }
        return cameras
            + records.compactMap { other($0.entry, $0.record, replies["\(dev)/\($0.entry)"]) }
    }

    /// Returns the node with the sysfs name `entry` if it is known to give no pictures.
    private func other(
        _ entry: String,
        _ record: DeviceRecord?,
        _ reply: DeviceProbe.Reply?
    ) -> CameraDevice? {
        let path = "\(dev)/\(entry)"
        let isOther =
            switch reply {
            case .success(let answer): !answer.capability.isCamera && !answer.capability.isRelay
            case .failure: false
            case nil: !(record?.capabilities?.contains(":capture:") ?? true)
            }
        guard isOther else { return nil }
        return CameraDevice(
            path: path,
            name: plainName(content("\(sysfs)/\(entry)/name") ?? entry),
            identity: "v4l2:\(path)",
            refusal: .noPictures
        )
    }

    /// Returns the node with the sysfs name `entry`; `nil` if it is not a camera.
    private func node(
        _ entry: String,
        _ record: DeviceRecord?,
        _ reply: DeviceProbe.Reply?
    ) -> Candidate? {
        let path = "\(dev)/\(entry)"
        let parent = resolvedPath("\(sysfs)/\(entry)/device")
        switch reply {
        case .success(let answer):
            guard answer.capability.isCamera || answer.capability.isRelay else { return nil }
            return Candidate(
                path: path,
                name: plainName(answer.capability.card),
                bus: answer.capability.bus,
                answer: answer,
                parent: parent
            )
        case .failure(let error) where error.code != .denied: return nil
        case .failure, nil:
            // A node without a device cannot be a camera that was plugged in. If udev does not
            // know, the first node of a device is taken to be its camera; later ones are for
            // metadata and the like.
            guard let parent,
                record?.capabilities != nil || content("\(sysfs)/\(entry)/index") == "0"
            else { return nil }
            return Candidate(
                path: path,
                name: plainName(content("\(sysfs)/\(entry)/name") ?? entry),
                bus: busOfUSB(parent) ?? "",
                answer: nil,
                parent: parent,
                isDenied: reply != nil
            )
        }
    }

    private func camera(_ node: Candidate, among all: [Candidate]) -> CameraDevice {
        let facts = facts(of: node)
        return CameraDevice(
            path: node.path,
            name: node.name,
            identity: "v4l2:" + lastingName(of: node, among: all),
            aliases: Set(
                node.ids + node.places + node.ids.map { "\(dev)/v4l/by-id/\($0)" }
                    + node.places.map { "\(dev)/v4l/by-path/\($0)" }
                    + [node.bus, node.path].filter { !$0.isEmpty }
            ),
            bus: node.bus,
            orientation: node.answer?.orientation,
            isFixed: usbValue("removable", of: node) == "fixed",
            isRelay: facts?.isRelay ?? false,
            bestMode: facts?.bestMode,
            modes: facts?.modes ?? [],
            answer: node.answer != nil ? .given : node.isDenied ? .denied : .missing,
            refusal: facts?.refusal
        )
    }

    /// Returns what is known of a node; `nil` if it did not answer.
    private func facts(of node: Candidate) -> NodeFacts? {
        guard let answer = node.answer else { return nil }
        func interface(_ name: String) -> String? {
            node.parent.flatMap { content("\($0)/\(name)") }
        }
        return NodeFacts(
            driver: answer.capability.driver,
            card: answer.capability.card,
            interface: interface("interface") ?? "",
            capabilities: answer.capability.flags,
            modes: answer.modes,
            functions: answer.functions,
            usb: usbFunctions(of: node),
            interfaceNumber: interface("bInterfaceNumber").flatMap { UInt8($0, radix: 16) },
            isOurs: LoopbackMirror.feeds(node.path)
        )
    }

    /// Returns what the descriptors of `node`'s USB device say, which sysfs keeps in memory; `nil`
    /// if it is on another bus.
    private func usbFunctions(of node: Candidate) -> USBVideoFunctions? {
        guard let device = usb(of: node), let file = fopen("\(device)/descriptors", "re") else {
            return nil
        }
        defer { fclose(file) }
        var bytes = [UInt8](repeating: 0, count: 1 << 17)
        let count = fread(&bytes, 1, bytes.count, file)
        var functions = USBVideoFunctions(descriptors: bytes[..<count])
        functions.isFixed = usbValue("removable", of: node) == "fixed"
        return functions
    }

    /// Returns a name of `node` that survives a restart: maker, model and serial number if they are
    /// unique, else its place on the bus.
    private func lastingName(of node: Candidate, among all: [Candidate]) -> String {
        // Cameras with the same serial number, or with none, compete for one by-id link.
        if let serial = usbValue("serial", of: node), !serial.isEmpty,
            let id = node.ids.first(where: { _ in isAlone(node, serial, among: all) })
        {
            return id
        }
        if !node.bus.isEmpty, all.count(where: { $0.bus == node.bus }) == 1 { return node.bus }
        if let place = node.places.first { return place }
        let interface = node.parent.map(fileName)
        return "\(interface ?? node.name)#\(order(of: node, among: all))"
    }

    /// Returns `true` if no other device has the model and serial number of `node`'s device.
    private func isAlone(_ node: Candidate, _ serial: String, among all: [Candidate]) -> Bool {
        !all.contains {
            usb(of: $0) != usb(of: node) && usbValue("serial", of: $0) == serial
                && usbValue("idVendor", of: $0) == usbValue("idVendor", of: node)
                && usbValue("idProduct", of: $0) == usbValue("idProduct", of: node)
        }
    }

    /// Returns the number of nodes of the same interface before `node`.
    private func order(of node: Candidate, among all: [Candidate]) -> Int {
        all.filter { $0.parent == node.parent }.firstIndex { $0.path == node.path } ?? 0
    }

    /// Returns the path of the USB device that `node`'s interface belongs to.
    private func usb(of node: Candidate) -> String? {
        node.parent.flatMap { resolvedPath("\($0)/..") }
    }

    private func usbValue(_ name: String, of node: Candidate) -> String? {
        usb(of: node).flatMap { content("\($0)/\(name)") }
    }

    private func links(in directory: String) -> [(name: String, target: String)] {
        entries(of: directory).sorted().compactMap { name in
            resolvedPath("\(directory)/\(name)").map { (name, $0) }
        }
    }
}
