/// The noise that some cameras leave in their JPEGs: stray bytes before a restart marker or before
/// the end marker, or no end marker. The picture is whole, and libjpeg reads it, but most players
/// and editors lose the rows after a stray byte.
///
/// Only decoding the codes tells where the data ends, but not their values; so a picture is read
/// through, and no pixel is computed. Any thread.
package enum JPEGNoise {
    /// The state of a JPEG without its noise.
    package enum Outcome: Hashable, Sendable {
        /// A whole picture, of this many bytes.
        case whole(Int)
        /// Data is missing or wrong.
        case damaged
        /// A kind of JPEG that cameras do not send, such as a progressive one: nothing was changed.
        case unknown
    }

    /// Removes the noise from the JPEG in the first `count` bytes of `bytes`, in place. Give two
    /// bytes more than that for an end marker that is missing.
    ///
    /// Unless `isThorough`, a picture without restart markers is taken to be whole if it has an end
    /// marker: stray bytes before that do no harm. Does not allocate, except for two small tables.
    ///
    /// Follows ITU-T T.81, annex F. The bytes are untrusted: no length is believed that goes beyond
    /// them. Bytes after the end stay; `JPEGMetadata` removes these.
    package static func remove(
        from bytes: UnsafeMutableRawBufferPointer,
        count: Int,
        isThorough: Bool
    ) -> Outcome {
        guard let base = bytes.baseAddress, count <= bytes.count else { return .unknown }
        let data = UnsafeMutableBufferPointer(
            start: base.assumingMemoryBound(to: UInt8.self),
            count: count
        )
        guard let header = Header(of: UnsafeBufferPointer(data)) else { return .unknown }
        let hasEnd = count >= 2 && data[count - 2] == 0xFF && data[count - 1] == 0xD9
        if !isThorough, header.restartInterval == 0, hasEnd { return .whole(count) }
        return clean(data, header, room: bytes.count)
    }

    /// Returns `bytes` without noise; `nil` if damaged. Those of an unknown kind stay as they are.
    package static func removed(from bytes: [UInt8]) -> [UInt8]? {
        var result = bytes + [0, 0]
        let outcome = result.withUnsafeMutableBytes {
            remove(from: $0, count: bytes.count, isThorough: true)
        }
        switch outcome {
        case .damaged: return nil
        case .unknown: return bytes
        case .whole(let count):
            result.removeLast(result.count - count)
            return result
        }
    }

    /// The most stray bytes before a restart marker that count as noise, as in the decoder: a fault
    /// in the data, from which a decoder finds back, leaves hundreds.
    private static let mostStray = 16

    /// Moves each stretch of coded data to the end of the one before it.
    private static func clean(
        _ data: UnsafeMutableBufferPointer<UInt8>,
        _ header: Header,
        room: Int
    ) -> Outcome {
        guard let base = data.baseAddress else { return .unknown }
        var (source, target) = (header.scan, header.scan)
        var left = header.unitCount
        var restart: UInt8 = 0
        while true {
            let count = header.restartInterval > 0 ? min(left, header.restartInterval) : left
            guard let end = header.skip(count, of: data, from: source) else { return .damaged }
            left -= count
            if source != target { (base + target).update(from: base + source, count: end - source) }
            target += end - source
            let marker = nextMarker(of: data, from: end)
            guard left > 0 else {
                // Some cameras write a restart marker after the last row, too. It says nothing.
                if let marker, data[marker + 1] == 0xD9 {
                    let rest = data.count - marker
                    if marker != target { (base + target).update(from: base + marker, count: rest) }
                    return .whole(target + rest)
                }
                guard marker == nil || marker.map({ data[$0 + 1] & 0xF8 == 0xD0 }) ?? false else {
                    // Tables, and another scan.
                    return target == end ? .unknown : .damaged
                }
                guard target + 2 <= room else { return .damaged }
                base[target] = 0xFF
                base[target + 1] = 0xD9
                return .whole(target + 2)
            }
            guard let marker, data[marker + 1] == 0xD0 + restart, marker - end <= mostStray else {
                return .damaged
            }
            base[target] = 0xFF
            base[target + 1] = 0xD0 + restart
            target += 2
            source = marker + 2
            restart = (restart + 1) & 7
        }
    }

    /// Returns the offset of the next marker's last 0xFF at or after `start`.
    private static func nextMarker(
        of data: UnsafeMutableBufferPointer<UInt8>,
        from start: Int
    ) -> Int? {
        var position = start
        while position + 1 < data.count {
            if data[position] == 0xFF, data[position + 1] != 0, data[position + 1] != 0xFF {
                return position
            }
            position += 1
        }
        return nil
    }

    /// The facts of a JPEG's header that reading its codes takes.
    private struct Header {
        /// The offset of the first scan's coded data.
        var scan = 0
        /// The number of units between two restart markers; 0: there are none.
        var restartInterval = 0
        /// The number of units (MCUs) in the scan.
        var unitCount = 0
        /// The tables of each block in a unit.
        var blocks: [Codes.Pair] = []
        private var owners: [Codes?] = []

        /// Reads the segments up to the first scan; `nil` if it is not the one scan of a baseline
        /// picture, or anything is wrong.
        init?(of data: UnsafeBufferPointer<UInt8>) {
            guard data.count > 4, data[0] == 0xFF, data[1] == 0xD8 else { return nil }
            var tables = [Codes?](repeating: nil, count: 8)
            var hasTables = false
            var frame: (width: Int, height: Int, components: [(id: UInt8, h: Int, v: Int)])?
            var position = 2
            while true {
                while position + 1 < data.count, data[position] == 0xFF, data[position + 1] == 0xFF
                {
                    position += 1
                }
                guard position + 4 <= data.count, data[position] == 0xFF else { return nil }
                let length = Int(data[position + 2]) << 8 | Int(data[position + 3])
                guard length >= 2, position + 2 + length <= data.count else { return nil }
                let content = UnsafeBufferPointer(
                    rebasing: data[position + 4..<position + 2 + length]
                )
                switch data[position + 1] {
                case 0xC0, 0xC1:
                    guard frame == nil else { return nil }
                    frame = Self.frame(content)
                case 0xC4:
                    hasTables = true
                    guard Self.read(content, into: &tables) else { return nil }
                case 0xC2, 0xC3, 0xC5...0xC7, 0xC9...0xCF, 0xD0...0xD9, 0x01: return nil
                case 0xDD:
                    guard content.count >= 2 else { return nil }
                    restartInterval = Int(content[0]) << 8 | Int(content[1])
                case 0xDA:
                    scan = position + 2 + length
                    if !hasTables { tables = Codes.usual() }
                    guard let frame, begin(content, frame, tables) else { return nil }
                    return
                default: break
                }
                position += 2 + length
            }
        }

        private static func frame(
            _ content: UnsafeBufferPointer<UInt8>
        ) -> (width: Int, height: Int, components: [(id: UInt8, h: Int, v: Int)])? {
            guard content.count >= 6, content[0] == 8, content.count >= 6 + 3 * Int(content[5]),
                (1...3).contains(content[5])
            else { return nil }
            let height = Int(content[1]) << 8 | Int(content[2])
            let width = Int(content[3]) << 8 | Int(content[4])
            let components = (0..<Int(content[5])).map { index in
                let factors = content[7 + 3 * index]
                return (id: content[6 + 3 * index], h: Int(factors >> 4), v: Int(factors & 15))
            }
            guard width > 0, height > 0,
                components.allSatisfy({ (1...4).contains($0.h) && (1...4).contains($0.v) })
            else { return nil }
            return (width, height, components)
        }

        private static func read(
            _ content: UnsafeBufferPointer<UInt8>,
            into tables: inout [Codes?]
        ) -> Bool {
            var position = 0
            while position < content.count {
                guard position + 17 <= content.count else { return false }
                let place = content[position]
                let counts = content[position + 1..<position + 17]
                let count = counts.reduce(0) { $0 + Int($1) }
                guard place & 0x0F < 4, place >> 4 < 2, position + 17 + count <= content.count,
                    let codes = Codes(
                        counts: Array(counts),
                        symbols: Array(content[position + 17..<position + 17 + count])
                    )
                else { return false }
                tables[Int(place >> 4) * 4 + Int(place & 3)] = codes
                position += 17 + count
            }
            return true
        }

        private mutating func begin(
            _ content: UnsafeBufferPointer<UInt8>,
            _ frame: (width: Int, height: Int, components: [(id: UInt8, h: Int, v: Int)]),
            _ tables: [Codes?]
        ) -> Bool {
            let components = frame.components
            guard content.count >= 1 + 2 * components.count + 3,
                Int(content[0]) == components.count
            else { return false }
            let isAlone = components.count == 1
            for (index, component) in components.enumerated() {
                let place = content[2 + 2 * index]
                guard content[1 + 2 * index] == component.id, place >> 4 < 4, place & 15 < 4,
                    let dc = tables[Int(place >> 4)], let ac = tables[4 + Int(place & 3)]
                else { return false }
                let count = isAlone ? 1 : component.h * component.v
                for _ in 0..<count { blocks.append(Codes.Pair(dc: dc.codes, ac: ac.codes)) }
            }
            owners = tables
            // The factors of a single component do not count.
            let across = isAlone ? 8 : 8 * (components.map(\.h).max() ?? 1)
            let down = isAlone ? 8 : 8 * (components.map(\.v).max() ?? 1)
            unitCount =
                ((frame.width + across - 1) / across) * ((frame.height + down - 1) / down)
            return blocks.count <= 10
        }

        /// Reads `count` units from the offset `start`. Returns the offset after their last byte;
        /// `nil` if data is missing, or has a code that no table has.
        func skip(
            _ count: Int,
            of data: UnsafeMutableBufferPointer<UInt8>,
            from start: Int
        ) -> Int? {
            var bits = Bits(UnsafeBufferPointer(data), at: start)
            let isWhole = withExtendedLifetime(self) {
                blocks.withUnsafeBufferPointer { blocks in
                    for _ in 0..<count {
                        for index in blocks.indices where !bits.skipBlock(blocks[index]) {
                            return false
                        }
                    }
                    return true
                }
            }
            guard isWhole else { return nil }
            return bits.end
        }
    }
}

