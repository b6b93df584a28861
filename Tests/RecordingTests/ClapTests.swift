import Foundation
import Frames
import Platform
import Synchronization
import TestSupport
import Testing

@testable import Recording

@Suite("Sound", .timeLimit(.minutes(2))) struct ClapTests {
    /// What a microphone told.
    private final class Heard: Sendable {
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
                case .ended: state.hasEnded = true
                }
            }
        }
    }

    @Test("a flash and a beep made at one moment are at one moment in the file")
    func clap() throws {
        try PrivateSession.with([.bus, .pipewire, .wireplumber]) { session in
            let beeper = try Beeper(in: session)
            defer { withExtendedLifetime(beeper) {} }
            let folder = try Folder()
            let heard = Heard()
            let microphone = try Microphone(remote: session.socket) { heard.take($0) }
            defer {
                microphone.end(at: .zero)
                _ = microphone.wait(until: MonotonicClock.now + Timestamp(seconds: 30))
            }
            let track = try eventually("the microphone", within: 20) {
                if let silence = heard.state.withLock({ $0.silence }) {
                    throw TimedOut(silence, after: 0)
                }
                return heard.state.withLock { $0.track }
            }
            let start = MonotonicClock.now
            let path = "\(folder.path)/clap"
            var plan = Recorder.Plan("stream", stem: path, start: start, rate: 30)
            plan.sound = track
            let recorder = try Recorder(plan) { _ in }
            heard.state.withLock { $0.recorder = recorder }
            microphone.begin(at: start)
            // A picture every 20 ms that is white in the first 50 ms of each second.
            var time = start
            let end = start + Timestamp(seconds: 4)
            let size = Size(width: 64, height: 64)
            let layout = FrameLayout(size: size, format: .i420)
            while time < end {
                let part = time.seconds - time.seconds.rounded(.down)
                let buffer = FrameBuffer(byteCount: layout.byteCount)
                buffer.bytes.initializeMemory(as: UInt8.self, repeating: 128)
                let luma = UnsafeMutableRawBufferPointer(
                    rebasing: buffer.bytes[..<layout.plane(1).offset]
                )
                luma.initializeMemory(as: UInt8.self, repeating: part < 0.05 ? 235 : 16)
                recorder.take(
                    Frame(
                        buffer: buffer,
                        layout: layout,
                        color: .video,
                        timestamp: time,
                        sequence: 0
                    )
                )
                time = time + Timestamp(seconds: 0.02)
                while MonotonicClock.now < time { usleep(1000) }
            }
            microphone.end(at: end)
            try eventually("the end of the sound", within: 20) {
                heard.state.withLock { $0.hasEnded }
            }
            recorder.end(at: end)
            #expect(recorder.wait(until: MonotonicClock.now + Timestamp(seconds: 30)))
            heard.state.withLock { $0.recorder = nil }

            let probe = try Probe("\(path).mkv")
            try #require(probe.streams.map(\.codecName) == ["h264", "opus"])
            #expect(abs(try #require(probe.duration) - 4) < 0.1)
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
            // The sound may begin after the first sound packet; what is decoded is counted from it.
            let shift = max(0, probe.soundTimes.first ?? 0)
            let offsets = flashes.compactMap { flash in
                beeps.map { $0 + shift - flash }.min { abs($0) < abs($1) }
            }.filter { abs($0) < 0.4 }
            let worst = offsets.map { abs($0) }.max() ?? 1
            let told = offsets.map { "\(Int(($0 * 1000).rounded()))" }.joined(separator: ", ")
            print("flash and beep: the beep is late by \(told) ms")
            #expect(offsets.count >= 2)
            #expect(worst <= 0.04)
        }
    }

    @Test("without a microphone there is no sound, and it says so")
    func noMicrophone() throws {
        try PrivateSession.with([.bus, .pipewire, .wireplumber]) { session in
            let heard = Heard()
            let microphone = try Microphone(remote: session.socket) { heard.take($0) }
            try eventually("the word", within: 20) {
                heard.state.withLock { $0.silence == "PipeWire has no microphone" }
            }
            microphone.end(at: MonotonicClock.now)
            #expect(microphone.wait(until: MonotonicClock.now + Timestamp(seconds: 20)))
            session.kill(.pipewire)
            let later = try Microphone(remote: session.socket) { heard.take($0) }
            try eventually("the word", within: 20) {
                heard.state.withLock { $0.silence?.contains("pw_context_connect") ?? false }
            }
            #expect(later.wait(until: MonotonicClock.now + Timestamp(seconds: 20)))
        }
    }
}
