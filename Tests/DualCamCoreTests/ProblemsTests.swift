import DualCamCore
import Frames
import Testing

@Suite("Problems that people are told") struct ProblemsTests: Reducing {
    var state = State.withTwoCameras()
    private var others = OtherProblems()

    init() { for role in Role.allCases { send(.assigned(role)) } }

    private var problems: [String] { state.problems(besides: others, Configuration().output) }

    @Test mutating func `There are none while all is well, and what is closed on purpose is none`()
    {
        #expect(problems == [])
        stream()
        #expect(problems == [])
        send(.session(.sleeping(true)))
        #expect(state.cameras.back.phase == .interrupted && problems == [])
        send(.session(.sleeping(false)), .privacy(.set(true)))
        #expect(state.cameras.back.phase == .interrupted && problems == [])
    }

    @Test mutating func `A camera that does not deliver is one, with what the system says`() {
        stream()
        send(.camera(.front, .interrupted(.busy, reason: "Zoom has it")))
        #expect(problems == ["In use by another program (front): zoom has it."])
        send(.camera(.front, .interrupted(.unreachable, reason: "cannot reach phone:80")))
        #expect(problems == ["Front camera not reachable: cannot reach phone:80."])
    }

    @Test mutating func `A camera that was not found has its own words, or else those on its file`()
    {
        var cameras = Configuration().cameras
        cameras.back.source = .file("/a/b.jpg")
        send(.cameras(.configured(cameras, ignored: [])))
        send(.cameras(.file("/a/b.jpg", isThere: false, hint: "Did you mean /a/c.jpg?")))
        #expect(state.cameras.back.interruption == .notFound)
        let text = problems.first ?? ""
        #expect(text.hasPrefix("The back camera was not found: ") && text.contains("/a/b.jpg"))
        #expect(text.hasSuffix(". Did you mean /a/c.jpg?") && problems.count == 1)
        state.cameras.back.problem = "Nothing is called that."
        #expect(problems == ["Nothing is called that."])
    }

    @Test mutating func `A camera without the room for its mode says which one it would send`() {
        stream()
        var less = mode
        less.size = Size(width: 640, height: 480)
        send(.streaming(.back, less, insteadOf: mode))
        let expected =
            "The back camera sends \(less) instead of \(mode), because the USB bandwidth is used up."
        #expect(problems == [expected])
    }

    @Test mutating func `Words that no font has are one, for as long as they are shown`() throws {
        others.unreadable = "小さい猫"
        #expect(problems == [])
        send(.set(\.title, try Title("小さい猫")))
        #expect(problems.count == 1 && problems[0].hasPrefix("No font that is installed has all"))
        send(.set(\.title, nil))
        #expect(problems == [])
        // Then there is no font at all.
        others.unreadable = "0"
        #expect(problems.count == 1 && problems[0].hasPrefix("There is no font, "))
    }

    @Test mutating func `A node that is missing is one, and its mirror none without it`() {
        stream()
        others.mirror = "the loopback device is in use"
        #expect(problems == ["The loopback device is in use."])
        send(.node(nil, .lost(reason: "PipeWire is gone")))
        #expect(problems == ["The stream is not on PipeWire: PipeWire is gone."])
        send(.node(nil, .published(id: 8)), .node(.front, .lost(reason: "PipeWire is full")))
        others.mirror = ""
        let name = Configuration().output.node(of: .front).name
        #expect(problems == ["The camera \(name) is not on PipeWire: PipeWire is full."])
    }

    @Test mutating func `They stand in one order, and those of recordings come last`() {
        others.configuration = ["the key x is unknown"]
        others.scenes = ["the scenes cannot be read"]
        others.recording = ["recording stopped: the disk is full"]
        send(.scenes(.chosen("Desk")))
        send(.scenes(.refusedLate(["back.iso": "No ISO.", "back.focus": "No focus."], of: "Desk")))
        for role in Role.allCases { send(.assigned(role, nil), .camera(role, .closed)) }
        #expect(
            problems == [
                "The key x is unknown.", "The scenes cannot be read.",
                "“back.focus” of the scene “Desk” was left out: no focus.",
                "“back.iso” of the scene “Desk” was left out: no ISO.",
                "There is no camera.", "Recording stopped: the disk is full.",
            ]
        )
    }
}

@Suite("The reason that a recording failed") struct RecordingFailureTests {
    @Test(arguments: [
        (
            RecordingFailure.noSpace("there is too little room on the disk"), "NoSpace",
            "there is too little room on the disk", "there is too little room on the disk"
        ),
        (.denied, "Denied", "permission denied", "permission denied in the directory for videos"),
        (.other("Cannot write x"), "Cannot write x", "cannot write x", "cannot write x"),
    ])
    func `It is a word where the user can help it, and words for people`(
        failure: RecordingFailure,
        word: String,
        text: String,
        recording: String
    ) {
        #expect(failure.word == word && RecordingFailure(word: word) == failure)
        #expect(failure.text == text && failure.recordingText == recording)
    }
}
