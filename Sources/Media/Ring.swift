/// A queue of fixed capacity, so that adding an element allocates nothing.
struct Ring<Element> {
    private var elements: [Element?]
    private var first = 0
    private(set) var count = 0

    init(capacity: Int) { elements = Array(repeating: nil, count: capacity) }

    /// Adds `element`. Returns `false` without room.
    mutating func put(_ element: Element) -> Bool {
        guard count < elements.count else { return false }
        elements[(first + count) % elements.count] = element
        count += 1
        return true
    }

    /// Removes and returns the oldest element, or `nil` if the queue is empty.
    mutating func take() -> Element? {
        guard count > 0 else { return nil }
        defer {
            elements[first] = nil
            first = (first + 1) % elements.count
            count -= 1
        }
        return elements[first]
    }
}
