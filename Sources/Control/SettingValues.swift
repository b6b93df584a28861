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
        default: self = value.integer.map { .int($0) } ?? .other("")
        }
    }
}

extension Value {
    /// Creates the form of `plain` on D-Bus; a list has the type `type`.
    package init(_ plain: Plain?, as type: CompleteType? = nil) {
        switch plain {
        case .bool(let value): self = .boolean(value)
        case .int(let value):
            self = value < 0 ? .int32(Int32(clamping: value)) : .uint32(UInt32(clamping: value))
        case .double(let value): self = .double(value)
        case .text(let value): self = .string(value)
        case .list(let values):
            switch type {
            case .array(let element):
                self = .array(values.map { Value($0, as: element) }, of: element)
            case .structure(let fields): self = .structure(zip(values, fields).map(Value.init))
            default: preconditionFailure("no setting has this value")
            }
        case .other, nil: preconditionFailure("no setting has this value")
        }
    }
}
