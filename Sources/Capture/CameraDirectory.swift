import DualCamCore
import Frames
import Glibc
import Platform

/// The cameras that are attached to this machine now: from sysfs, from udev where it runs, and from
/// the devices themselves, each of which is asked once.
///
/// - Context: bound to one thread at a time.
package final class CameraDirectory {
    /// What asking a node for itself brought.
    struct Answer {
        var capability: VideoCapability
        var orientation: CameraDevice.Orientation?
        var isMonochrome: Bool
    }

    private let sysfs: String
    private let dev: String
    private let record: (String) -> DeviceRecord?
    private let probe: DeviceProbe

    /// This machine's. `onAnswer` is called, on a thread of its own, when a node answers after a
    /// list was made without its answer.
    package convenience init(onAnswer: @escaping @Sendable () -> Void = {}) {
        self.init(
            sysfs: "/sys/class/video4linux",
            dev: "/dev",
            record: DeviceRecord.init(of:),
            probe: DeviceProbe(onAnswer: onAnswer, ask: Self.askNode)
        )
    }

    /// The nodes named in `sysfs`, of which udev knows what `record` says, and whose files are in
    /// `dev`.
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
        guard capability.isCamera else {
            return Answer(capability: capability, orientation: nil, isMonochrome: false)
        }
        let formats = try device.formats()
        let monochrome: [PixelFormat] = [
            .gray, PixelFormat("Y10 "), PixelFormat("Y12 "), PixelFormat("Y16 "),
        ]
        return Answer(
            capability: capability,
            orientation: device.orientation(),
            isMonochrome: !formats.isEmpty && formats.allSatisfy(monochrome.contains)
        )
    }

    /// A node, before it has a name that lasts.
    private struct Candidate {
        let path: String
        let name: String
        let bus: String
        let answer: Answer?
        /// Its interface in sysfs, and with it the USB device.
        let parent: String?
        /// By-id and by-path names.
        var ids: [String] = []
        var places: [String] = []
    }

    /// Lists the cameras, in the order of their identities.
    ///
    /// A node that is new is opened for a moment, which turns no camera on. One that may not be
    /// opened, or does not answer within a second, is listed under what sysfs knows, so that opening
    /// it can tell why. One that udev has yet to look at is left out: its links and permissions are
    /// not what they are going to be. Takes some milliseconds, or that second.
    package func cameras() -> [CameraDevice] {
        let records = entries(of: sysfs).filter { $0.hasPrefix("video") }.sorted()
            .map { (entry: $0, record: record($0)) }
            .filter { $0.record?.isSettled ?? true }
        let candidates = records.filter { $0.record?.capabilities?.contains(":capture:") ?? true }
        let replies = probe.replies(of: candidates.map { "\(dev)/\($0.entry)" })
        var nodes = candidates.compactMap {
            node($0.entry, $0.record, replies["\(dev)/\($0.entry)"])
        }
        let ids = links(in: "\(dev)/v4l/by-id")
        let places = links(in: "\(dev)/v4l/by-path")
        for index in nodes.indices {
            let path = resolve(nodes[index].path)
            nodes[index].ids = ids.filter { $0.target == path }.map(\.name)
            nodes[index].places = places.filter { $0.target == path }.map(\.name)
        }
        return nodes.map { camera($0, among: nodes) }.sorted { $0.identity < $1.identity }
    }

    /// What there is under the sysfs name `entry`; `nil` when it is no camera, or our own output.
    private func node(
        _ entry: String,
        _ record: DeviceRecord?,
        _ reply: DeviceProbe.Reply?
    ) -> Candidate? {
        let path = "\(dev)/\(entry)"
        let parent = resolve("\(sysfs)/\(entry)/device")
        switch reply {
        case .success(let answer):
            guard answer.capability.isCamera, answer.capability.driver != "v4l2 loopback" else {
                return nil
            }
            return Candidate(
                path: path,
                name: Self.plainName(answer.capability.card),
                bus: answer.capability.bus,
                answer: answer,
                parent: parent
            )
        case .failure(let error) where error.code != .denied: return nil
        case .failure, nil:
            // One without a device is no camera that could be plugged in. The first node of a device
            // is its camera, where udev does not know; later ones are for metadata and the like.
            guard let parent,
                record?.capabilities != nil || content("\(sysfs)/\(entry)/index") == "0"
            else { return nil }
            return Candidate(
                path: path,
                name: Self.plainName(content("\(sysfs)/\(entry)/name") ?? entry),
                bus: busOfUSB(parent) ?? "",
                answer: nil,
                parent: parent
            )
        }
    }

    /// Where a device of USB is plugged in, as usb_make_path() of the kernel has it: what a driver
    /// that cannot be asked would say. `interface` is its path in sysfs,
    /// "…/0000:00:14.0/usb1/1-2/1-2:1.0".
    private func busOfUSB(_ interface: String) -> String? {
        let parts = interface.split(separator: "/")
        guard let hub = parts.lastIndex(where: { $0.hasPrefix("usb") }), hub > 0,
            let port = content("\(interface)/../devpath")
        else { return nil }
        return "usb-\(parts[hub - 1])-\(port)"
    }

    /// `card` without what USB video adds to it: "Desk Cam: Desk C" is "Desk Cam", cut to the
    /// 31 bytes that the field has.
    static func plainName(_ card: String) -> String {
        guard let colon = card.firstRange(of: ": ") else { return card }
        let (name, repeated) = (card[..<colon.lowerBound], card[colon.upperBound...])
        return name.hasPrefix(repeated) ? String(name) : card
    }

    private func camera(_ node: Candidate, among all: [Candidate]) -> CameraDevice {
        CameraDevice(
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
            isMonochrome: node.answer?.isMonochrome ?? false
        )
    }

    /// What `node` is called after a restart, too: by its maker, model and serial number where these
    /// are its own, else by where it is plugged in.
    private func lastingName(of node: Candidate, among all: [Candidate]) -> String {
        // Two cameras without a serial number, or with the same, fight for one by-id link.
        if let serial = usbValue("serial", of: node), !serial.isEmpty,
            let id = node.ids.first(where: { _ in isAlone(node, serial, among: all) })
        {
            return id
        }
        if !node.bus.isEmpty, all.count(where: { $0.bus == node.bus }) == 1 { return node.bus }
        if let place = node.places.first { return place }
        let interface = node.parent?.split(separator: "/").last.map(String.init)
        return "\(interface ?? node.name)#\(order(of: node, among: all))"
    }

    /// Whether no other device than that of `node` has its model and serial number.
    private func isAlone(_ node: Candidate, _ serial: String, among all: [Candidate]) -> Bool {
        !all.contains {
            usb(of: $0) != usb(of: node) && usbValue("serial", of: $0) == serial
                && usbValue("idVendor", of: $0) == usbValue("idVendor", of: node)
                && usbValue("idProduct", of: $0) == usbValue("idProduct", of: node)
        }
    }

    /// How many nodes of the same interface come before `node`.
    private func order(of node: Candidate, among all: [Candidate]) -> Int {
        all.filter { $0.parent == node.parent }.firstIndex { $0.path == node.path } ?? 0
    }

    /// The USB device whose interface `node` is.
    private func usb(of node: Candidate) -> String? { node.parent.flatMap { resolve("\($0)/..") } }

    private func usbValue(_ name: String, of node: Candidate) -> String? {
        usb(of: node).flatMap { content("\($0)/\(name)") }
    }

    private func links(in directory: String) -> [(name: String, target: String)] {
        entries(of: directory).sorted().compactMap { name in
            resolve("\(directory)/\(name)").map { (name, $0) }
        }
    }
}

/// `path` without links and dots; `nil` when there is nothing.
private func resolve(_ path: String) -> String? {
    guard let resolved = realpath(path, nil) else { return nil }
    defer { free(resolved) }
    return String(cString: resolved)
}
