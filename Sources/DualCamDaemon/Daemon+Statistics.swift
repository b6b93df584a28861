import DBusKit
import DualCamCore
import Engine
import Platform

extension Daemon {
    /// The value of `Stream.Statistics`, as `dbus/org.dualcam.DualCam1.Stream.xml` describes it.
    var statistics: [String: Value] {
        let frames = frameCounts
        let cameras = PerRole(counts)
        return [
            "frames-published": .uint64(frames.published),
            "frames-repeated": .uint64(frames.repeated),
            "drops": .named([
                "unbuffered": .uint64(frames.unbuffered),
                "back": Self.drops(cameras.back),
                "front": Self.drops(cameras.front),
            ]),
            "noisy": .named([
                "back": .uint64(cameras.back.noisy),
                "front": .uint64(cameras.front.noisy),
            ]),
            "opening": .named([
                "back": Self.times(cameras.back.opening),
                "front": Self.times(cameras.front.opening),
            ]),
            "decode": .named([
                "back": Self.times(cameras.back.decode),
                "front": Self.times(cameras.front.decode),
            ]),
            "wait": Self.times(frames.wait),
            "composite": Self.times(frames.composite),
            "publish": Self.times(frames.publish),
            "latency": Self.times(frames.latency),
            "scheduling": .named(scheduling),
        ]
    }

    /// The scheduling of each thread that keeps time, by the thread's name.
    private var scheduling: [String: Value] {
        var scheduling: [String: Value] = [:]
        for member in timedThreads.members {
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
