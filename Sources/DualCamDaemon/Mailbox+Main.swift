import Platform

extension EventLoop.Mailbox {
    /// Queues `work` for the main actor, whose loop this mailbox's is. From any thread; allocates.
    func onMain(_ work: @escaping @MainActor @Sendable () -> Void) {
        post { MainActor.assumeIsolated { work() } }
    }
}
