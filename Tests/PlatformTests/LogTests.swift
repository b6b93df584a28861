import Frames
import Glibc
import Logging
import Testing

@testable import Platform

@Suite struct LogTests {
    private func logged(
        _ message: String,
        at level: Logger.Level = .warning,
        error: (any Error)? = nil,
        metadata: Logger.Metadata = [:]
    ) -> LogEntry {
        LogEntry(
            event: LogEvent(
                level: level,
                message: "\(message)",
                error: error,
                metadata: metadata,
                source: "Capture",
                file: "Capture/Stream.swift",
                function: "open()",
                line: 12
            ),
            category: "capture",
            metadata: ["camera": "back", "mode": "auto"]
        )
    }

    @Test func theJournalGetsStructuredFields() {
        let entry = logged(
            "the camera is gone",
            error: SystemError("VIDIOC_DQBUF", "/dev/video0", errno: ENODEV),
            metadata: ["mode": "640x480\n@30", "strange key=ä": "1"]
        )
        #expect(
            entry.journalFields == [
                "MESSAGE=the camera is gone: no picture came from /dev/video0: it is not "
                    + "there any more camera=back mode=\"640x480\n@30\" strange key=ä=1",
                "PRIORITY=4",
                "CODE_FILE=Capture/Stream.swift",
                "CODE_LINE=12",
                "CODE_FUNC=open()",
                "DUALCAM_CATEGORY=capture",
                "ERRNO=19",
                "DUALCAM_CAMERA=back",
                "DUALCAM_MODE=640x480\n@30",
                "DUALCAM_STRANGE_KEY__=1",
            ]
        )
    }

    @Test func aFieldNameIsNeverLongerThanTheJournalTakes() {
        let fields = logged("x", metadata: [String(repeating: "k", count: 100): "v"]).journalFields
        #expect(fields.allSatisfy { ($0.split(separator: "=").first?.count ?? 0) <= 64 })
    }

    @Test(arguments: [
        (Logger.Level.critical, 2, "crit"), (.error, 3, "err"), (.warning, 4, "warning"),
        (.notice, 5, "notice"), (.info, 6, "info"), (.debug, 7, "debug"),
    ])
    func levelsAreThoseOfSyslog(level: Logger.Level, priority: Int, word: String) {
        #expect(logged("x", at: level).journalFields.contains("PRIORITY=\(priority)"))
        #expect(level.syslogWord == word)
        #expect(Logger.Level(syslogWord: word) == level)
    }

    @Test func noOtherWordIsALevel() {
        #expect(Logger.Level(syslogWord: "loud") == nil)
        #expect(Logger.Level(syslogWord: "") == nil)
    }

    @Test func theConsoleGetsALine() {
        let line = logged("gone", metadata: ["name": "Desk Cam", "mode": ""])
            .line(at: 0, colored: false)
        #expect(
            line.dropFirst(8) == " warning capture: gone camera=back mode=\"\" name=\"Desk Cam\"\n"
        )
        let quoted = logged("gone", metadata: ["name": "17\"-Display"])
        #expect(quoted.line(at: 0, colored: false).hasSuffix(" name=\"17\\\"-Display\"\n"))
        let clock = line.prefix(8).split(separator: ":")
        #expect(clock.count == 3 && clock.allSatisfy { $0.count == 2 && Int($0) != nil })
    }

    @Test func coloursAreForTerminalsOnly() {
        #expect(logged("x", at: .error).line(at: 0, colored: true).contains("\u{1b}[31merror"))
        #expect(logged("x", at: .error).line(at: 0, colored: true).hasSuffix("\u{1b}[0m\n"))
        #expect(!logged("x", at: .info).line(at: 0, colored: true).contains("\u{1b}"))
        #expect(!logged("x", at: .error).line(at: 0, colored: false).contains("\u{1b}"))
    }

    @Test func whatComesFromOutsideCannotSteerTheTerminal() {
        let line = logged("a\u{1b}[2Jb", metadata: ["name": "x\ny\u{7}"])
            .line(at: 0, colored: false)
        let controls = line.unicodeScalars.filter { $0.properties.generalCategory == .control }
        #expect(controls.map(\.value) == [10])
    }

    @Test func repeatsAreHeldBackAndCounted() {
        var limit = RepeatLimit()
        let start: Int64 = 1_000_000_000_000
        func at(_ seconds: Double) -> Timestamp {
            Timestamp(nanoseconds: start + Int64(seconds * 1e9))
        }
        for i in 0..<20 { #expect(limit.admit("bad frame", at: at(Double(i) / 4)) == 0) }
        for _ in 0..<70 { #expect(limit.admit("bad frame", at: at(5)) == nil) }
        #expect(limit.admit("another", at: at(5)) == 0)
        #expect(limit.admit("bad frame", at: at(9.9)) == nil)
        #expect(limit.admit("bad frame", at: at(10)) == 71)
        #expect(limit.admit("bad frame", at: at(11)) == 0)
    }

    @Test func manyDifferentMessagesTakeNoMemoryForEver() {
        var limit = RepeatLimit()
        for i in 0..<10_000 {
            #expect(limit.admit("\(i)", at: Timestamp(nanoseconds: Int64(i))) == 0)
        }
        #expect(limit.count < 300)
    }

    @Test func levelAndTargetChangeWhileItRuns() {
        let output = LogOutput()
        var logger = Logger(label: "control") { LogStage(category: $0, output: output) }
        let other = Logger(label: "publish") { LogStage(category: $0, output: output) }
        #expect(logger.logLevel == .info)
        output.level = .debug
        #expect(logger.logLevel == .debug && other.logLevel == .debug)
        logger.logLevel = .error
        #expect(other.logLevel == .error)
        output.target = .journal
        #expect(output.target == .journal)
    }

    @Test func stderrGetsTheLinesOfTheLevelAndAbove() async throws {
        let result = await #expect(
            processExitsWith: .success,
            observing: [\.standardErrorContent]
        ) {
            unsetenv("JOURNAL_STREAM")
            Log.publish.info("hello", metadata: ["node": "42"])
            Log.publish.debug("quiet")
            Log.level = .debug
            Log.control.debug("loud")
        }
        let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(text.contains(" info publish: hello node=42\n"))
        #expect(text.contains(" debug control: loud\n"))
        #expect(!text.contains("quiet"))
    }

    @Test func theJournalIsTakenWhenItIsBehindStderr() async {
        await #expect(processExitsWith: .success) {
            var status = stat()
            fstat(STDERR_FILENO, &status)
            setenv("JOURNAL_STREAM", "\(status.st_dev):\(status.st_ino)", 1)
            precondition(LogOutput().target == .journal)
            setenv("JOURNAL_STREAM", "\(status.st_dev):\(status.st_ino + 1)", 1)
            precondition(LogOutput().target == .console)
            // Without a journal the message is lost, and nothing else happens.
            Journal.send(["MESSAGE=x", "PRIORITY=6"])
        }
    }
}
