import Platform

/// Work that callers ask for: begun in turn, and so many at once.
@MainActor
final class CallerTurns {
    private var waiting = Turns<() -> Void>()
    private var begun = 0
    private let limit: Int

    /// Creates an empty queue of which `limit` are under way at once.
    init(limit: Int = 1) { self.limit = limit }

    /// Returns the number of `caller`'s that wait.
    func count(of caller: String) -> Int { waiting.count(of: caller) }

    /// Adds `work`, which calls `finish()` at its end, and begins it if it is its turn.
    func add(_ work: @escaping () -> Void, of caller: String) {
        waiting.add(work, of: caller)
        next()
    }

    /// Notes the end of one that has begun, and begins the next.
    func finish() {
        begun -= 1
        next()
    }

    func clear() { waiting = Turns() }

    private func next() {
        guard begun < limit, let work = waiting.next() else { return }
        begun += 1
        work()
    }
}
