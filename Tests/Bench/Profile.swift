import Foundation
import Frames
import Glibc
import Platform
import TestSupport

/// The daemon's processor time by thread and library, from samples of perf(1).
struct Profile {
    let clips: Clips

    /// Prints the shares for two noisy MJPEG cameras and one consumer.
    func run() throws {
        let file = "\(clips.directory)/perf.data"
        try PrivateSession.with { session in
            let daemon = try Daemon(DaemonRows.configuration(clips, .noisy), in: session)
            let reader = try StreamReader("dualcam", in: session)
            defer { reader.close() }
            try eventually("frames", within: 20) { reader.count > 45 }
            say("sampling for 8 s")
            let first = (daemon.watched.processor, reader.count)
            _ = try Usage.of(
                "perf",
                words(
                    "record -q -e cpu-clock -F 1999 -o \(file) -p \(daemon.program.id) -- sleep 8"
                )
            )
            let time = daemon.watched.processor - first.0
            let frames = Double(max(1, reader.count - first.1))
            print(String(format: "%.2f ms of processor time a frame", time * 1000 / frames))
            let report = words("report -q -i \(file) --stdio --sort comm,dso --percent-limit 1")
            print(try Usage.of("perf", report).output)
        }
    }
}
