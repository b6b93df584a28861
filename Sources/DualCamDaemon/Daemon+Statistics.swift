import DBusKit
import DualCamCore
import Engine
import Platform

extension Daemon {
    /// The value of `Stream.Statistics`, as `dbus/org.dualcam.DualCam1.Stream.xml` describes it.
    var statistics: [String: Value] {
        let frames = frameCounts
        let cameras = PerRole(counts)
        func each(_ value: (FrameSlot.Counts) -> Value) -> [String: Value] {
            ["back": value(cameras.back), "front": value(cameras.front)]
        }
        let drops = each(Self.drops).merging(["unbuffered": .uint64(frames.unbuffered)]) { $1 }
        return [
            "frames-published": .uint64(frames.published),
            "frames-repeated": .uint64(frames.repeated),
            "drops": .named(drops),
            "noisy": .named(each { .uint64($0.noisy) }),
            "opening": .named(each { Self.times($0.opening) }),
            "decode": .named(each { Self.times($0.decode) }),
            "wait": Self.times(frames.wait),
            "composite": Self.times(frames.composite),
            "publish": Self.times(frames.publish),
            "latency": Self.times(frames.latency),
            "scheduling": .named(scheduling),
            "memory": .uint64(Memory.used),
        ]
    }

    /// The scheduling of each thread that keeps time, by the thread's name.
    private var scheduling: [String: Value] {
        var scheduling: [String: Value] = [:]
        for member in threads.timed.members {
            guard let now = RealTimeThreads.scheduling(of: member.id) else { continue }
            scheduling[member.name] = .string(now.rawValue)
        }
        return scheduling
    }

    private static func drops(_ counts: FrameSlot.Counts) -> Value {
        .named([
            "damaged": .uint64(counts.damaged),
            "missing": .uint64(counts.missing),
            "replaced": .uint64(counts.replaced),
        ])
    }

    private static func times(_ durations: Durations) -> Value {
        .named([
            "count": .uint64(durations.count),
            "p50": .uint64(durations.quantile(0.5)),
            "p99": .uint64(durations.quantile(0.99)),
            "longest": .uint64(UInt64(max(0, durations.longest)) / 1000),
        ])
    }
}
