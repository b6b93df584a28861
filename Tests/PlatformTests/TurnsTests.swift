import Platform
import Testing

@Suite("Turns") struct TurnsTests {
    @Test func `come to each owner, however many items another one has`() {
        var turns = Turns<String>()
        for item in ["a1", "a2", "a3", "b1", "c1", "c2"] {
            turns.add(item, of: String(item.prefix(1)))
        }
        #expect(turns.count(of: "a") == 3 && turns.count(of: "d") == 0)
        var order: [String] = []
        while let item = turns.next() { order.append(item) }
        #expect(order == ["a1", "b1", "c1", "a2", "c2", "a3"])
        #expect(turns.isEmpty)
    }

    @Test func `are taken by what suits alone`() {
        var turns = Turns<Int>()
        for item in [1, 2, 3] { turns.add(item, of: "a") }
        turns.add(4, of: "b")
        #expect(turns.next { $0 > 4 } == nil)
        #expect(turns.next { $0.isMultiple(of: 2) } == 2)
        #expect(turns.next { $0.isMultiple(of: 2) } == 4)
        #expect(turns.next { $0.isMultiple(of: 2) } == nil)
        #expect([turns.next(), turns.next(), turns.next()] == [1, 3, nil])
    }
}