/// The owner of a Huffman table, for decoding.
private final class Codes {
    /// The table. Copies of it are valid as long as its owner.
    struct Table {
        /// By the next nine bits: the symbol, and above it the length of its code; 0: it is longer.
        let short = UnsafeMutablePointer<UInt16>.allocate(capacity: 512)
        /// By length, the number after the highest code of that length; 0: there is none.
        let limits = UnsafeMutablePointer<Int32>.allocate(capacity: 17)
        /// By length, what makes a code the index of its symbol.
        let offsets = UnsafeMutablePointer<Int32>.allocate(capacity: 17)
        let symbols = UnsafeMutablePointer<UInt8>.allocate(capacity: 256)
    }

    /// The tables of a block.
    struct Pair {
        let dc: Table
        let ac: Table
    }

    let codes = Table()

    /// Creates the table of as many `symbols` as `counts` says for each length from 1 on; `nil` if
    /// there can be no such codes.
    init?(counts: [UInt8], symbols listed: [UInt8]) {
        let (short, limits) = (codes.short, codes.limits)
        let (offsets, symbols) = (codes.offsets, codes.symbols)
        short.initialize(repeating: 0, count: 512)
        limits.initialize(repeating: 0, count: 17)
        offsets.initialize(repeating: 0, count: 17)
        symbols.initialize(repeating: 0, count: 256)
        guard listed.count <= 256 else { return nil }
        symbols.update(from: listed, count: listed.count)
        var (code, index): (Int32, Int32) = (0, 0)
        for length in 1...16 {
            let count = Int32(counts[length - 1])
            guard code + count <= 1 << Int32(length) else { return nil }
            offsets[length] = index - code
            if count > 0 { limits[length] = code + count }
            if length <= 9 {
                for number in 0..<count {
                    let first = Int(code + number) << (9 - length)
                    let entry = UInt16(length) << 8 | UInt16(symbols[Int(index + number)])
                    (short + first).update(repeating: entry, count: 1 << (9 - length))
                }
            }
            code = (code + count) << 1
            index += count
        }
    }

