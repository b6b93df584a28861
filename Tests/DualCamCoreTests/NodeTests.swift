import Frames
import Testing

@testable import DualCamCore

@Suite("The nodes and their consumers") struct NodeTests: Reducing {
    var state = State.withTwoCameras()

    /// Has two consumers take frames of the stream and of both cameras' own nodes.
    mutating func begin() {
        for role in Role.allCases { send(.assigned(role)) }
        send(.stream(.start), .published, .node(nil, .consumers(2)), .consumed(true))
        for role in Role.allCases {
            send(
                .node(role, .published(id: role == .back ? 8 : 9)),
                .node(role, .consumers(2)),
                .node(role, .consumed(true))
            )
        }
    }

    @Test mutating func `a node that is lost takes its consumers with it`() {
        begin()
        #expect(state.consumers == 2)
        send(.node(nil, .lost(reason: "PipeWire is gone")))
        #expect(state.consumers == 0 && !state.isConsumed && state.nodeID == nil)
        #expect(state.nodeProblem == "PipeWire is gone" && state.streamPhase == .interrupted)
        send(.node(.back, .lost(reason: "no")))
        #expect(state.cameras.back.node.consumers == 0 && !state.cameras.back.node.isConsumed)
        #expect(state.cameras.back.node.id == nil && state.cameras.back.node.problem == "no")
        #expect(state.cameras.front.node.consumers == 2, "the other camera's node is there")
        send(.node(nil, .published(id: 17)), .node(.back, .published(id: 18)))
        #expect(state.nodeProblem == "" && state.cameras.back.node.problem == "")
    }

    @Test("who looks is told of all nodes and of the loopback device, in the order of coming")
    mutating func viewers() {
        begin()
        func viewer(_ name: String, since: Int64, through: String = "") -> Viewer {
            Viewer(name: name, application: "", process: 1, since: since, through: through)
        }
        let (meet, obs) = (
            viewer("meet", since: 3), viewer("obs", since: 1, through: "dualcam.back")
        )
        let zoom = viewer("zoom", since: 2, through: "/dev/video9")
        send(
            .node(nil, .viewers([obs, meet])),
            .loopback(LoopbackState(device: "/dev/video9", readers: [zoom]))
        )
        #expect(state.allViewers == [obs, zoom, meet])
        #expect(state.loopback.device == "/dev/video9")
        send(.node(nil, .lost(reason: "no")))
        #expect(state.allViewers == [obs, zoom], "the other nodes are there")
        send(.loopback(LoopbackState()))
        #expect(state.allViewers == [obs])
        send(.stream(.stop))
        #expect(state.allViewers.isEmpty)
    }

    @Test mutating func `another size, or a stop, takes all consumers`() {
        for event in [StreamEvent.setOutput(Size(width: 640, height: 480)), .stop] {
            state = State.withTwoCameras()
            begin()
            send(.stream(event))
            #expect(state.consumers == 0 && !state.isConsumed && state.nodeID == nil, "\(event)")
            for role in Role.allCases {
                let node = state.cameras[role].node
                #expect(node.id == nil && node.consumers == 0 && !node.isConsumed, "\(event)")
                #expect(node.problem == "")
            }
        }
    }

    @Test("what a withdrawn node reports late counts for nothing")
    mutating func late() {
        begin()
        send(.stream(.stop), .withdrawn)
        for role in [nil, Role.back] {
            send(
                .node(role, .published(id: 1)),
                .node(role, .consumers(3)),
                .node(role, .consumed(true)),
                .node(role, .lost(reason: "late"))
            )
        }
        #expect(state.nodeID == nil && state.consumers == 0 && !state.isConsumed)
        #expect(state.nodeProblem == "" && state.streamPhase == .stopped)
        let node = state.cameras.back.node
        #expect(node.id == nil && node.consumers == 0 && !node.isConsumed && node.problem == "")
    }

    @Test mutating func `a start that fails is announced once, and a later success too`() {
        send(.stream(.start))
        let failed = Effect.announce(.failedToStart(reason: "no"))
        #expect(send(.node(nil, .lost(reason: "no"))) == [failed])
        #expect(!state.isPossible && state.streamPhase == .interrupted)
        #expect(send(.node(nil, .lost(reason: "still no"))) == [])
        #expect(send(.published) == [.announce(.didStart)])
        #expect(state.streamPhase == .idle)
        #expect(send(.node(nil, .lost(reason: "gone"))) == [], "it had started")
        #expect(send(.node(nil, .published(id: 8))) == [])
    }

    @Test("a start of the cameras within half a second shows no notice")
    mutating func neededSince() {
        for role in Role.allCases { send(.assigned(role)) }
        send(.stream(.start), .published)
        send(.consumed(true), at: 5)
        #expect(state.neededSince == Timestamp(seconds: 5))
        send(.consumed(false), .consumed(true), at: 6)
        #expect(state.neededSince == Timestamp(seconds: 5), "they were needed all the time")
        send(.consumed(false), .graceOver, at: 7)
        send(.node(.back, .published(id: 8)), .node(.back, .consumed(true)), at: 8)
        #expect(state.neededSince == Timestamp(seconds: 8))
    }
}
