/// A JSON document as it is written, for changes that leave every other byte alone.
struct JSONText {
    /// The document, which is valid JSON (RFC 8259).
    let bytes: [UInt8]
    /// The place of its value, without the space around it.
    let root: Range<Int>

    /// The most containers that may be inside one another; Chromium reads no more than 200.
    private static let depthLimit = 200

    /// Reads a document.
    ///
    /// - Throws: `Failure` if it is not valid JSON, or nested too deeply.
    init(_ bytes: [UInt8]) throws(Failure) {
        guard String(validating: bytes, as: UTF8.self) != nil else {
            throw Self.fault("it is not UTF-8")
        }
        var scanner = Scanner(bytes: bytes)
        scanner.skipSpace()
        let start = scanner.position
        try scanner.skipValue(depth: 0)
        root = start..<scanner.position
        scanner.skipSpace()
        guard scanner.position == bytes.count else { throw scanner.fault }
        self.bytes = bytes
    }

    /// `true` if the value at `place` is an object.
    func isObject(_ place: Range<Int>) -> Bool { bytes[place.lowerBound] == UInt8(ascii: "{") }

    /// `true` if the value at `place` is an array.
    func isArray(_ place: Range<Int>) -> Bool { bytes[place.lowerBound] == UInt8(ascii: "[") }

    /// Returns the places of the values that the object at `place` has under `name`.
    func members(_ name: String, of place: Range<Int>) -> [Range<Int>] {
        parts(of: place).filter { part in part.key.map { text($0) == name } ?? false }
            .map(\.value)
    }

    /// Returns the places of the elements of the array at `place`.
    func elements(of place: Range<Int>) -> [Range<Int>] { parts(of: place).map(\.value) }

    /// Returns the string at `place`; `nil` for other values, and for strings with escapes: no name
    /// that is looked for here needs them.
    func text(_ place: Range<Int>) -> String? {
        guard bytes[place.lowerBound] == UInt8(ascii: "\"") else { return nil }
        let inside = bytes[(place.lowerBound + 1)..<(place.upperBound - 1)]
        guard !inside.contains(UInt8(ascii: "\\")) else { return nil }
        return String(decoding: inside, as: UTF8.self)
    }

    /// The members of an object or the elements of an array, in their order.
    private func parts(of place: Range<Int>) -> [(key: Range<Int>?, value: Range<Int>)] {
        var scanner = Scanner(bytes: bytes, position: place.lowerBound)
        // The document was read once, so nothing is thrown.
        return (try? scanner.parts(depth: 0)) ?? []
    }

    /// The document with `text` in the place of `range`.
    func replacing(_ range: Range<Int>, with text: String) -> [UInt8] {
        Array(bytes[..<range.lowerBound]) + Array(text.utf8) + Array(bytes[range.upperBound...])
    }

    /// Returns the document with `text` as the first part of the object or array at `place`.
    func inserting(_ text: String, into place: Range<Int>) -> [UInt8] {
        let start = place.lowerBound + 1
        let isEmpty = parts(of: place).isEmpty
        return replacing(start..<start, with: isEmpty ? text : text + ",")
    }

    /// Returns the document without the element number `index` of the array at `place`.
    func removing(_ index: Int, from place: Range<Int>) -> [UInt8] {
        let elements = elements(of: place)
        let element = elements[index]
        // With its comma, and the space up to its neighbour.
        if index + 1 < elements.count {
            return replacing(element.lowerBound..<elements[index + 1].lowerBound, with: "")
        }
        let start = index > 0 ? elements[index - 1].upperBound : element.lowerBound
        return replacing(start..<element.upperBound, with: "")
    }

    private static func fault(_ reason: String) -> Failure {
        Failure(status: .failed, message: "it is not valid JSON: \(reason)")
    }

    /// Finds where values begin and end.
    private struct Scanner {
        let bytes: [UInt8]
        var position = 0

        var fault: Failure { JSONText.fault("it is wrong at byte \(position)") }

        private var next: UInt8? { position < bytes.count ? bytes[position] : nil }

        mutating func skipSpace() {
            while let byte = next, [0x20, 0x09, 0x0a, 0x0d].contains(byte) { position += 1 }
        }

        private mutating func expect(_ byte: UInt8) throws(Failure) {
            guard next == byte else { throw fault }
            position += 1
        }

        mutating func skipValue(depth: Int) throws(Failure) {
            guard depth < JSONText.depthLimit else {
                throw JSONText.fault("it is nested too deeply")
            }
            switch next {
            case UInt8(ascii: "{"), UInt8(ascii: "["): _ = try parts(depth: depth)
            case UInt8(ascii: "\""): try skipString()
            case UInt8(ascii: "t"): try skip("true")
            case UInt8(ascii: "f"): try skip("false")
            case UInt8(ascii: "n"): try skip("null")
            default: try skipNumber()
            }
        }

        /// Skips an object or an array, and returns where its parts are.
        mutating func parts(
            depth: Int
        ) throws(Failure) -> [(key: Range<Int>?, value: Range<Int>)] {
            let isObject = next == UInt8(ascii: "{")
            let end = isObject ? UInt8(ascii: "}") : UInt8(ascii: "]")
            var parts: [(key: Range<Int>?, value: Range<Int>)] = []
            position += 1
            skipSpace()
            if next == end {
                position += 1
                return []
            }
            while true {
                var key: Range<Int>?
                if isObject {
                    let start = position
                    try skipString()
                    key = start..<position
                    skipSpace()
                    try expect(UInt8(ascii: ":"))
                    skipSpace()
                }
                let start = position
                try skipValue(depth: depth + 1)
                parts.append((key, start..<position))
                skipSpace()
                if next == end {
                    position += 1
                    return parts
                }
                try expect(UInt8(ascii: ","))
                skipSpace()
            }
        }

