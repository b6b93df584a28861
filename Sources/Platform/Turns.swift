/// Items that wait, of owners that take turns: none waits for all that another one has.
package struct Turns<Item> {
    /// The items by owner, those of the one whose turn it is first.
    private var queues: [(owner: String, items: [Item])] = []

    package init() {}

    package var isEmpty: Bool { queues.isEmpty }

    /// Returns the number of items of `owner`.
    package func count(of owner: String) -> Int {
        queues.first { $0.owner == owner }?.items.count ?? 0
    }

    /// Adds an item of `owner`, after those that it has.
    package mutating func add(_ item: Item, of owner: String) {
        if let index = queues.firstIndex(where: { $0.owner == owner }) {
            queues[index].items.append(item)
        } else {
            queues.append((owner, [item]))
        }
    }

    /// Removes and returns the next item that `suits`; `nil` if there is none.
    package mutating func next(where suits: (Item) -> Bool = { _ in true }) -> Item? {
        for index in queues.indices {
            guard let place = queues[index].items.firstIndex(where: suits) else { continue }
            var queue = queues.remove(at: index)
            let item = queue.items.remove(at: place)
            if !queue.items.isEmpty { queues.append(queue) }
            return item
        }
        return nil
    }
}
