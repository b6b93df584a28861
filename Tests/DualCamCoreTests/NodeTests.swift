import Frames
import Testing

@testable import DualCamCore

@Suite("The nodes and their consumers")
struct NodeTests {
    var state = State.withTwoCameras()

    @discardableResult
    mutating func apply(_ events: Event..., at seconds: Double = 0) -> [Effect] {
        events.flatMap { reduce(&state, $0, at: Timestamp(seconds: seconds)) }
    }

    /// Has two consumers take frames of the stream and of both cameras' own nodes.
    mutating func begin() {
        for role in Role.allCases { apply(.camera(role, .assigned(name: "A camera"))) }
        apply(.stream(.start), .node(nil, .published(id: 7)))
        apply(.node(nil, .consumers(2)), .node(nil, .consumed(true)))
        for role in Role.allCases {
            apply(
                .node(role, .published(id: role == .back ? 8 : 9)),
                .node(role, .consumers(2)),
                .node(role, .consumed(true))
            )
        }
    }

    @Test("a node that is lost takes its consumers with it")
    mutating func loss() {
        begin()
        #expect(state.consumers == 2)
        apply(.node(nil, .lost(reason: "PipeWire is gone")))
        #expect(state.consumers == 0 && !state.isConsumed && state.nodeID == nil)
        #expect(state.nodeProblem == "PipeWire is gone" && state.streamPhase == .interrupted)
        apply(.node(.back, .lost(reason: "no")))
        #expect(state.cameras.back.node.consumers == 0 && !state.cameras.back.node.isConsumed)
        #expect(state.cameras.back.node.id == nil && state.cameras.back.node.problem == "no")
        #expect(state.cameras.front.node.consumers == 2, "the other camera's node is there")
        apply(.node(nil, .published(id: 17)), .node(.back, .published(id: 18)))
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
        apply(
            .node(nil, .viewers([obs, meet])),
            .loopback(LoopbackState(device: "/dev/video9", readers: [zoom]))
        )
        #expect(state.allViewers == [obs, zoom, meet])
        #expect(state.loopback.device == "/dev/video9")
        apply(.node(nil, .lost(reason: "no")))
        #expect(state.allViewers == [obs, zoom], "the other nodes are there")
        apply(.loopback(LoopbackState()))
        #expect(state.allViewers == [obs])
        apply(.stream(.stop))
        #expect(state.allViewers.isEmpty)
    }

    @Test("another size, or a stop, takes all consumers")
    mutating func end() {
        for event in [StreamEvent.setOutput(Size(width: 640, height: 480)), .stop] {
            state = State.withTwoCameras()
            begin()
            apply(.stream(event))
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
        apply(.stream(.stop), .node(nil, .withdrawn))
        for role in [nil, Role.back] {
            apply(
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

    @Test("a start that fails is announced once, and a later success too")
    mutating func failure() {
        apply(.stream(.start))
        let failed = Effect.announce(.failedToStart(reason: "no"))
        #expect(apply(.node(nil, .lost(reason: "no"))) == [failed])
        #expect(apply(.node(nil, .lost(reason: "still no"))) == [])
        #expect(apply(.node(nil, .published(id: 7))) == [.announce(.didStart)])
        #expect(apply(.node(nil, .lost(reason: "gone"))) == [], "it had started")
        #expect(apply(.node(nil, .published(id: 8))) == [])
    }

    @Test("the grace period of one node closes no camera that another's consumer looks at")
    mutating func grace() {
        begin()
        apply(.node(nil, .consumed(false)), .node(nil, .graceOver))
        #expect(!state.needsCameras && state.cameras.back.isAsked && state.cameras.front.isAsked)
        apply(.node(.front, .graceOver))
        #expect(state.cameras.front.isAsked, "its consumer is there")
        #expect(apply(.node(.front, .consumed(false))) == [.startCameraGrace(.front)])
        #expect(
            apply(.node(.front, .graceOver)) == [.closeCamera(.front, keepsPicture: false)]
        )
        #expect(state.cameras.back.isAsked)
    }

    @Test("a start of the cameras within half a second shows no notice")
    mutating func neededSince() {
        for role in Role.allCases { apply(.camera(role, .assigned(name: "A camera"))) }
        apply(.stream(.start), .node(nil, .published(id: 7)))
        apply(.node(nil, .consumed(true)), at: 5)
        #expect(state.neededSince == Timestamp(seconds: 5))
        apply(.node(nil, .consumed(false)), .node(nil, .consumed(true)), at: 6)
        #expect(state.neededSince == Timestamp(seconds: 5), "they were needed all the time")
        apply(.node(nil, .consumed(false)), .node(nil, .graceOver), at: 7)
        apply(.node(.back, .published(id: 8)), .node(.back, .consumed(true)), at: 8)
        #expect(state.neededSince == Timestamp(seconds: 8))
    }
}