        private mutating func skip(_ word: String) throws(Failure) {
            for byte in word.utf8 { try expect(byte) }
        }

        private mutating func skipString() throws(Failure) {
            try expect(UInt8(ascii: "\""))
            while let byte = next {
                switch byte {
                case UInt8(ascii: "\""):
                    position += 1
                    return
                case UInt8(ascii: "\\"):
                    position += 1
                    guard let escaped = next else { throw fault }
                    guard "\"\\/bfnrtu".utf8.contains(escaped) else { throw fault }
                    position += 1
                    guard escaped == UInt8(ascii: "u") else { continue }
                    for _ in 0..<4 {
                        guard let digit = next, Character(UnicodeScalar(digit)).isHexDigit else {
                            throw fault
                        }
                        position += 1
                    }
                case ..<0x20: throw fault
                default: position += 1
                }
            }
            throw fault
        }

        private mutating func skipDigits() throws(Failure) {
            let start = position
            while let byte = next, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) {
                position += 1
            }
            guard position > start else { throw fault }
        }

        private mutating func skipNumber() throws(Failure) {
            if next == UInt8(ascii: "-") { position += 1 }
            if next == UInt8(ascii: "0") { position += 1 } else { try skipDigits() }
            if next == UInt8(ascii: ".") {
                position += 1
                try skipDigits()
            }
            if next == UInt8(ascii: "e") || next == UInt8(ascii: "E") {
                position += 1
                if next == UInt8(ascii: "+") || next == UInt8(ascii: "-") { position += 1 }
                try skipDigits()
            }
        }
    }
}

/// The experiments that are set in `chrome://flags`, as Chromium and its kin keep them in the file
/// `Local State`.
enum ChromiumFlags {
    /// The experiment that makes a browser look for cameras in PipeWire.
    static let camera = "enable-webrtc-pipewire-camera"
    /// The option Enabled of an experiment with Default, Enabled and Disabled.
    static let enabled = "1"

    private static let group = "browser"
    private static let list = "enabled_labs_experiments"

    /// Returns the option that is set for `experiment`, such as "1"; `nil` for Default.
    ///
    /// - Throws: `Failure` if the file is not as Chromium writes it.
    static func option(of experiment: String, in bytes: [UInt8]) throws(Failure) -> String? {
        let document = try JSONText(bytes)
        guard let list = try place(in: document).list else { return nil }
        return entries(of: experiment, in: list, document).compactMap(\.option).last
    }

    /// Returns the file with `experiment` set to `option`, or back to Default for `nil`. All other
    /// bytes stay.
    ///
    /// - Throws: `Failure` if the file is not as Chromium writes it.
    static func setting(
        _ experiment: String,
        to option: String?,
        in bytes: [UInt8]
    ) throws(Failure) -> [UInt8] {
        var document = try JSONText(bytes)
        // One change after the other, since each moves what follows.
        while let list = try place(in: document).list,
            let old = entries(of: experiment, in: list, document).first(where: { entry in
                entry.option != option
            })
        {
            document = try JSONText(document.removing(old.index, from: list))
        }
        if let option, try Self.option(of: experiment, in: document.bytes) == nil {
            let entry = "\"\(experiment)@\(option)\""
            let (group, list) = try place(in: document)
            if let list {
                document = try JSONText(document.inserting(entry, into: list))
            } else if let group {
                let member = "\"\(Self.list)\":[\(entry)]"
                document = try JSONText(document.inserting(member, into: group))
            } else {
                let member = "\"\(Self.group)\":{\"\(Self.list)\":[\(entry)]}"
                document = try JSONText(document.inserting(member, into: document.root))
            }
        }
        return document.bytes
    }

    /// Returns the places of the object and of its array, as far as there are any.
    private static func place(
        in document: JSONText
    ) throws(Failure) -> (group: Range<Int>?, list: Range<Int>?) {
        func only(_ name: String, of object: Range<Int>) throws(Failure) -> Range<Int>? {
            let found = document.members(name, of: object)
            guard found.count <= 1 else {
                throw Failure(status: .failed, message: "it has \(name) twice")
            }
            return found.first
        }
        guard document.isObject(document.root) else {
            throw Failure(status: .failed, message: "it is not an object")
        }
        guard let group = try only(Self.group, of: document.root) else { return (nil, nil) }
        guard document.isObject(group) else {
            throw Failure(status: .failed, message: "\(Self.group) is not an object")
        }
        guard let list = try only(Self.list, of: group) else { return (group, nil) }
        guard document.isArray(list) else {
            throw Failure(status: .failed, message: "\(Self.list) is not an array")
        }
        return (group, list)
    }

    private static func entries(
        of experiment: String,
        in list: Range<Int>,
        _ document: JSONText
    ) -> [(index: Int, option: String?)] {
        document.elements(of: list).enumerated().compactMap { index, place in
            guard let text = document.text(place) else { return nil }
            // An experiment without options is only named.
            if text == experiment { return (index, nil) }
            guard text.hasPrefix(experiment + "@") else { return nil }
            return (index, String(text.dropFirst(experiment.utf8.count + 1)))
        }
    }
}
