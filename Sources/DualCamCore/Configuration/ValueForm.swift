import TOMLKit

/// The form of a configuration value: how it is read and checked, and how it is written.
struct ValueForm<Value>: Sendable {
    /// Reads a value.
    ///
    /// - Throws: `UnreadableValue` with the value given and the expected form.
    let read: @Sendable (any TOMLValueConvertible) throws(UnreadableValue) -> Value
    /// The value as TOML; empty if there is nothing to write.
    let text: @Sendable (Value) -> String
}

extension ValueForm {
    /// A form that reads a value with `convert`; `expected` is the rule in words.
    init(
        expected: String,
        text: @escaping @Sendable (Value) -> String,
        convert: @escaping @Sendable (any TOMLValueConvertible) -> Value?
    ) {
        self.init(
            read: { node throws(UnreadableValue) in
                guard let value = convert(node) else {
                    throw UnreadableValue(excerpt(of: node), expected: expected)
                }
                return value
            },
            text: text
        )
    }
}

extension ValueForm where Value == Bool {
    static let boolean = ValueForm(expected: "true or false", text: { "\($0)" }) { $0.bool }
}

extension ValueForm where Value == Configuration.Memory {
    static let memory = ValueForm(
        expected: "\"settings\", true or false",
        text: { memory in
            switch memory {
            case .nothing: "false"
            case .settings: quoted("settings")
            case .all: "true"
            }
        },
        convert: { node in
            if let isAll = node.bool { return isAll ? .all : .nothing }
            return node.string == "settings" ? .settings : nil
        }
    )
}

extension ValueForm where Value == Int {
    static func integer(_ range: ClosedRange<Int>, step: Int = 1) -> ValueForm {
        let kind =
            switch step {
            case 1: "a whole number"
            case 2: "an even number"
            default: "a multiple of \(step)"
            }
        return ValueForm(
            expected: "\(kind) from \(range.lowerBound) to \(range.upperBound)",
            text: { "\($0)" },
            convert: { $0.int.flatMap { range.contains($0) && $0 % step == 0 ? $0 : nil } }
        )
    }

    static func choice(of values: [Int]) -> ValueForm {
        ValueForm(
            expected: alternatives(values.map { "\($0)" }),
            text: { "\($0)" },
            convert: { $0.int.flatMap { values.contains($0) ? $0 : nil } }
        )
    }
}

extension ValueForm where Value == Double {
    /// A number. Whole numbers are accepted, NaN is not.
    static func number(_ range: ClosedRange<Double>) -> ValueForm {
        ValueForm(
            expected: "a number from \(decimal(range.lowerBound)) to \(decimal(range.upperBound))",
            text: decimal,
            convert: { node in
                (node.double ?? node.int.map(Double.init)).flatMap {
                    range.contains($0) ? $0 : nil
                }
            }
        )
    }

    /// Whole milliseconds in the file, seconds in memory.
    static func milliseconds(_ range: ClosedRange<Int>) -> ValueForm {
        let form = ValueForm<Int>.integer(range)
        return ValueForm(
            read: { node throws(UnreadableValue) in Double(try form.read(node)) / 1000 },
            text: { form.text(Int(($0 * 1000).rounded())) }
        )
    }
}

extension ValueForm where Value == ClosedRange<Int> {
    static func integers(_ range: ClosedRange<Int>) -> ValueForm {
        ValueForm(
            expected: "two whole numbers from \(range.lowerBound) to \(range.upperBound), "
                + "the smaller first",
            text: { "[\($0.lowerBound), \($0.upperBound)]" },
            convert: { node in
                guard let array = node.array, array.count == 2,
                    let low = array[0].int, let high = array[1].int,
                    range.contains(low), range.contains(high), low <= high
                else { return nil }
                return low...high
            }
        )
    }
}

extension ValueForm
where Value: RawRepresentable & CaseIterable & Sendable, Value.RawValue == String {
    static func choice() -> ValueForm {
        ValueForm(
            expected: alternatives(Value.allCases.map(\.rawValue)),
            text: { quoted($0.rawValue) },
            convert: { $0.string.flatMap(Value.init(rawValue:)) }
        )
    }
}

