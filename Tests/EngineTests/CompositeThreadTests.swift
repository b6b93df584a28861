import DualCamCore
import Engine
import Frames
import PipeWire
import Platform
import TestSupport
import Testing

@Suite("The composite thread", .timeLimit(.minutes(5))) struct CompositeThreadTests {
    @Test func `is not waited for any longer than asked, and ends by itself`() throws {
        let size = Size(width: 320, height: 180)
        let bell = try Bell()
        let thread = try CompositeThread(
            scene: SceneState(
                canvas: size,
                style: SceneStyle(),
                present: PerRole(back: true, front: true)
            ),
            slots: PerRole { _ in PerPipeline(a: FrameSlot(bell: bell), b: FrameSlot(bell: bell)) },
            bell: bell,
            settings: PipeWireNode.Settings(name: "x", description: "X", size: size, rate: 30)
        ) { _, _ in }
        let (gate, over) = (try Bell(), try Bell())
        thread.ping {
            gate.wait(until: nil)
            over.ring()
        }
        #expect(!thread.end(by: MonotonicClock.now + Timestamp(seconds: 0.05)))
        gate.ring()
        #expect(over.wait(until: MonotonicClock.now + Timestamp(seconds: 60)))
    }
}
