import Foundation
import Frames
import Glibc
import Platform
import Synchronization
import TestJPEGs
import TestSupport
import Testing

@testable import Media

@Suite("Sound", .timeLimit(.minutes(2))) struct ClapTests {
    private final class MicrophoneLog: Sendable {
        struct State {
            var track: Track?
            var silence: String?
            var hasEnded = false
            var recorder: Recorder?
        }
        let state = Mutex(State())
        func take(_ report: Microphone.Report) {
            state.withLock { state in
                switch report {
                case .ready(let track): state.track = track
                case .silent(let reason): state.silence = reason
                case .packet(let packet): state.recorder?.take(sound: packet)
                case .level: break
                case .ended: state.hasEnded = true
                }
            }
        }
    }

    /// Returns the seconds for which each thread of `processes` was ready to run so far without a
    /// processor, and those that the host of a virtual machine took from each processor: schedstat
    /// and stat of proc(5).
    private func waits(of processes: [pid_t]) -> [String: Double] {
        var waits: [String: Double] = [:]
        func read(_ path: String, _ take: ([Substring]) -> Void) {
            let text = (try? String(contentsOfFile: path, encoding: .utf8)) ?? ""
            for line in text.split(separator: "\n") { take(line.split(separator: " ")) }
        }
        for process in processes {
            for thread in entries(of: "/proc/\(process)/task") {
                read("/proc/\(process)/task/\(thread)/schedstat") { numbers in
                    waits[thread] = Double(numbers[1]).map { $0 / 1e9 }
                }
            }
        }
        read("/proc/stat") { numbers in
            guard numbers[0].hasPrefix("cpu"), numbers.count > 8 else { return }
            waits[String(numbers[0])] = Double(numbers[8]).map { $0 / 100 }
        }
        return waits
    }

    @Test("a flash and a beep made at one moment are at one moment in the file, after a pause, too")
    func clap() throws {
        try PrivateSession.with([.bus, .pipewire, .wireplumber]) { session in
            let beeper = try Beeper(in: session)
            defer { withExtendedLifetime(beeper) {} }
            let folder = try Folder()
            let log = MicrophoneLog()
            let microphone = try Microphone(remote: session.socket) { log.take($0) }
            defer {
                microphone.end(at: .zero)
                _ = microphone.wait(until: MonotonicClock.now + Timestamp(seconds: 30))
            }
            let track = try eventually("the microphone", within: 20) {
                if let silence = log.state.withLock({ $0.silence }) {
                    throw TimedOut(silence, after: 0)
                }
                return log.state.withLock { $0.track }
            }
            let waited = waits(of: [getpid()] + session.processes)
            let start = MonotonicClock.now
            let path = "\(folder.path)/clap"
            var plan = Recorder.Plan("stream", stem: path, start: start, rate: 30)
            plan.sound = track
            let recorder = try Recorder(plan) { _ in }
            log.state.withLock { $0.recorder = recorder }
            microphone.begin(at: start)
            // A picture every 20 ms that is white in the first 50 ms of each second.
            var time = start
            let end = start + Timestamp(seconds: 4.5)
            // Between two beeps.
            var pauses = Pauses()
            let second = (start.seconds + 1.5).rounded(.up)
            let pause = Timestamp(seconds: second + 0.3)..<Timestamp(seconds: second + 0.8)
            let size = Size(width: 64, height: 64)
            while time < end {
                if pauses.isOpen != pause.contains(time) {
                    pauses.turn(on: !pauses.isOpen, at: time)
                    recorder.leaveOut(pauses)
                    microphone.leaveOut(pauses)
                }
                let part = time.seconds - time.seconds.rounded(.down)
                let luma: UInt8 = part < 0.05 ? 235 : 16
                let values = [luma, 128, 128]
                recorder.take(
                    flatFrame(size: size, format: .i420, color: .video, at: time, values)
                )
                time = time + Timestamp(seconds: 0.02)
                while MonotonicClock.now < time { usleep(1000) }
            }
            microphone.end(at: end)
            try eventually("the end of the sound", within: 20) {
                log.state.withLock { $0.hasEnded }
            }
            recorder.end(at: end)
            #expect(recorder.wait(until: MonotonicClock.now + Timestamp(seconds: 30)))
            log.state.withLock { $0.recorder = nil }

            let probe = try Probe("\(path).mkv")
            try #require(probe.streams.map(\.codecName) == ["h264", "opus"])
            // Sound that arrived between the end and its report is in there, too.
            #expect((3.9..<5).contains(try #require(probe.duration)))
            let lights = try brightness("\(path).mkv", crop: "64:64:0:0")
            let flashes = zip(lights, probe.times).enumerated().filter { index, frame in
                frame.0 > 128 && (index == 0 || lights[index - 1] <= 128)
            }.map(\.element.1)
            let sound = try decodedSound("\(path).mkv", rate: 48000)
            var beeps: [Double] = []
            for (index, sample) in sound.enumerated() where abs(Int(sample)) > 6000 {
                let time = Double(index) / 48000
                if time > (beeps.last ?? -1) + 0.5 { beeps.append(time) }
            }
            let resumed = pauses.place(of: pause.upperBound) - start
            #expect(flashes.contains { $0 > resumed.seconds }, "\(flashes)")
            // The sound may begin after the first packet; decoded samples are counted from that
            // packet.
            let shift = max(0, probe.soundTimes.first ?? 0)
            let offsets = flashes.compactMap { flash in
                beeps.map { $0 + shift - flash }.min { abs($0) < abs($1) }
            }.filter { abs($0) < 0.4 }
            let distances = offsets.map { abs($0) }.sorted()
            let told = offsets.map { "\(Int(($0 * 1000).rounded()))" }.joined(separator: ", ")
            print("flash and beep: the beep is late by \(told) ms")
            try #require(offsets.count >= 2)
            // A cycle that a busy machine misses shifts the sound, which catches up slowly: then
            // the later beeps cannot be in time.
            let late =
                waits(of: [getpid()] + session.processes)
                .map { thread, seconds in seconds - waited[thread, default: seconds] }.max() ?? 0
            #expect(distances[0] <= 0.04)
            #expect(distances[distances.count / 2] <= 0.04 + late)
        }
    }

    @Test("a microphone that is paused is not heard, and then is again")
    func pause() throws {
        try PrivateSession.with([.bus, .pipewire, .wireplumber]) { session in
            let beeper = try Beeper(in: session)
            defer { withExtendedLifetime(beeper) {} }
            let count = Mutex(0)
            let hasTrack = Mutex(false)
            let levels = Mutex<[Double]>([])
            let microphone = try Microphone(remote: session.socket) { report in
                switch report {
                case .ready: hasTrack.withLock { $0 = true }
                case .packet: count.withLock { $0 += 1 }
                case .level(let level): levels.withLock { $0.append(level) }
                case .silent, .ended: break
                }
            }
            defer {
                microphone.end(at: .zero)
                _ = microphone.wait(until: MonotonicClock.now + Timestamp(seconds: 30))
            }
            try eventually("the microphone", within: 20) { hasTrack.withLock { $0 } }
            microphone.begin(at: MonotonicClock.now)
            try eventually("sound", within: 20) { count.withLock { $0 } > 10 }
            #expect(levels.withLock { $0 } == [], "nobody measures")
            microphone.measure(true)
            try eventually("a beep's level", within: 20) {
                levels.withLock { $0.contains { $0 > 0.1 } }
            }
            #expect(levels.withLock { $0.allSatisfy { (0...1).contains($0) } })
            microphone.measure(false)
            microphone.pause(true)
            var (last, since) = (0, MonotonicClock.now)
            try eventually("half a second without sound", within: 20) {
                let now = count.withLock { $0 }
                if now != last { (last, since) = (now, MonotonicClock.now) }
                return MonotonicClock.now > since + Timestamp(seconds: 0.5)
            }
            microphone.pause(false)
            try eventually("sound again", within: 20) { count.withLock { $0 } > last + 10 }
        }
    }

    @Test("a microphone that is lost says so, and another one is heard again")
    func lost() throws {
        try PrivateSession.with([.bus, .pipewire, .wireplumber]) { session in
            var beeper: Beeper? = try Beeper(in: session)
            let log = MicrophoneLog()
            let microphone = try Microphone(remote: session.socket) { log.take($0) }
            defer {
                microphone.end(at: .zero)
                _ = microphone.wait(until: MonotonicClock.now + Timestamp(seconds: 30))
            }
            func waitForSound() throws {
                try eventually("sound", within: 20) { log.state.withLock { $0.track != nil } }
            }
            microphone.begin(at: MonotonicClock.now)
            try waitForSound()
            withExtendedLifetime(beeper) {}
            beeper = nil
            try eventually("the word", within: 20) {
                log.state.withLock { $0.silence == "the microphone is gone" }
            }
            log.state.withLock { $0.track = nil }
            beeper = try Beeper(in: session)
            defer { withExtendedLifetime(beeper) {} }
            try waitForSound()
        }
    }

    @Test("without a microphone there is no sound, and it says so")
    func noMicrophone() throws {
        try PrivateSession.with([.bus, .pipewire, .wireplumber]) { session in
            let log = MicrophoneLog()
            let microphone = try Microphone(remote: session.socket) { log.take($0) }
            try eventually("the word", within: 20) {
                log.state.withLock { $0.silence == "there is no microphone" }
            }
            microphone.end(at: MonotonicClock.now)
            #expect(microphone.wait(until: MonotonicClock.now + Timestamp(seconds: 20)))
            session.kill(.pipewire)
            let later = try Microphone(remote: session.socket) { log.take($0) }
            try eventually("the word", within: 20) {
                log.state.withLock { $0.silence?.contains("cannot connect to PipeWire") ?? false }
            }
            #expect(later.wait(until: MonotonicClock.now + Timestamp(seconds: 20)))
        }
    }
}
