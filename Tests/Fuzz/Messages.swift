import CDBus
import Control
import Glibc
import Logging
import Platform

@testable import DBusKit
@testable import DualCamCore
@testable import DualCamDaemon

extension FuzzTarget {
    /// D-Bus messages: to the daemon's objects, with all that their handlers and the state make of
    /// them. No device, disk or bus is behind it.
    static let messages = FuzzTarget(
        name: "messages",
        maximumLength: 512,
        seeds: { MainActor.assumeIsolated { messageSeeds() } },
        read: { bytes in MainActor.assumeIsolated { stage.read(bytes) } }
    )
}

@MainActor private let stage = FuzzedDaemon()

/// The daemon's objects without a bus.
@MainActor
private final class FuzzedDaemon {
    private let port = FuzzedPort()
    private let loop: EventLoop
    private let server: ObjectServer
    private let service: Service
    private var inputs = 0

    init() {
        Log.level = .critical
        do {
            loop = try EventLoop()
            let daemon = try Daemon(Configuration(), loop: loop)
            server = ObjectServer(port: port, managing: DualCam.path)
            service = try Service(
                daemon,
                try RecordingSession(daemon, helper: [], loop: loop),
                try LivePhotos(daemon, loop: loop),
                on: server,
                loop: loop,
                configurationFile: nil
            )
            let cameras = Role.allCases.map {
                CameraDevice(path: "/dev/\($0)", name: "A camera", identity: "v4l2:\($0)")
            }
            daemon.send(.cameras(.found(cameras, from: .kernel(isWhole: true))))
            daemon.send(.stream(.start))
            daemon.send(.node(nil, .published(id: 7)))
        } catch { fatalError("no stage: \(error)") }
    }

    /// Takes in the messages that the bytes describe, all from one caller.
    func read(_ bytes: [UInt8]) {
        inputs += 1
        var source = Bytes(bytes)
        let caller = ":1.\(inputs)"
        for serial in 1...4 where !source.isEmpty {
            guard let message = source.isHeads() ? source.foreign() : source.call() else {
                continue
            }
            dbus_message_set_serial(message.pointer, UInt32(serial))
            dbus_message_set_sender(message.pointer, caller)
            guard message.kind == DBUS_MESSAGE_TYPE_METHOD_CALL else {
                // What a bus may send us is read, too, and can be sent on.
                _ = message.error
                if let values = try? message.values() { check(values) }
                continue
            }
            guard !isPlayedThrough(message) else { continue }
            if message.wantsReply { port.asked.insert("\(caller) \(serial)") }
            port.onCall?(message)
        }
        port.onRound()
        loop.runOnce(milliseconds: 0)
        // Nobody is left who waits.
        port.leave()
    }

    /// The few calls that would read directories or make files are the integration tests'.
    private func isPlayedThrough(_ message: Message) -> Bool {
        ["StartRecording", "List", "Thumbnail"].contains(message.member ?? "")
            && message.signature.hasSuffix("a{sv}")
    }

    private func check(_ values: [Value]) {
        guard values.allSatisfy(\.isConsistent) else { fatalError("inconsistent: \(values)") }
    }
}

/// A server's port that leads nowhere.
private final class FuzzedPort: MessagePort {
    var onCall: ((Message) -> Void)?
    var onRound: () -> Void = {}
    /// The calls that wait for an answer: callers and numbers.
    var asked: Set<String> = []
    private var leaving: [() -> Void] = []

    func soon() {}

    func send(_ message: Message) {
        if message.kind != DBUS_MESSAGE_TYPE_SIGNAL {
            let caller = String(cString: dbus_message_get_destination(message.pointer))
            let number = dbus_message_get_reply_serial(message.pointer)
            guard asked.remove("\(caller) \(number)") != nil else {
                fatalError("a call was answered twice, or none")
            }
        }
        // As a bus would, libdbus looks at what it is to pass on.
        var (bytes, count) = (UnsafeMutablePointer<CChar>?.none, CInt(0))
        dbus_message_set_serial(message.pointer, 1)
        guard dbus_message_marshal(message.pointer, &bytes, &count) != 0 else {
            fatalError("an answer that cannot be sent")
        }
        dbus_free(bytes)
    }

