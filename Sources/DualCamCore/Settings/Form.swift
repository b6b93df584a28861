import Frames

/// The form of a value: how it is read and checked, and how it is written.
struct Form<Value: Sendable>: Sendable {
    /// Reads a value. Throws `UnreadableValue` with the value given and the expected form.
    let read: @Sendable (Plain) throws(UnreadableValue) -> Value
    /// Returns the value to write; `nil` if there is none.
    let plain: @Sendable (Value) -> Plain?
    var range: ClosedRange<Double>?
    /// The words of a choice.
    var words: [String] = []
    /// Returns the value that is so many places farther on, or greater by a number, and `true` if
    /// that is an end; `nil` if there is none.
    var step: (@Sendable (Value, Double) -> (Value, Bool)?)?
}

extension Form {
    /// A form that reads a value with `convert`; `expected` is the rule in words.
    init(
        expected: String,
        plain: @escaping @Sendable (Value) -> Plain?,
        step: (@Sendable (Value, Double) -> (Value, Bool)?)? = nil,
        convert: @escaping @Sendable (Plain) -> Value?
    ) {
        self.init(
            read: { given throws(UnreadableValue) in
                guard let value = convert(given) else {
                    throw UnreadableValue(given.excerpt, expected: expected)
                }
                return value
            },
            plain: plain,
            step: step
        )
    }

    /// The same form for a value that may be absent, and is then not written.
    static func optional<Wrapped>(_ form: Form<Wrapped>) -> Form where Value == Wrapped? {
        Form(
            read: { given throws(UnreadableValue) in try form.read(given) },
            plain: { $0.flatMap(form.plain) },
            range: form.range
        )
    }

    /// The same form, or "auto" for `nil`.
    static func automatic<Wrapped>(_ form: Form<Wrapped>) -> Form where Value == Wrapped? {
        Form(
            read: { given throws(UnreadableValue) in
                if given.text == "auto" { return nil }
                do throws(UnreadableValue) { return try form.read(given) } catch {
                    throw UnreadableValue(error.value, expected: "auto, or \(error.expected)")
                }
            },
            plain: { $0.map(form.plain) ?? .text("auto") }
        )
    }
}

extension Form where Value == Bool {
    static let boolean = Form(
        expected: "true or false",
        plain: { .bool($0) },
        step: { ($1.truncatingRemainder(dividingBy: 2) == 0 ? $0 : !$0, false) },
        convert: { $0.bool }
    )
}

extension Form where Value == Configuration.Memory {
    static let memory = Form(
        expected: "\"settings\", true or false",
        plain: { memory in
            switch memory {
            case .nothing: .bool(false)
            case .settings: .text("settings")
            case .all: .bool(true)
            }
        },
        convert: { given in
            if let isAll = given.bool { return isAll ? .all : .nothing }
            return given.text == "settings" ? .settings : nil
        }
    )
}

extension Form where Value == Int {
    static func integer(_ range: ClosedRange<Int>, step: Int = 1) -> Form {
        let kind =
            switch step {
            case 1: "a whole number"
            case 2: "an even number"
            default: "a multiple of \(step)"
            }
        return Form(
            expected: "\(kind) from \(range.lowerBound) to \(range.upperBound)",
            plain: { .int($0) },
            convert: { $0.int.flatMap { range.contains($0) && $0 % step == 0 ? $0 : nil } }
        )
    }

    /// One of `values`, which are equally far apart, as angles are: after the last comes the first.
    static func choice(of values: [Int]) -> Form {
        let round = values.count * (values.count > 1 ? values[1] - values[0] : 1)
        return Form(
            expected: alternatives(values.map { "\($0)" }),
            plain: { .int($0) },
            step: { value, change in
                guard let change = Int(exactly: change) else { return nil }
                let next = ((value + change % round) % round + round) % round
                return values.contains(next) ? (next, false) : nil
            },
            convert: { $0.int.flatMap { values.contains($0) ? $0 : nil } }
        )
    }
}

extension Form where Value == Double {
    /// A number. Whole numbers are accepted, NaN is not.
    static func number(_ range: ClosedRange<Double>) -> Form {
        var form = Form(
            expected: "a number from \(decimal(range.lowerBound)) to \(decimal(range.upperBound))",
            plain: { .double($0) },
            step: { value, change in
                // Without the dust of sums.
                let next = ((value + change) * 1e6).rounded() / 1e6
                let end = min(max(next, range.lowerBound), range.upperBound)
                return (end, end != next)
            },
            convert: { given in given.number.flatMap { range.contains($0) ? $0 : nil } }
        )
        form.range = range
        return form
    }

    /// Whole milliseconds in the file, seconds in memory.
    static func milliseconds(_ range: ClosedRange<Int>) -> Form {
        let form = Form<Int>.integer(range)
        return Form(
            read: { given throws(UnreadableValue) in Double(try form.read(given)) / 1000 },
            plain: { form.plain(Int(($0 * 1000).rounded())) }
        )
    }
}

