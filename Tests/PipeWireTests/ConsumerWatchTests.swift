import PipeWire
import Synchronization
import Testing

@Suite("Programs that are linked to a node")
struct ConsumerWatchTests {
    @Test("are told in the order in which they came, with what is known of them")
    func order() throws {
        let reports = Mutex<[[Consumer]]>([])
        let refused = Mutex<[String]>([])
        let watch = ConsumerWatch { consumers in
            reports.withLock { $0.append(consumers) }
        } refused: { name in
            refused.withLock { $0.append(name) }
        }
        watch.objectCame(20, .client(process: "12", name: "first", application: ""))
        watch.objectCame(10, .client(process: "?", name: "second", application: "org.example"))
        watch.objectCame(31, .node(client: "20"))
        watch.objectCame(32, .node(client: "10"))
        for (id, target) in [(42, 31), (41, 32), (40, 33)] as [(UInt32, UInt32)] {
            watch.objectCame(id, .link(source: 7, target: target))
        }
        watch.objectCame(43, .link(source: 8, target: 31))
        watch.watch([7])
        let consumers = try #require(reports.withLock { $0.last })
        #expect(consumers.map(\.name) == ["first", "second", ""])
        #expect(consumers.map(\.process) == [12, 0, 0])
        #expect(consumers.map(\.application) == ["", "org.example", ""])
        #expect(consumers.allSatisfy { $0.node == 7 })
        for id: UInt32 in [43, 42, 99, 40] {
            watch.objectCame(id, .failure("no more input formats"))
        }
        // It ended while it was linked.
        watch.objectCame(41, .failure("error set input format: -32 (Broken pipe)"))
        #expect(refused.withLock { $0 } == ["first", ""])
    }
}
