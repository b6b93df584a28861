import CPipeWire
import Testing

@testable import PipeWire

@Suite("Properties that applications write")
struct NodePropertyTests {
    private static let shown = [
        NodeProperty(.gain, 400, in: 100...3200), NodeProperty(.focus, 0.5, in: 0...1),
    ]

    /// Returns what is read of a Props object with `values`.
    private func read(_ values: [(UInt32, Float)]) -> [NodeProperty.Name: Double] {
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: 1024, alignment: 8)
        defer { memory.deallocate() }
        var builder = PodBuilder(memory)
        let pod = builder.object(SPA_TYPE_OBJECT_Props, SPA_PARAM_Props) {
            for (key, value) in values { $0.number(key: key, value) }
        }
        return Dictionary(uniqueKeysWithValues: PropertyParameters.read(pod, of: Self.shown))
    }

    @Test(arguments: [Float.nan, -.nan, .infinity, -.infinity, .signalingNaN])
    func whatIsNoNumberIsLeftOut(_ value: Float) {
        #expect(read([(NodeProperty.Name.gain.id, value)]).isEmpty)
        let both = read([(NodeProperty.Name.gain.id, value), (NodeProperty.Name.focus.id, 0.25)])
        #expect(both == [.focus: 0.25])
    }

    @Test(arguments: [(Float(1e30), 3200.0), (-1e30, 100), (.greatestFiniteMagnitude, 3200)])
    func whatIsBeyondTheRangeBecomesItsEnd(_ value: Float, _ expected: Double) {
        #expect(read([(NodeProperty.Name.gain.id, value)]) == [.gain: expected])
    }

    @Test func whatIsNotShownIsNotRead() {
        #expect(read([(NodeProperty.Name.exposure.id, 1000)]).isEmpty)
    }

    @Test func noPodAndOneOfAnotherTypeAreNothing() {
        #expect(PropertyParameters.read(nil, of: Self.shown).isEmpty)
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: 256, alignment: 8)
        defer { memory.deallocate() }
        var builder = PodBuilder(memory)
        let other = builder.object(SPA_TYPE_OBJECT_ParamIO, SPA_PARAM_IO) { _ in }
        #expect(PropertyParameters.read(other, of: Self.shown).isEmpty)
        var number = spa_pod(size: 0, type: UInt32(SPA_TYPE_Int))
        #expect(PropertyParameters.read(&number, of: Self.shown).isEmpty)
    }
}