extension Form where Value == ClosedRange<Int> {
    static func integers(_ range: ClosedRange<Int>) -> Form {
        Form(
            expected: "two whole numbers from \(range.lowerBound) to \(range.upperBound), "
                + "the smaller first",
            plain: { .list([.int($0.lowerBound), .int($0.upperBound)]) },
            convert: { given in
                guard let list = given.list, list.count == 2,
                    let low = list[0].int, let high = list[1].int,
                    range.contains(low), range.contains(high), low <= high
                else { return nil }
                return low...high
            }
        )
    }
}

extension Form
where Value: RawRepresentable & CaseIterable & Equatable & Sendable, Value.RawValue == String {
    static func choice() -> Form {
        var form = Form(
            expected: alternatives(Value.allCases.map(\.rawValue)),
            plain: { .text($0.rawValue) },
            step: { value, change in moved(value, by: change, in: Array(Value.allCases)) },
            convert: { $0.text.flatMap(Value.init(rawValue:)) }
        )
        form.words = Value.allCases.map(\.rawValue)
        return form
    }
}

extension Form {
    /// One of the words of a choice, or "auto" for `nil`, which comes first.
    static func automaticChoice<Choice>() -> Form
    where
        Value == Choice?,
        Choice: RawRepresentable & CaseIterable & Equatable & Sendable,
        Choice.RawValue == String
    {
        let words = ["auto"] + Choice.allCases.map(\.rawValue)
        let all = [nil] + Choice.allCases.map(Optional.some)
        var form = Form(
            expected: alternatives(words),
            plain: { .text($0?.rawValue ?? "auto") },
            step: { value, change in moved(value, by: change, in: all) },
            convert: { given in
                guard let word = given.text, words.contains(word) else { return nil }
                return .some(Choice(rawValue: word))
            }
        )
        form.words = words
        return form
    }
}

/// Returns the one of `all` that is so many places after `value`, and `false`: there is no end.
private func moved<Value: Equatable>(
    _ value: Value,
    by change: Double,
    in all: [Value]
) -> (Value, Bool)? {
    guard let place = all.firstIndex(of: value), let change = Int(exactly: change) else {
        return nil
    }
    return (all[((place + change % all.count) % all.count + all.count) % all.count], false)
}

extension Form where Value: CustomStringConvertible {
    /// A string that `parse` reads; `description` is its inverse.
    static func words(
        _ parse: @escaping @Sendable (String) throws(UnreadableValue) -> Value
    ) -> Form {
        Form(
            read: { given throws(UnreadableValue) in
                guard let text = given.text else {
                    throw UnreadableValue(given.excerpt, expected: "a string")
                }
                guard isPrintable(text) else {
                    throw UnreadableValue(given.excerpt, expected: "no control characters")
                }
                do throws(UnreadableValue) { return try parse(text) } catch {
                    throw UnreadableValue(given.excerpt, expected: error.expected)
                }
            },
            plain: { .text($0.description) }
        )
    }
}

