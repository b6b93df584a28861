/// Reads JSON: as much of it as doctor and Sway write, and nothing that is none.
struct JSONReader {
    indirect enum Element {
        case null
        case boolean(Bool)
        case number(Double)
        case string(String)
        case array([Element])
        case object([String: Element])
    }

    private let bytes: [UInt8]
    private var next = 0
    private var depth = 0

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    mutating func document() -> Element? {
        let element = element()
        skipSpace()
        return next == bytes.count ? element : nil
    }

    private mutating func skipSpace() {
        while next < bytes.count, [0x20, 0x0A, 0x0D, 0x09].contains(bytes[next]) { next += 1 }
    }

    private mutating func take(_ text: StaticString) -> Bool {
        skipSpace()
        let word = text.withUTF8Buffer { Array($0) }
        guard bytes[next...].starts(with: word) else { return false }
        next += word.count
        return true
    }

    private mutating func element() -> Element? {
        guard depth < 32 else { return nil }
        depth += 1
        defer { depth -= 1 }
        if take("null") { return .null }
        if take("true") { return .boolean(true) }
        if take("false") { return .boolean(false) }
        if take("\"") { return text().map { .string($0) } }
        if take("[") { return array() }
        if take("{") { return object() }
        let start = next
        while next < bytes.count, "+-.0123456789eE".utf8.contains(bytes[next]) { next += 1 }
        return Double(String(decoding: bytes[start..<next], as: UTF8.self)).map { .number($0) }
    }

    private mutating func array() -> Element? {
        var elements: [Element] = []
        if take("]") { return .array([]) }
        repeat {
            guard let element = element() else { return nil }
            elements.append(element)
        } while take(",")
        return take("]") ? .array(elements) : nil
    }

    private mutating func object() -> Element? {
        var members: [String: Element] = [:]
        if take("}") { return .object([:]) }
        repeat {
            guard take("\""), let key = text(), take(":"), let value = element() else {
                return nil
            }
            members[key] = value
        } while take(",")
        return take("}") ? .object(members) : nil
    }

    /// Reads what is after an opening quote.
    private mutating func text() -> String? {
        var found: [UInt8] = []
        while next < bytes.count {
            let byte = bytes[next]
            next += 1
            if byte == 0x22 { return String(validating: found, as: UTF8.self) }
            guard byte == 0x5C else {
                found.append(byte)
                continue
            }
            guard next < bytes.count else { return nil }
            let escape = bytes[next]
            next += 1
            let plain: [UInt8: UInt8] = [
                0x22: 0x22, 0x5C: 0x5C, 0x2F: 0x2F, 0x62: 8, 0x66: 12, 0x6E: 10, 0x72: 13, 0x74: 9,
            ]
            if let byte = plain[escape] {
                found.append(byte)
            } else {
                guard escape == 0x75, let scalar = scalar() else { return nil }
                found += Array(String(scalar).utf8)
            }
        }
        return nil
    }

    private mutating func unit() -> UInt32? {
        guard next + 4 <= bytes.count else { return nil }
        let digits = String(decoding: bytes[next..<next + 4], as: UTF8.self)
        next += 4
        return UInt32(digits, radix: 16)
    }

    private mutating func scalar() -> Unicode.Scalar? {
        guard let first = unit() else { return nil }
        guard (0xD800..<0xDC00).contains(first) else { return Unicode.Scalar(first) }
        guard bytes[next...].starts(with: [0x5C, 0x75]) else { return nil }
        next += 2
        guard let second = unit(), (0xDC00..<0xE000).contains(second) else { return nil }
        return Unicode.Scalar(0x10000 + (first - 0xD800) << 10 + (second - 0xDC00))
    }
}