    func onLeaving(_ name: String, _ handler: @escaping () -> Void) -> AnyObject {
        leaving.append(handler)
        return self
    }

    func leave() {
        let handlers = leaving
        leaving = []
        for handler in handlers { handler() }
    }
}

/// Makes messages of bytes: each byte is a choice.
private struct Bytes {
    private var rest: ArraySlice<UInt8>

    init(_ bytes: [UInt8]) { rest = bytes[...] }

    var isEmpty: Bool { rest.isEmpty }

    mutating func byte() -> UInt8 { rest.popFirst() ?? 0 }
    mutating func isHeads() -> Bool { byte() & 7 == 7 }
    mutating func choice<Element>(_ elements: [Element]) -> Element {
        elements[(Int(byte()) << 8 | Int(byte())) % elements.count]
    }
    mutating func number() -> UInt64 { (0..<8).reduce(0) { sum, _ in sum << 8 | UInt64(byte()) } }

    /// Returns a message of which each byte is foreign; `nil` if libdbus lets it not in.
    mutating func foreign() -> Message? {
        let count = min(Int(byte()) << 8 | Int(byte()), rest.count)
        let bytes = rest.prefix(count).map { CChar(bitPattern: $0) }
        rest = rest.dropFirst(count)
        return dbus_message_demarshal(bytes, CInt(bytes.count), nil).map { Message(owning: $0) }
    }

    /// Returns a call that libdbus can send.
    mutating func call() -> Message? {
        let places: [(ObjectPath, Interface)] =
            [Interface.stream, .scene, .privacy, .orientation, .pro, .capture, .library, .scenes]
            .map {
                (DualCam.path, $0)
            } + [Interface.camera, .controls].map { (DualCam.backPath, $0) }
            + [(DualCam.path, .properties), (DualCam.path, .objectManager), ("/", .introspectable)]
        let (path, interface) = choice(places)
        let isOdd = byte() & 7 == 7
        let property = interface.properties.isEmpty ? nil : choice(interface.properties)
        let method: Interface.Method
        var arguments: [Value]?
        if let property, interface.methods.isEmpty || byte() & 1 == 1 {
            method = choice(Interface.properties.methods)
            let named: [Value] = [.string(interface.name), .string(property.name)]
            let value = Value.variant(value(of: isOdd ? type() : property.type))
            arguments =
                method.name == "Set" ? named + [value] : Array(named.prefix(method.takes.count))
        } else {
            method = choice(interface.methods)
        }
        let given = arguments ?? method.takes.map { value(of: isOdd ? type() : $0.type) }
        let home = arguments == nil ? interface.name : Interface.properties.name
        guard
            let message = try? Message(
                MethodCall(method.name, of: home, at: path, on: DualCam.busName, given)
            )
        else { return nil }
        if byte() & 15 == 15 { dbus_message_set_interface(message.pointer, nil) }
        return message
    }

    private mutating func type(depth: Int = 0) -> CompleteType {
        let basic: [CompleteType] = [
            .byte, .boolean, .int16, .uint16, .int32, .uint32, .int64, .uint64, .double, .string,
            .objectPath, .signature, .descriptor,
        ]
        switch depth < 4 ? byte() & 31 : 0 {
        case 24, 25: return .variant
        case 26, 27: return .array(type(depth: depth + 1))
        case 28, 29: return .dictionary(key: choice(basic), value: type(depth: depth + 1))
        case 30, 31: return .structure([type(depth: depth + 1), type(depth: depth + 1)])
        default: return choice(basic)
        }
    }