    deinit {
        codes.short.deallocate()
        codes.limits.deallocate()
        codes.offsets.deallocate()
        codes.symbols.deallocate()
    }

    /// Returns the tables that Motion JPEG leaves out: T.81, annex K.3. DC, then AC, each for luma
    /// and chroma.
    static func usual() -> [Codes?] {
        // After those listed, all others that exist follow in order.
        func all(_ first: [UInt8]) -> [UInt8] {
            let others = (0...15).flatMap { run in (1...10).map { UInt8(run << 4 | $0) } }
            return first + others.filter { !first.contains($0) }
        }
        return [
            Codes(
                counts: [0, 1, 5, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0, 0],
                symbols: Array(0...11)
            ),
            Codes(
                counts: [0, 3, 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0],
                symbols: Array(0...11)
            ), nil, nil,
            Codes(
                counts: [0, 2, 1, 3, 3, 2, 4, 3, 5, 5, 4, 4, 0, 0, 1, 0x7D],
                symbols: all([
                    0x01, 0x02, 0x03, 0x00, 0x04, 0x11, 0x05, 0x12, 0x21, 0x31, 0x41, 0x06, 0x13,
                    0x51, 0x61, 0x07, 0x22, 0x71, 0x14, 0x32, 0x81, 0x91, 0xA1, 0x08, 0x23, 0x42,
                    0xB1, 0xC1, 0x15, 0x52, 0xD1, 0xF0, 0x24, 0x33, 0x62, 0x72, 0x82,
                ])
            ),
            Codes(
                counts: [0, 2, 1, 2, 4, 4, 3, 4, 7, 5, 4, 4, 0, 1, 2, 0x77],
                symbols: all([
                    0x00, 0x01, 0x02, 0x03, 0x11, 0x04, 0x05, 0x21, 0x31, 0x06, 0x12, 0x41, 0x51,
                    0x07, 0x61, 0x71, 0x13, 0x22, 0x32, 0x81, 0x08, 0x14, 0x42, 0x91, 0xA1, 0xB1,
                    0xC1, 0x09, 0x23, 0x33, 0x52, 0xF0, 0x15, 0x62, 0x72, 0xD1, 0x0A, 0x16, 0x24,
                    0x34, 0xE1, 0x25, 0xF1,
                ])
            ), nil, nil,
        ]
    }
}