extension Form where Value == String {
    /// A name for programs.
    static let identifier = Form(
        expected: "1 to 64 letters, digits, dots, dashes or underscores",
        plain: { .text($0) },
        convert: { given in
            given.text.flatMap { text in
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
    static let title = Form(
        expected: "1 to 64 printing characters",
        plain: { .text($0) },
        convert: { given in
            given.text.flatMap {
                (1...64).contains($0.count) && $0.utf8.count <= 256
                    && !$0.unicodeScalars.contains(where: \.isCommand) ? $0 : nil
            }
        }
    )
}

extension Form where Value == [String] {
    /// The names of devices; "v4l2:" before one is left out.
    static let deviceNames = Form(
        expected: "at most 64 names of devices, each as in v4l2:NAME",
        plain: { .list($0.map { .text($0) }) },
        convert: { given in
            guard let list = given.list, list.count <= 64 else { return nil }
            var names: [String] = []
            for element in list {
                guard let text = element.text, isPrintable(text), text.utf8.count <= 256 else {
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

extension Form where Value == NormalizedPoint {
    /// Two numbers; with a lens wider than "wide" they may lie outside of 0 … 1.
    static let point = Form(
        expected: "two numbers from -10 to 10",
        plain: { .list([.double($0.x), .double($0.y)]) },
        convert: { given in
            guard let point = NormalizedPoint(given), (-10...10).contains(point.x),
                (-10...10).contains(point.y)
            else { return nil }
            return point
        }
    )
}

extension Form where Value == NormalizedPoint? {
    /// A point within, or none.
    static let place = Form(
        expected: "[x, y], both from 0 to 1, or []",
        plain: { .list($0.flatMap { Form<NormalizedPoint>.point.plain($0)?.list } ?? []) },
        convert: { given in
            if given.list?.isEmpty == true { return .some(nil) }
            let point = NormalizedPoint(given)
            return point.flatMap { [$0.x, $0.y].allSatisfy((0...1).contains) ? $0 : nil }
        }
    )
}

extension NormalizedPoint {
    /// The point of two numbers.
    fileprivate init?(_ plain: Plain) {
        guard let pair = plain.list, pair.count == 2, let x = pair[0].number,
            let y = pair[1].number
        else { return nil }
        self.init(x: x, y: y)
    }
}

extension Form where Value == Perspective? {
    /// Four points, or none.
    static let corners = Form(
        read: { given throws(UnreadableValue) in
            let expected = "four corners as [[x, y], …], 0 to 1, clockwise from the top left, or []"
            guard let list = given.list, list.count <= 16 else {
                throw UnreadableValue(given.excerpt, expected: expected)
            }
            let points = list.compactMap(NormalizedPoint.init)
            guard points.count == list.count else {
                throw UnreadableValue(given.excerpt, expected: expected)
            }
            guard !points.isEmpty else { return nil }
            do throws(Perspective.Invalid) { return try Perspective(points) } catch {
                throw UnreadableValue(given.excerpt, expected: expected, reason: "\(error)")
            }
        },
        plain: { perspective in
            .list((perspective?.points ?? []).compactMap(Form<NormalizedPoint>.point.plain))
        }
    )
}

extension Form where Value == String? {
    static let path = Form(
        expected: "a path that begins with / or ~/, or nothing",
        plain: { .text($0 ?? "") },
        convert: { given in
            guard let text = given.text, isPrintable(text) else { return nil }
            return text.isEmpty || text.hasPrefix("/") || text.hasPrefix("~/")
                ? .some(text.isEmpty ? nil : text) : nil
        }
    )

    /// A name in /sys/class/leds, such as "white:flash".
    static let led = name("a name from /sys/class/leds, or nothing", most: 64)
    /// A `node.name` of PipeWire's.
    static let node = name("the name of a node, or nothing", most: 256)

    private static func name(_ expected: String, most: Int) -> Form {
        Form(
            expected: expected,
            plain: { .text($0 ?? "") },
            convert: { given in
                guard let text = given.text, isPrintable(text), !text.contains("/"),
                    !text.hasPrefix("."), text.utf8.count <= most
                else { return nil }
                return .some(text.isEmpty ? nil : text)
            }
        )
    }
}

extension Form where Value == SourceSpecification? {
    static let deviceOfLens = {
        let source = Form<SourceSpecification>.words(SourceSpecification.init(parsing:))
        return Form(
            read: { given throws(UnreadableValue) in
                let value = try source.read(given)
                guard value != .auto else {
                    throw UnreadableValue(given.excerpt, expected: "one certain device")
                }
                return value
            },
            plain: { $0.flatMap(source.plain) }
        )
    }()
}

extension Form where Value == Configuration.LoopbackDevice {
    static let loopbackDevice = Form(
        expected: "auto, /dev/video and a number, or nothing",
        plain: { device in
            switch device {
            case .none: .text("")
            case .auto: .text("auto")
            case .path(let path): .text(path)
            }
        },
        convert: { given in
            switch given.text {
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

extension Form where Value == WhiteBalance {
    static let whiteBalance = Form(
        expected: "\(WhiteBalance.words.joined(separator: ", ")), or a number of kelvins from "
            + "\(Stops.kelvin.lowerBound) to \(Stops.kelvin.upperBound)",
        plain: { balance in
            if case .kelvin(let kelvin) = balance { .int(kelvin) } else { .text(balance.word) }
        },
        convert: { given in
            if let kelvin = given.int {
                return Stops.kelvin.contains(kelvin) ? .kelvin(kelvin) : nil
            }
            return given.text.flatMap(WhiteBalance.init(word:))
        }
    )
}

extension Form where Value == Set<ControlLock.Subject> {
    /// Parts of the automatic; none is [].
    static let subjects = {
        let form = Form<ControlLock.Subject>.choice()
        let all = ControlLock.Subject.allCases
        return Form(
            expected: "any of \(all.map { quoted($0.rawValue) }.joined(separator: ", ")) in []",
            plain: { subjects in .list(all.filter(subjects.contains).compactMap(form.plain)) },
            convert: { given in
                guard let list = given.list, list.count <= all.count else { return nil }
                let subjects = list.compactMap { try? form.read($0) }
                return subjects.count == list.count ? Set(subjects) : nil
            }
        )
    }()
}

extension Form where Value == Title? {
    /// One or two lines, or none.
    static let title = Form(
        read: { given throws(UnreadableValue) in
            if let line = given.text { return try Title(lines: [line]) }
            let lines = (given.list ?? []).compactMap(\.text)
            guard let list = given.list, list.count <= 2, lines.count == list.count else {
                throw UnreadableValue(given.excerpt, expected: "one or two lines in []")
            }
            return try Title(lines: lines)
        },
        plain: { .list(($0?.lines ?? []).map { .text($0) }) }
    )
}

private func isPrintable(_ text: String) -> Bool {
    text.unicodeScalars.allSatisfy { scalar in
        switch scalar.properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator, .surrogate: false
        default: true
        }
    }
}
