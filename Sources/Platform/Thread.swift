import CLinux
package import Frames
import Glibc
package import Synchronization

/// A named thread that runs one body and is joined.
///
/// Our threads are few, live long and wait in the kernel; Swift's concurrency is for none of them.
package final class Thread: Sendable {
    private let handle: pthread_t
    private let isJoined: Atomic<Bool>

    private final class Start {
        let name: String
        let body: @Sendable () -> Void
        init(name: String, body: @escaping @Sendable () -> Void) {
            self.name = name
            self.body = body
        }
    }

    /// Starts `body` on a new thread called `name` (15 bytes at most are shown by the system).
    ///
    /// Throws EAGAIN when the system has no thread to give.
    package init(name: String, _ body: @escaping @Sendable () -> Void) throws(SystemError) {
        // Released by the thread, or below where there is none.
        let start = Unmanaged.passRetained(Start(name: name, body: body))
        var created = pthread_t()
        let error = pthread_create(
            &created,
            nil,
            { context in
                guard let context else { return nil }
                let start = Unmanaged<Start>.fromOpaque(context).takeRetainedValue()
                clinux_name_thread(start.name)
                start.body()
                return nil
            },
            start.toOpaque()
        )
        handle = created
        // A thread that never was is not waited for.
        isJoined = Atomic(error != 0)
        guard error == 0 else {
            start.release()
            throw SystemError("pthread_create", name, errno: error)
        }
    }

    /// Waits for the body to return. Once.
    package func join() {
        let again = isJoined.exchange(true, ordering: .relaxed)
        precondition(!again, "a thread joined twice")
        pthread_join(handle, nil)
    }

    /// Waits for the body to return, at most until `deadline`; whether it has. Not after it has.
    package func join(until deadline: Timestamp) -> Bool {
        precondition(!isJoined.load(ordering: .relaxed), "a thread joined twice")
        guard clinux_join_thread(handle, max(0, deadline.nanoseconds)) == 0 else { return false }
        isJoined.store(true, ordering: .relaxed)
        return true
    }

    /// Lets the body go on by itself. Instead of waiting for it; not after that.
    package func detach() {
        let again = isJoined.exchange(true, ordering: .relaxed)
        precondition(!again, "a thread detached that was waited for")
        pthread_detach(handle)
    }

    deinit { precondition(isJoined.load(ordering: .relaxed), "a thread that nobody waited for") }
}

/// The thread that an object starts once, and that others have it end.
extension Mutex where Value == Thread? {
    /// Waits until the thread has ended, at most until `deadline`; whether it has, or was not there any more.
    package func join(until deadline: Timestamp) -> Bool {
        withLock { thread in
            guard thread?.join(until: deadline) ?? true else { return false }
            thread = nil
            return true
        }
    }

    /// Lets the thread end by itself, if it is still there.
    package func leave() {
        withLock { thread in
            thread?.detach()
            thread = nil
        }
    }
}
