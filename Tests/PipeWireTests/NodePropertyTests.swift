import CPipeWire
import Frames
import Testing

@testable import PipeWire

@Suite("Properties that applications write")
struct NodePropertyTests {
    private static let shown = [
        NodeProperty(.gain, 400, in: 100...3200), NodeProperty(.focus, 0.5, in: 0...1),
    ]

    private static let gain = NodeProperty.Name.gain.id
    private static let focus = NodeProperty.Name.focus.id

    private func read(
        _ type: some BinaryInteger = SPA_TYPE_OBJECT_Props,
        _ body: (inout PodBuilder) -> Void
    ) -> [NodeProperty.Name: Double] {
        let pods = Pods { $0.object(type, SPA_PARAM_Props, body) }
        return withExtendedLifetime(pods) {
            let values = readProperties(pods.pointers[0].map { Pod($0) }, of: Self.shown)
            return Dictionary(uniqueKeysWithValues: values.map { ($0.name, $0.value) })
        }
    }

    @Test(arguments: [Float.nan, -.nan, .infinity, -.infinity, .signalingNaN])
    func whatIsNoNumberIsLeftOut(_ value: Float) {
        #expect(read { $0.number(key: Self.gain, value) }.isEmpty)
        let both = read {
            $0.number(key: Self.gain, value)
            $0.number(key: Self.focus, 0.25)
        }
        #expect(both == [.focus: 0.25])
    }

    @Test(arguments: [(Float(1e30), 3200.0), (-1e30, 100), (.greatestFiniteMagnitude, 3200)])
    func whatIsBeyondTheRangeBecomesItsEnd(_ value: Float, _ expected: Double) {
        #expect(read { $0.number(key: Self.gain, value) } == [.gain: expected])
    }

    @Test func wholeNumbersCountAsWell() {
        #expect(read { $0.integer(key: Self.gain, 800) } == [.gain: 800])
        #expect(read { $0.integer(key: Self.gain, .min) } == [.gain: 100])
    }

    @Test func whatIsNotShownIsNotRead() {
        #expect(read { $0.number(key: NodeProperty.Name.exposure.id, 1000) }.isEmpty)
    }

    @Test("count as they were written last, once each, in the order of their first")
    func latest() {
        var written: [(name: NodeProperty.Name, value: Double)] = []
        for value in stride(from: 100.0, through: 3200, by: 100) {
            gather([(.gain, value)], into: &written)
            if value == 1000 { gather([(.focus, 0.25), (.gain, 7)], into: &written) }
        }
        #expect(written.map(\.name) == [.gain, .focus])
        #expect(written.map(\.value) == [3200, 0.25])
    }

    @Test func noPodAndOneOfAnotherTypeAreNothing() {
        #expect(readProperties(nil, of: Self.shown).isEmpty)
        #expect(read(SPA_TYPE_OBJECT_ParamIO) { $0.number(key: Self.gain, 800) }.isEmpty)
        var number = spa_pod(size: 0, type: UInt32(SPA_TYPE_Int))
        #expect(readProperties(Pod(&number), of: Self.shown).isEmpty)
    }

    @Test func aPodThatIsCutGivesNothing() throws {
        let pods = Pods {
            $0.object(SPA_TYPE_OBJECT_Props, SPA_PARAM_Props) {
                $0.number(key: Self.gain, 800)
                $0.number(key: Self.focus, 0.25)
            }
        }
        let pod = try #require(pods.pointers[0])
        let whole = Array(UnsafeRawBufferPointer(start: pod, count: 8 + Int(pod.pointee.size)))
        #expect(whole.aligned { readProperties(Pod($0), of: Self.shown) }.count == 2)
        for count in 0..<whole.count {
            let cut = Array(whole[..<count])
            #expect(cut.aligned { readProperties(Pod($0), of: Self.shown) }.isEmpty)
        }
    }
}

extension [UInt8] {
    /// Calls `body` with these bytes in memory of their own, aligned to 8.
    func aligned<Result>(_ body: (UnsafeRawBufferPointer) throws -> Result) rethrows -> Result {
        let memory = UnsafeMutableRawBufferPointer.allocate(byteCount: count, alignment: 8)
        defer { memory.deallocate() }
        memory.copyBytes(from: self)
        return try body(UnsafeRawBufferPointer(memory))
    }
}
