/// A queue with room for a fixed number of elements, so that adding one allocates nothing.
struct Ring<Element> {
    private var elements: [Element?]
    private var first = 0
    /// How many there are.
    private(set) var count = 0

    /// Room for `capacity` elements.
    init(capacity: Int) { elements = Array(repeating: nil, count: capacity) }

    /// Adds `element`; false when there is no room.
    mutating func put(_ element: Element) -> Bool {
        guard count < elements.count else { return false }
        elements[(first + count) % elements.count] = element
        count += 1
        return true
    }

    /// Takes the element that was added first; `nil` where there is none.
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