extension ValueForm where Value: CustomStringConvertible & Sendable {
    /// A string that `parse` reads; `description` is its inverse.
    static func words(
        _ parse: @escaping @Sendable (String) throws(UnreadableValue) -> Value
    ) -> ValueForm {
        ValueForm(
            read: { node throws(UnreadableValue) in
                guard let text = node.string else {
                    throw UnreadableValue(excerpt(of: node), expected: "a string")
                }
                guard isPrintable(text) else {
                    throw UnreadableValue(excerpt(of: node), expected: "no control characters")
                }
                do throws(UnreadableValue) { return try parse(text) } catch {
                    throw UnreadableValue(excerpt(of: node), expected: error.expected)
                }
            },
            text: { quoted($0.description) }
        )
    }
}

extension ValueForm where Value == String {
    /// A name for programs.
    static let identifier = ValueForm(
        expected: "1 to 64 letters, digits, dots, dashes or underscores",
        text: quoted,
        convert: { node in
            node.string.flatMap { text in
                let isAllowed = text.unicodeScalars.allSatisfy { scalar in
                    switch scalar {
                    case "a"..."z", "A"..."Z", "0"..."9", ".", "-", "_": true
                    default: false
                    }
                }
                return isAllowed && (1...64).contains(text.utf8.count) ? text : nil
            }
        }
    )

    /// A name for people.
    static let title = ValueForm(
        expected: "1 to 64 printing characters",
        text: quoted,
        convert: { node in
            node.string.flatMap {
                (1...64).contains($0.count) && $0.utf8.count <= 256 && isPrintable($0) ? $0 : nil
            }
        }
    )
}

extension ValueForm where Value == [String] {
    /// The names of devices; "v4l2:" before one is left out.
    static let deviceNames = ValueForm(
        expected: "at most 64 names of devices, each as in v4l2:NAME",
        text: { "[\($0.map(quoted).joined(separator: ", "))]" },
        convert: { node in
            guard let array = node.array, array.count <= 64 else { return nil }
            var names: [String] = []
            for element in array {
                guard let text = element.string, isPrintable(text), text.utf8.count <= 256 else {
                    return nil
                }
                let name = text.hasPrefix("v4l2:") ? String(text.dropFirst(5)) : text
                guard !name.isEmpty else { return nil }
                names.append(name)
            }
            return names
        }
    )
}

extension ValueForm where Value == Perspective? {
    /// Four points, or none.
    static let corners = ValueForm(
        read: { node throws(UnreadableValue) in
            let expected = "four corners as [[x, y], …], 0 to 1, clockwise from the top left, or []"
            guard let array = node.array, array.count <= 16 else {
                throw UnreadableValue(excerpt(of: node), expected: expected)
            }
            var points: [NormalizedPoint] = []
            for element in array {
                guard let pair = element.array, pair.count == 2,
                    let x = pair[0].double ?? pair[0].int.map(Double.init),
                    let y = pair[1].double ?? pair[1].int.map(Double.init)
                else { throw UnreadableValue(excerpt(of: node), expected: expected) }
                points.append(NormalizedPoint(x: x, y: y))
            }
            guard !points.isEmpty else { return nil }
            do throws(Perspective.Invalid) { return try Perspective(points) } catch {
                throw UnreadableValue(
                    excerpt(of: node),
                    expected: expected,
                    reason: "\(error)"
                )
            }
        },
        text: { perspective in
            let points = perspective?.points.map { "[\(decimal($0.x)), \(decimal($0.y))]" } ?? []
            return "[\(points.joined(separator: ", "))]"
        }
    )
}

extension ValueForm where Value == String? {
    static let directory = ValueForm(
        expected: "a path that begins with / or ~/, or nothing",
        text: { quoted($0 ?? "") },
        convert: { node in
            guard let text = node.string, isPrintable(text) else { return nil }
            return text.isEmpty || text.hasPrefix("/") || text.hasPrefix("~/")
                ? .some(text.isEmpty ? nil : text) : nil
        }
    )
}

