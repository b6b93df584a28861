package import Frames
import Synchronization

/// The thread of an object that works on its own: started once, woken, ended and waited for. The
/// body waits for `bell`, and returns soon after `isEnding` is `true`. A body that waits for
/// descriptors and timers is a `LoopWorker`. Any thread, except for the waiting on `bell`.
package final class Worker: Sendable {
    private let name: String
    /// The bell that `wake()` and `end()` ring, for the body to wait for. Others may ring it too.
    package let bell: Bell
    private let ending = Atomic(false)
    private let thread = Mutex<Thread?>(nil)

    /// Creates a worker, not started, with a thread called `name`, of which the system shows at
    /// most 15 bytes. Throws EMFILE or ENFILE if no descriptors are left for the bell.
    package convenience init(name: String) throws(SystemError) {
        self.init(name: name, bell: try Bell())
    }

    init(name: String, bell: Bell) {
        self.name = name
        self.bell = bell
    }

    /// Runs `body` on the thread, which is one of `timed` if it keeps time. Call once; then call
    /// `join` or `leave` before the worker is released. Throws EAGAIN if the system is out of
    /// threads.
    package func start(
        timed: RealTimeThreads? = nil,
        _ body: @escaping @Sendable () -> Void
    ) throws(SystemError) {
        let name = name
        let started = try Thread(name: name) {
            if let timed { timed.run(as: name, body) } else { body() }
        }
        thread.withLock { thread in
            precondition(thread == nil, "a worker started twice")
            thread = started
        }
    }

    /// `true` from the start until the thread was waited for, or left.
    package var hasStarted: Bool { thread.withLock { $0 != nil } }

    /// Wakes the body, which then looks at what its object wants. Never blocks or allocates.
    package func wake() { bell.ring() }

    /// Makes the body end soon. Does not wait for it.
    package func end() {
        ending.store(true, ordering: .releasing)
        bell.ring()
    }

    /// `true` once `end()` was called.
    package var isEnding: Bool { ending.load(ordering: .acquiring) }

    /// Waits until `deadline` for the thread to end; `true` if it has, or never started.
    package func join(until deadline: Timestamp) -> Bool {
        thread.withLock { thread in
            guard thread?.join(until: deadline) ?? true else { return false }
            thread = nil
            return true
        }
    }

    /// Waits for the thread to end, however long that takes.
    package func join() {
        thread.withLock { thread in
            thread?.join()
            thread = nil
        }
    }

    /// Lets the thread end by itself, instead of `join`.
    package func leave() {
        thread.withLock { thread in
            thread?.detach()
            thread = nil
        }
    }
}

/// A worker whose thread runs an event loop for a `State` bound to it. Any thread.
package final class LoopWorker<State>: Sendable {
    private let worker: Worker
    private let mailbox: EventLoop.Mailbox
    // Unsafe: used before the thread starts, and then by it alone.
    nonisolated(unsafe) private let loop: EventLoop
    nonisolated(unsafe) private var state: State?

    /// Creates a worker that has not started. Its thread will be called `name`. Throws EMFILE or
    /// ENFILE if there are no descriptors left for the loop.
    package init(name: String) throws(SystemError) {
        loop = try EventLoop()
        mailbox = loop.mailbox
        worker = Worker(name: name, bell: mailbox.bell)
    }

    /// Makes the state with `make`, on the caller's thread so that its error can be thrown, and
    /// runs the loop on the worker's, after `first`. The state is released there at the end. The
    /// thread is one of `timed` if it keeps time.
    ///
    /// Call once; then call `join` or `leave` before the worker is released. Throws EAGAIN if the
    /// system is out of threads, or what `make` throws.
    package func start(
        timed: RealTimeThreads? = nil,
        first: @escaping @Sendable (State) -> Void = { _ in },
        _ make: (EventLoop) throws(SystemError) -> State
    ) throws(SystemError) {
        state = try make(loop)
        let keepsTime = timed != nil
        do throws(SystemError) {
            try worker.start(timed: timed) { [self] in
                state.map(first)
                loop.run(keepsTime: keepsTime)
                state = nil
            }
        } catch {
            state = nil
            throw error
        }
    }

    /// Queues `work` to run on the thread, in order. Allocates.
    ///
    /// - Returns: `false` after `end`, where the work is not queued.
    @discardableResult
    package func post(_ work: @escaping @Sendable (State) -> Void) -> Bool {
        mailbox.post { [self] in state.map(work) }
    }

    /// Runs what was posted and then `last` on the thread, and makes it end. Does not wait for it.
    /// The first call counts.
    package func end(_ last: @escaping @Sendable (State) -> Void = { _ in }) {
        mailbox.close { [self] in
            state.map(last)
            loop.stop()
        }
    }

    /// Waits until `deadline` for the thread to end; `true` if it has, or never started.
    package func join(until deadline: Timestamp) -> Bool { worker.join(until: deadline) }

    /// Waits for the thread to end, however long that takes.
    package func join() { worker.join() }

    /// Lets the thread end by itself, instead of `join`.
    package func leave() { worker.leave() }
}
