import Platform

extension EventLoop.Mailbox {
    /// Queues `work` for the main actor; the loop of this mailbox is that of the main thread. From
    /// any thread; allocates.
    func onMain(_ work: @escaping @MainActor @Sendable () -> Void) {
        post { MainActor.assumeIsolated { work() } }
    }
}
