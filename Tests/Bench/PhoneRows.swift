import Control
import DBusKit
import Foundation
import Frames
import Glibc
import Platform
import TestSupport

/// Returns the rate and the ages of the pictures that a phone's browser sends: over a network
/// without delays, also at 1080p, and over one with delays and losses that is gone for five
/// seconds; none without Chromium.
func phoneRows() throws -> [Row] {
    guard (try? Usage.of("chromium", ["--version"])) != nil else { return [] }
    let good = try PhoneAges()
    let large = try PhoneAges(of: Size(width: 1920, height: 1080))
    let bad = try PhoneAges(over: words("5 25 12e6 0.005"))
    return [
        Row("a phone at 720p: pictures a second", "1/s", least: 25, [good.rate]),
        Row("  age, from its page to a consumer: p50", "ms", target: 25, [good.quantile(0.5)]),
        Row("  p99", "ms", target: 70, [good.quantile(0.99)]),
        Row("  its helper", "% of a core", target: 1, [good.processor]),
        Row("  of memory its own", "MB", target: 8, [good.memory]),
        Row("  at 1080p: pictures a second", "1/s", least: 25, [large.rate]),
        Row("  made smaller (0: none)", "", target: 0, [large.isSmall ? 1 : 0]),
        Row("  age: p50", "ms", [large.quantile(0.5)]),
        Row("  p99", "ms", [large.quantile(0.99)]),
        Row("  at 5–25 ms, 12 Mbit/s, 0.5 % lost: a second", "1/s", least: 28, [bad.rate]),
        Row("  age: p50", "ms", target: 52, [bad.quantile(0.5)]),
        Row("  p99", "ms", [bad.quantile(0.99)]),
        Row("  back after 5 s without network in", "ms", target: 500, [bad.back.after]),
        Row("  age of the first picture then", "ms", target: 500, [bad.back.age]),
    ]
}

/// A measurement of a phone that is Chromium with `Tests/Phone/camera`, whose pictures say when its
/// page took them.
private struct PhoneAges {
    /// The ages in milliseconds of the pictures of ten seconds, when they came out of the stream.
    private var ages: [Double] = []
    private(set) var processor = Double.nan
    private(set) var memory = Double.nan
    /// `true` if the page sends smaller pictures in the end.
    private(set) var isSmall = false
    /// The milliseconds from the network's return to the first picture, and how old that was.
    private(set) var back = (after: Double.nan, age: Double.nan)

    private static let (settling, measuring, stall) = (5.0, 10.0, 5.0)

    var rate: Double { Double(ages.count) / Self.measuring }
    func quantile(_ share: Double) -> Double { ages.quantile(share) }

    /// Measures a stream of `size`, over the network that `Tests/Phone/air.py` makes of these
    /// words, or over loopback.
    init(of size: Size = Size(width: 1280, height: 720), over air: [String] = []) throws {
        let configuration = """
            [output]
            width = \(size.width)
            height = \(size.height)
            [cameras.back]
            source = "phone"
            [cameras.front]
            source = "test"
            [scene]
            layout = "single"
            """
        var result = self
        try PrivateSession.with { session in
            let daemon = try Daemon(configuration, in: session, network: true)
            let folder = repository.appending(path: "Tests/Phone").path
            let url = try daemon.call("Pair", of: .phone).first?.string ?? ""
            let command =
                PrivateNetwork.of(daemon.program.id)
                + (air.isEmpty ? [] : ["python3", "\(folder)/air.py"] + air)
                + chromium("\(session.directory)/phone") + [
                    "--ignore-certificate-errors", "--load-extension=\(folder)/camera",
                    "--disable-features=DisableLoadExtensionCommandLineSwitch", url,
                ]
            let browser = try session.run(command[0], Array(command.dropFirst()))
            let reader = try StreamReader("dualcam", in: session, copies: true)
            defer { reader.close() }
            var last: UInt32?
            /// Returns the next picture of the phone that was not seen before.
            func next() throws -> (arrival: Timestamp, age: Double) {
                try eventually("a phone's picture; it wrote: \(browser.errors)", while: browser) {
                    let frame = try reader.next()
                    guard let width = reader.format?.size.width, let stamp = stamp(frame, width),
                        stamp != last
                    else { return nil }
                    last = stamp
                    let age = age(of: stamp, in: frame)
                    // Another picture than the phone's.
                    return (-5...20000).contains(age) ? (frame.arrival, age) : nil
                }
            }
            let start = try next().arrival + Timestamp(seconds: Self.settling)
            while try next().arrival < start {}
            let children = try session.output("pgrep", "-P", "\(daemon.program.id)")
            let child = children.split(separator: "\n").first.flatMap { pid_t($0) }
            let helper = Watched(id: child ?? 0)
            let before = helper.processor
            while true {
                let (arrival, age) = try next()
                if arrival > start + Timestamp(seconds: Self.measuring) { break }
                result.ages.append(age)
            }
            result.processor = (helper.processor - before) / Self.measuring * 100
            result.memory = helper.memory.own
            let phones = try daemon.get("Phones", of: .phone).array ?? []
            result.isSmall = phones.first?.named?["slow"]?.boolean == true
            guard !air.isEmpty else { return }
            // Not the browser, which is in its group.
            kill(browser.id, SIGUSR1)
            let end = MonotonicClock.now + Timestamp(seconds: Self.stall)
            while true {
                // What was under way comes yet.
                let (arrival, age) = try next()
                guard arrival > end else { continue }
                result.back = ((arrival - end).seconds * 1000, age)
                break
            }
        }
        self = result
    }
}

/// Reads the time at the top of a frame of the stream, in milliseconds of UTC, of which it has the
/// low 32 bits.
private func stamp(_ frame: StreamReader.Frame, _ width: Int) -> UInt32? {
    let row = frame.bytes.count / max(frame.stride, 1) / 20 * frame.stride
    guard row > 0, 2 * width <= frame.stride else { return nil }
    return (0..<32).reduce(0) { stamp, bit in
        stamp << 1 | (frame.bytes[row + (2 * bit + 1) * width / 64 * 2] > 128 ? 1 : 0)
    }
}

/// Returns the milliseconds from `stamp` to the arrival of `frame`.
private func age(of stamp: UInt32, in frame: StreamReader.Frame) -> Double {
    var now = timespec()
    clock_gettime(CLOCK_REALTIME, &now)
    let milliseconds =
        Double(now.tv_sec) * 1000 + Double(now.tv_nsec) / 1e6
        - (MonotonicClock.now - frame.arrival).seconds * 1000
    return milliseconds.truncatingRemainder(dividingBy: 4_294_967_296) - Double(stamp)
}