extension ValueForm where Value == String? {
    /// The path of a file; may begin with "~/".
    static let file = ValueForm(
        expected: "a path that begins with / or ~/, or nothing",
        text: directory.text,
        convert: { try? directory.read($0) }
    )
}

extension ValueForm where Value == String? {
    /// A name in /sys/class/leds, such as "white:flash".
    static let led = ValueForm(
        expected: "a name from /sys/class/leds, or nothing",
        text: { quoted($0 ?? "") },
        convert: { node in
            guard let text = node.string, isPrintable(text), !text.contains("/"),
                !text.hasPrefix("."), text.utf8.count <= 64
            else { return nil }
            return .some(text.isEmpty ? nil : text)
        }
    )
}

extension ValueForm where Value == SourceSpecification? {
    static let deviceOfLens = {
        let source = ValueForm<SourceSpecification>.words(SourceSpecification.init(parsing:))
        return ValueForm(
            read: { node throws(UnreadableValue) in
                let value = try source.read(node)
                guard value != .auto else {
                    throw UnreadableValue(excerpt(of: node), expected: "one certain device")
                }
                return value
            },
            text: { $0.map(source.text) ?? "" }
        )
    }()
}

extension ValueForm where Value == Configuration.LoopbackDevice {
    static let loopbackDevice = ValueForm(
        expected: "auto, /dev/video and a number, or nothing",
        text: { device in
            switch device {
            case .none: quoted("")
            case .auto: quoted("auto")
            case .path(let path): quoted(path)
            }
        },
        convert: { node in
            switch node.string {
            case ""?: .some(.none)
            case "auto"?: .auto
            case let path?:
                path.hasPrefix("/dev/video") && UInt8(path.dropFirst("/dev/video".count)) != nil
                    ? .path(path) : nil
            case nil: nil
            }
        }
    )
}

/// Returns the value short enough for a message: scalars as written, anything else by its type.
func excerpt(of node: any TOMLValueConvertible) -> String {
    switch node.type {
    case .string:
        // An address may hold a password.
        let text = node.string.map { $0.hasPrefix("url:") ? NetworkAddress.redacted($0) : $0 } ?? ""
        return quoted(text.count > 48 ? text.prefix(47) + "…" : text)
    case .int: return node.int.map { "\($0)" } ?? ""
    case .double: return node.double.map { "\($0)" } ?? ""
    case .bool: return node.bool.map { "\($0)" } ?? ""
    case .table: return "a table"
    case .array:
        guard let array = node.array, array.count <= 4,
            array.allSatisfy({ $0.type != .array && $0.type != .table })
        else { return "an array" }
        return "[\(array.map { excerpt(of: $0) }.joined(separator: ", "))]"
    case .date, .time, .dateTime: return "a date"
    }
}

/// Returns `text` as a TOML basic string.
func quoted(_ text: some StringProtocol) -> String {
    let escaped = text.unicodeScalars.map { scalar in
        switch scalar {
        case "\"": "\\\""
        case "\\": "\\\\"
        case "\n": "\\n"
        case "\t": "\\t"
        case _ where scalar.value < 0x20 || scalar.value == 0x7f:
            "\\u" + String(0x10000 + scalar.value, radix: 16).dropFirst()
        default: String(scalar)
        }
    }
    return "\"\(escaped.joined())\""
}

private func isPrintable(_ text: String) -> Bool {
    text.unicodeScalars.allSatisfy { scalar in
        switch scalar.properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator, .surrogate: false
        default: true
        }
    }
}

/// Returns the words as a choice: "0, 90 or 180".
package func alternatives(_ words: [String]) -> String {
    guard let last = words.last, words.count > 1 else { return words.first ?? "" }
    return words.dropLast().joined(separator: ", ") + " or " + last
}

/// Returns a number as text: "0.5", "64".
private func decimal(_ value: Double) -> String {
    Int(exactly: value).map { "\($0)" } ?? "\(value)"
}