/// The bits of coded data, in which a 0xFF is followed by a 0, up to the next marker.
private struct Bits {
    private let data: UnsafeBufferPointer<UInt8>
    private var position: Int
    /// The next bits, from the highest on; the others are 0.
    private var next: UInt64 = 0
    private var count = 0
    private var isOver = false

    init(_ data: UnsafeBufferPointer<UInt8>, at start: Int) {
        self.data = data
        position = start
    }

    /// Takes a block. Returns `false` if the data end before, or have a code that no table has.
    @inline(__always)
    mutating func skipBlock(_ tables: Codes.Pair) -> Bool {
        guard let size = symbol(of: tables.dc), take(Int(size & 15)) else { return false }
        var place = 1
        while place < 64 {
            guard let symbol = symbol(of: tables.ac) else { return false }
            let (run, size) = (Int(symbol >> 4), Int(symbol & 15))
            if size == 0 {
                if run < 15 { return true }
                place += 16
            } else {
                guard take(size) else { return false }
                place += run + 1
            }
        }
        return true
    }

    /// Takes the next symbol of `table`; `nil` if the data end before, or there is no such code.
    @inline(__always)
    private mutating func symbol(of table: Codes.Table) -> UInt8? {
        // Enough for a code and the bits after it.
        if count < 32 { fill() }
        let entry = table.short[Int(next >> 55)]
        if entry != 0 {
            return take(Int(entry >> 8)) ? UInt8(truncatingIfNeeded: entry) : nil
        }
        for length in 10...16 {
            let code = Int32(next >> (64 - UInt64(length)))
            if code < table.limits[length] {
                let index = Int(code + table.offsets[length])
                return index >= 0 && index < 256 && take(length) ? table.symbols[index] : nil
            }
        }
        return nil
    }

    /// Takes `length` bits, at most 16. Returns `false` if there are fewer.
    @inline(__always)
    private mutating func take(_ length: Int) -> Bool {
        guard count >= length else { return false }
        next = next &<< UInt64(length)
        count &-= length
        return true
    }

    private mutating func fill() {
        if position + 8 <= data.count, let base = data.baseAddress {
            let bytes = UnsafeRawPointer(base + position).loadUnaligned(as: UInt64.self).bigEndian
            let others = ~bytes
            // No byte is 0xFF.
            if (others &- 0x0101_0101_0101_0101) & bytes & 0x8080_8080_8080_8080 == 0 {
                let taken = (64 - count) / 8
                let rest = UInt64(64 - 8 * taken)
                next |= ((bytes >> rest) << rest) >> UInt64(count)
                position += taken
                count += 8 * taken
                return
            }
        }
        while count <= 56, !isOver {
            guard position < data.count else {
                isOver = true
                return
            }
            let byte = data[position]
            if byte == 0xFF {
                var after = position + 1
                while after < data.count, data[after] == 0xFF { after += 1 }
                guard after < data.count, data[after] == 0 else {
                    isOver = true
                    return
                }
                position = after
            }
            position += 1
            next |= UInt64(byte) << UInt64(56 - count)
            count += 8
        }
    }

    /// The offset after the last byte of which a bit was taken.
    var end: Int {
        var end = position
        for _ in 0..<count / 8 {
            end -= 1
            // The 0 after 0xFF, and all 0xFF before it.
            if data[end] == 0, end > 0, data[end - 1] == 0xFF {
                end -= 1
                while end > 0, data[end - 1] == 0xFF { end -= 1 }
            }
        }
        return end
    }
}
