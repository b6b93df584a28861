import Frames
import Glibc

/// The cost of composing without PipeWire: the processor time of whole processes per output frame,
/// minus that of reading the input.
struct OfflineRows {
    let clips: Clips
    let pairs: Int
    let frames: Int
    let isQuick: Bool
    /// The binary in which DualCam's own sides run: by default this one.
    var program = "/proc/self/exe"

    func rows(
        _ input: Input,
        gstreamer: Double? = nil,
        ffmpeg: Double? = nil,
        floor: Double? = nil
    ) throws -> [Row] {
        try check(input)
        let hasFloor = input.isMotion
        let reading = (
            dualcam: try cost(.dualcam, input, frames: 0),
            floor: hasFloor ? try cost(.floor, input, frames: 0) : 0,
            gstreamer: try cost(.gstreamer, input, .read),
            ffmpeg: try cost(.ffmpeg, input, .read)
        )
        var own: [Double] = []
        var bare: [Double] = []
        var peers: [Peer: [Double]] = [:]
        var cheap: [Peer: [Double]] = [:]
        for pair in 0..<pairs {
            peers[.gstreamer, default: []].append(
                try cost(.gstreamer, input, .compose) - reading.gstreamer
            )
            own.append(try cost(.dualcam, input, frames: frames) - reading.dualcam)
            if hasFloor { bare.append(try cost(.floor, input, frames: frames) - reading.floor) }
            peers[.ffmpeg, default: []].append(try cost(.ffmpeg, input, .compose) - reading.ffmpeg)
            // These have no target.
            guard !isQuick, pair < 2 else { continue }
            cheap[.gstreamer, default: []].append(
                try cost(.gstreamer, input, .composeCheaply) - reading.gstreamer
            )
            cheap[.ffmpeg, default: []].append(
                try cost(.ffmpeg, input, .composeCheaply) - reading.ffmpeg
            )
        }
        func times(_ values: [Double]) -> [Double] { values.map { $0 / Double(frames) * 1000 } }
        var rows = [Row("\(input.name): DualCam", "ms", times(own))]
        for peer in Peer.allCases {
            let values = peers[peer] ?? []
            rows.append(Row("\(input.name): \(peer.rawValue)", "ms", times(values)))
            let (name, target) = (
                "\(input.name): DualCam ÷ \(peer.rawValue)", peer == .gstreamer ? gstreamer : ffmpeg
            )
            rows.append(Row(name, target: target, own, over: values))
            if let values = cheap[peer] {
                rows.append(Row("\(name) at its cheapest", own, over: values))
            }
        }
        if hasFloor {
            rows.append(Row("\(input.name): floor: libjpeg-turbo and a copy", "ms", times(bare)))
            rows.append(Row("\(input.name): DualCam ÷ floor", target: floor, own, over: bare))
            if let values = cheap[.gstreamer] {
                let name = "\(input.name): floor ÷ gstreamer at its cheapest"
                rows.append(Row(name, bare, over: values))
            }
        }
        return rows
    }

    /// Returns the cost per pixel at several sizes relative to 1080p, with cameras as large as the
    /// output.
    func sizes() throws -> [Row] {
        for size in Clips.sizes { try clips.make(size) }
        var costs: [[Double]] = Clips.sizes.map { _ in [] }
        let counts = Clips.sizes.map { 60 * Clips.size.area / $0.area }
        for _ in 0..<pairs {
            for (index, size) in Clips.sizes.enumerated() {
                let cost = try [counts[index], 0].map {
                    try Usage.of(
                        program,
                        words("--side dualcam --clip \(clips.jpegs(size)) --frames \($0)")
                    ).processor
                }
                costs[index].append((cost[0] - cost[1]) / Double(counts[index] * size.area))
            }
        }
        let base = Clips.sizes.firstIndex(of: Clips.size) ?? 0
        return Clips.sizes.indices.filter { $0 != base }.map { index in
            Row(
                "cost of a pixel, two MJPEG cameras: \(Clips.sizes[index]) ÷ \(Clips.size)",
                "",
                target: 1.25,
                least: 0.75,
                zip(costs[index], costs[base]).map { $0 / $1 }
            )
        }
    }

