import Frames
import Testing

@testable import DualCamCore

@Suite("The permission to swap") struct SwapRefusalTests {
    private var state = State.withTwoCameras()
    private var rules = Configuration.Capture()

    init() { for role in Role.allCases { state.take(.assigned(role)) } }

    /// Returns the refusals of: the pictures as they are, swapped, changing places, and a scene
    /// with the front camera as the main one.
    private func refusals() -> [SwapRefusal?] {
        var refusals: [SwapRefusal?] = []
        for isSwapped in [state.scene.isSwapped, !state.scene.isSwapped] {
            do throws(SwapRefusal) {
                try state.allowSwap(to: isSwapped, by: rules)
                refusals.append(nil)
            } catch { refusals.append(error) }
        }
        do throws(SwapRefusal) {
            try state.allowExchange(by: rules)
            refusals.append(nil)
        } catch { refusals.append(error) }
        return refusals
    }

    /// Returns the keys that a scene with `main` as the main camera is refused, with the reasons.
    private func refusals(of main: Role) throws -> [String: String] {
        let text = "[[scene]]\nname = \"x\"\nmain = \"\(main.rawValue)\"\n"
        return state.refusals(of: try SceneBook(parsing: text).preset("x"), by: rules)
    }

    @Test mutating func `During a recording it is given if the configuration does`() throws {
        rules.allowsSwapWhileRecording = false
        #expect(refusals() == [nil, nil, nil])
        state.take(.recording(.start([.stream], sound: false)))
        for phase in [RecordingState.Phase.starting, .running, .ending] {
            state.recording.phase = phase
            #expect(refusals() == [nil, .recording, .recording])
            #expect(try refusals(of: .front) == ["main": SwapRefusal.recording.message])
            #expect(try refusals(of: .back).isEmpty)
        }
        state.scene.setSwapped(true, at: .zero)
        #expect(try refusals(of: .back).keys.sorted() == ["main"])
        #expect(try refusals(of: .front).isEmpty)
        rules.allowsSwapWhileRecording = true
        #expect(refusals() == [nil, nil, nil])
        #expect(try refusals(of: .back).isEmpty)
    }

    @Test mutating func `With one camera there is nothing to change places with`() {
        state.take(.assigned(.front, nil))
        #expect(refusals() == [nil, nil, .noOtherCamera])
        // That comes first: it is what would have to change.
        rules.allowsSwapWhileRecording = false
        state.recording.phase = .running
        #expect(refusals() == [nil, .recording, .noOtherCamera])
    }

    @Test(arguments: [SwapRefusal.noOtherCamera, .recording])
    func `Each refusal is a sentence`(refusal: SwapRefusal) {
        #expect(refusal.message.sentence == refusal.message)
    }
}
