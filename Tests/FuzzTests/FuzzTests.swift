import FuzzTargets
import TestSupport
import Testing

/// What each reader of foreign bytes makes of what nobody wrote: the same inputs each time, changed
/// at random from valid ones. `make fuzz` looks further.
@Suite(.timeLimit(.minutes(5))) struct FuzzTests {
    @Test(arguments: FuzzTarget.all.map(\.name))
    func returns(from name: String) async {
        // Whatever traps ends a process of its own.
        await #expect(processExitsWith: .success) { [name] in
            try await MainActor.run {
                let target = FuzzTarget.named(name)
                var inputs = Inputs(seeds: try target.seeds(), maximumLength: target.maximumLength)
                for _ in 0..<5000 { target.read(inputs.next()) }
            }
        }
    }
}

/// First each of the valid inputs, then others that are made from them.
private struct Inputs: Sendable {
    let seeds: [[UInt8]]
    let maximumLength: Int
    private var count = 0
    private var chance = Chance()

    init(seeds: [[UInt8]], maximumLength: Int) {
        self.seeds = seeds
        self.maximumLength = maximumLength
    }

    mutating func next() -> [UInt8] {
        defer { count += 1 }
        if count < seeds.count { return seeds[count] }
        var bytes = seeds[below(seeds.count)]
        for _ in 0...below(4) { change(&bytes) }
        return Array(bytes.prefix(maximumLength))
    }

    /// Changes one place, which may be the end.
    private mutating func change(_ bytes: inout [UInt8]) {
        let start = below(bytes.count + 1)
        let end = min(start + 1 << below(6), bytes.count)
        switch below(6) {
        case 0: bytes.replaceSubrange(start..<end, with: [])
        case 1: bytes.insert(contentsOf: bytes[start..<end], at: below(bytes.count + 1))
        case 2: bytes.insert(UInt8(below(256)), at: start)
        case 3 where start < end: bytes[start] ^= 1 << below(8)
        case 4: for place in start..<end { bytes[place] = [0, 1, 0x7f, 0x80, 0xff][below(5)] }
        case 5:
            // The rest of another one.
            let other = seeds[below(seeds.count)]
            bytes.replaceSubrange(start..., with: other.dropFirst(below(other.count + 1)))
        default: bytes.append(UInt8(below(256)))
        }
    }

    private mutating func below(_ end: Int) -> Int { .random(in: 0..<end, using: &chance) }
}
