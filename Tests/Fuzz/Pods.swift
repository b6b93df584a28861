import Frames
import Glibc

@testable import PipeWire

extension FuzzTarget {
    /// PipeWire's pods: the properties that clients write, and the formats that nodes choose.
    static let pods = FuzzTarget(
        name: "pods",
        maximumLength: 1024,
        seeds: { PodSeeds.all.map(\.bytes) },
        read: readPod
    )
}

private let shown = [
    NodeProperty(.exposure, 1000, in: 100...100_000), NodeProperty(.gain, 400, in: 100...3200),
    NodeProperty(.whiteBalance, 5000, in: 2500...9000), NodeProperty(.focus, 0.5, in: 0...1),
]

/// Reads the bytes as each parameter that a peer may send. Whatever is read is in range.
@Sendable private func readPod(_ bytes: [UInt8]) {
    // Memory of just this size, so that a read beyond it is noticed.
    let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 8)
    defer { memory.deallocate() }
    memory.copyBytes(from: bytes)
    guard let pod = Pod(UnsafeRawBufferPointer(memory)) else { return }
    for (name, value) in readProperties(pod, of: shown) {
        guard let range = shown.first(where: { $0.name == name })?.range, range.contains(value)
        else { fatalError("\(name) is \(value)") }
    }
    guard let format = try? VideoFormat(pod, offered: [.yuyv, .uyvy, .nv12, .i420]) else {
        return
    }
    guard (1...16384).contains(format.size.width), (1...16384).contains(format.size.height),
        format.rate.map({ (0.1...1000).contains($0.perSecond) }) ?? true
    else { fatalError("\(format)") }
}

/// Pods in PipeWire's form, little endian: a size, a type, then as many bytes.
private struct PodSeeds {
    let words: [UInt32]

    var bytes: [UInt8] { words.flatMap { word in (0..<4).map { UInt8(word >> (8 * $0) & 0xff) } } }

    /// Returns an object with properties of one value each, all padded to 8 bytes.
    private static func object(
        _ type: UInt32,
        _ id: UInt32,
        _ properties: [(key: UInt32, type: UInt32, value: [UInt32])]
    ) -> PodSeeds {
        let body = properties.flatMap { key, type, value -> [UInt32] in
            [key, 0, UInt32(4 * value.count), type] + value + (value.count % 2 == 0 ? [] : [0])
        }
        return PodSeeds(words: [UInt32(8 + 4 * body.count), 15, type, id] + body)
    }

    /// Types of values: Id 3, Int 4, Float 6, Rectangle 10, Fraction 11 (spa/utils/type.h).
    /// Objects: Props 0x40002, Format 0x40003.
    static let all = [
        object(
            0x40002,
            2,
            [
                (0x20007, 6, [Float(800).bitPattern]), (0x1000001, 4, [5000]),
                (0x1000002, 6, [Float(0.5).bitPattern]), (0x20006, 4, [400]),
            ]
        ),
        object(
            0x40003,
            4,
            [
                (1, 3, [2]), (2, 3, [1]), (0x20001, 3, [4]), (0x20003, 10, [640, 360]),
                (0x20004, 11, [30, 1]), (0x2000d, 3, [3]),
            ]
        ),
    ]
}
