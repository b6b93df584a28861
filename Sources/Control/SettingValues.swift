package import DBusKit
package import DualCamCore
import Frames

// What settings are on D-Bus.

extension Setting {
    /// The name of its property: "InsetSize" for "inset-size".
    package var busName: String {
        key.split(separator: "-").map(\.capitalizedFirst).joined()
    }
}

extension Plain {
    /// Takes over a value of a type that settings have.
    package init(_ value: Value) {
        switch value {
        case .boolean(let value): self = .bool(value)
        case .uint32(let value): self = .int(Int(value))
        case .double(let value): self = .double(value)
        case .string(let value): self = .text(value)
        case .array(let values, _), .structure(let values): self = .list(values.map(Plain.init))
        default: self = .other("")
        }
    }
}

extension Value {
    /// Creates the form of `plain` on D-Bus.
    package init(_ plain: Plain?) {
        switch plain {
        case .bool(let value): self = .boolean(value)
        case .int(let value): self = .uint32(UInt32(clamping: value))
        case .double(let value): self = .double(value)
        case .text(let value): self = .string(value)
        case .list(let values):
            // Corners, the only list.
            self =
                values.compactMap { point in
                    point.list.map { Pair($0.first?.number ?? 0, $0.last?.number ?? 0) }
                }.dbus
        case .other, nil: preconditionFailure("no setting has this value")
        }
    }
}
