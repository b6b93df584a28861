import CLinux
package import Frames
import Glibc
import Synchronization

/// A named thread that runs one closure and is joined or detached. Our threads are few, live long
/// and wait in the kernel; Swift concurrency suits none of them.
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

    /// Starts `body` on a new thread called `name`, of which the system shows at most 15 bytes.
    /// Throws EAGAIN if the system is out of threads.
    package init(name: String, _ body: @escaping @Sendable () -> Void) throws(SystemError) {
        // Released by the new thread, or below if there is none.
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
        // A thread that was not created is not joined.
        isJoined = Atomic(error != 0)
        guard error == 0 else {
            start.release()
            throw SystemError("pthread_create", name, errno: error)
        }
    }

    /// Waits for the body to return. To be called once.
    package func join() {
        let again = isJoined.exchange(true, ordering: .relaxed)
        precondition(!again, "a thread joined twice")
        pthread_join(handle, nil)
    }

    /// Waits until `deadline` for the body to return; `true` if it has. Do not call again then.
    package func join(until deadline: Timestamp) -> Bool {
        precondition(!isJoined.load(ordering: .relaxed), "a thread joined twice")
        guard clinux_join_thread(handle, max(0, deadline.nanoseconds)) == 0 else { return false }
        isJoined.store(true, ordering: .relaxed)
        return true
    }

    /// Lets the body go on by itself, instead of `join()`. Not after a join.
    package func detach() {
        let again = isJoined.exchange(true, ordering: .relaxed)
        precondition(!again, "a thread detached that was waited for")
        pthread_detach(handle)
    }

    deinit { precondition(isJoined.load(ordering: .relaxed), "a thread that nobody waited for") }
}