    private mutating func value(of type: CompleteType, depth: Int = 0) -> Value {
        let words = [
            "", "back", "front", "stream", "both", "auto", "pip", "stacked", "single", "top-left",
            "iso", "shutter", "focus", "kelvin", "wide", "daylight", "off", "pro", "of", "instant",
            "camera", "at", "ramp-ms", "full", "live", "audio", "\u{202E}x\0y\n", "normal",
            "left-up", "exposure_time_absolute",
        ]
        switch type {
        case .byte: return .byte(byte())
        case .boolean: return .boolean(byte() & 1 == 1)
        case .int16: return .int16(Int16(truncatingIfNeeded: number()))
        case .uint16: return .uint16(UInt16(truncatingIfNeeded: number()))
        case .int32: return .int32(Int32(truncatingIfNeeded: number()))
        case .uint32: return .uint32(UInt32(truncatingIfNeeded: number()))
        case .int64: return .int64(Int64(truncatingIfNeeded: number()))
        case .uint64: return .uint64(number())
        case .double:
            return .double(byte() & 1 == 1 ? Double(bitPattern: number()) : Double(byte()) / 16)
        case .string:
            let word = choice(words)
            return .string(byte() & 7 == 7 ? String(repeating: word, count: Int(byte())) : word)
        case .objectPath: return .objectPath(choice([DualCam.path, DualCam.backPath, "/", "/x"]))
        case .signature:
            let inner = self.type(depth: depth)
            return .signature((try? Signature(parsing: inner.code)) ?? Signature([]))
        case .descriptor:
            return .descriptor(SharedDescriptor(owning: open("/dev/null", O_RDWR | O_CLOEXEC)))
        case .variant: return .variant(value(of: self.type(depth: depth + 1), depth: depth + 1))
        case .array(let element):
            let count = depth < 3 ? Int(byte() & 3) : 0
            return .array(
                (0..<count).map { _ in value(of: element, depth: depth + 1) },
                of: element
            )
        case .dictionary(let key, let content):
            var entries: [Value: Value] = [:]
            for _ in 0..<(depth < 3 ? Int(byte() & 3) : 0) {
                entries[value(of: key, depth: depth + 1)] = value(of: content, depth: depth + 1)
            }
            return .dictionary(entries, key: key, value: content)
        case .structure(let fields):
            return .structure(fields.map { value(of: $0, depth: depth + 1) })
        }
    }
}

/// Returns whole messages, each after the bytes that announce one, and sequences of choices.
@MainActor private func messageSeeds() -> [[UInt8]] {
    let calls: [(String, Interface, [Value])] = [
        ("Swap", .scene, [.named(["instant": .boolean(true)])]),
        ("GetAll", .properties, [.string(Interface.stream.name)]),
        (
            "Set", .properties,
            [.string(Interface.scene.name), .string("InsetSize"), .variant(.double(0.3))]
        ),
    ]
    let sent = calls.map { member, interface, values in
        MethodCall(member, of: interface.name, at: DualCam.path, on: DualCam.busName, values)
    }
    let signal = try? Message(
        signal: "S",
        of: "org.example.I",
        at: "/",
        [
            .named(["a": .strings(["b", "c"]), "d": .structure([.byte(1), .double(2)])]),
            .array([.variant(.variant(.variant(.objectPath("/x"))))], of: .variant),
            .signature(Signature(["a{sv}"])),
        ]
    )
    let whole = (sent.map { try? Message($0) } + [signal]).compactMap { message -> [UInt8]? in
        guard let message else { return nil }
        dbus_message_set_serial(message.pointer, 1)
        var (bytes, count) = (UnsafeMutablePointer<CChar>?.none, CInt(0))
        guard dbus_message_marshal(message.pointer, &bytes, &count) != 0, let bytes else {
            return nil
        }
        defer { dbus_free(bytes) }
        let body = UnsafeBufferPointer(start: bytes, count: Int(count)).map(UInt8.init(bitPattern:))
        return [7, UInt8(count >> 8), UInt8(count & 255)] + body
    }
    return whole
        + (0..<16).map { first in
            (0..<200).map { UInt8(truncatingIfNeeded: first * 37 + $0 * ($0 % 7 + first)) & 0xFE }
        }
}