    /// Returns the rows of `input` beside the same work of `base`, another binary of the benchmark.
    /// The two run in turn, and change places each time: what slows the machine slows both.
    func rows(_ input: Input, against base: String) throws -> [Row] {
        var before = self
        before.program = base
        func cost(_ rows: OfflineRows) throws -> Double {
            let work = try rows.cost(.dualcam, input, frames: frames)
            return try work - rows.cost(.dualcam, input, frames: 0)
        }
        // The first run of each finds its files on the disk.
        _ = try (cost(before), cost(self))
        var values: (before: [Double], now: [Double]) = ([], [])
        for pair in 0..<2 * pairs {
            if pair % 2 == 0 { values.before.append(try cost(before)) }
            values.now.append(try cost(self))
            if pair % 2 == 1 { values.before.append(try cost(before)) }
        }
        func times(_ values: [Double]) -> [Double] { values.map { $0 / Double(frames) * 1000 } }
        return [
            Row("\(input.name): before", "ms", times(values.before)),
            Row("\(input.name): now", "ms", times(values.now)),
            Row("\(input.name): now ÷ before", target: 1.02, values.now, over: values.before),
        ]
    }

    private func cost(_ side: Side, _ input: Input, frames: Int) throws -> Double {
        let arguments = [
            "--side", side.rawValue, "--clip", input.path(clips), "--frames", "\(frames)",
        ]
        return try Usage.of(program, arguments).processor
    }

    private func cost(_ peer: Peer, _ input: Input, _ task: Peer.Task) throws -> Double {
        let (program, arguments) = peer.command(input, clips, task, frames: frames)
        return try Usage.of(program, arguments).processor
    }

    // MARK: Check of the pictures

    /// Checks that all programs make the same picture, except for the decoration of the inset,
    /// which only DualCam has.
    private func check(_ input: Input) throws {
        let own = "\(clips.directory)/dualcam.yuy2"
        _ = try Usage.of(
            program,
            ["--side", "dualcam", "--clip", input.path(clips), "--frames", "1", "--picture", own]
        )
        for peer in Peer.allCases {
            let path = "\(clips.directory)/\(peer.rawValue).yuy2"
            let (program, arguments) = peer.command(input, clips, .picture(path), frames: 3)
            _ = try Usage.of(program, arguments)
            let (main, inset) = try likeness(own, path, isFull: input.isMotion)
            say(
                "\(input.name): \(peer.rawValue)'s picture is like ours to"
                    + " \(Int(main)) dB, its inset to \(Int(inset)) dB"
            )
            guard main > 34, inset > 26 else {
                throw BenchError("\(peer.rawValue) makes another picture: \(path)")
            }
        }
    }

    /// Returns the similarity of two packed pictures (PSNR of luma and chroma together): of the
    /// main picture, left of the inset and below it, and of the inset, away from its edges and its
    /// icon. The other picture may be in full range.
    private func likeness(
        _ one: String,
        _ other: String,
        isFull: Bool
    ) throws -> (main: Double, inset: Double) {
        let pictures = try [one, other].map { try ClipFile($0) }
        guard pictures.allSatisfy({ $0.bytes.count >= 2 * Clips.size.area }) else {
            throw BenchError("no whole picture in \(other)")
        }
        func level(_ value: UInt8, isLuma: Bool) -> Int {
            guard isFull else { return Int(value) }
            return isLuma ? Int(value) * 219 / 255 + 16 : (Int(value) - 128) * 224 / 255 + 128
        }
        func psnr(_ columns: Range<Int>, _ rows: Range<Int>) -> Double {
            var sum = 0
            for y in rows {
                for x in 2 * columns.lowerBound..<2 * columns.upperBound {
                    let index = y * 2 * Clips.size.width + x
                    let difference =
                        Int(pictures[0].bytes[index])
                        - level(pictures[1].bytes[index], isLuma: x % 2 == 0)
                    sum += difference * difference
                }
            }
            let mean = Double(sum) / Double(2 * columns.count * rows.count)
            return mean == 0 ? 99 : 10 * log10(255 * 255 / mean)
        }
        let inset = Side.inset
        return (
            psnr(0..<inset.x - 60, 0..<Clips.size.height),
            psnr(inset.x + 40..<inset.x + inset.width - 40, inset.y + 40..<inset.y + 150)
        )
    }
}
