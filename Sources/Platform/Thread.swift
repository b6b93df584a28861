import CLinux
import Glibc

/// A named thread that runs one body and is joined.
///
/// Our threads are few, live long and wait in the kernel; Swift's concurrency is for none of them.
package final class Thread {
    private var handle = pthread_t()
    private var isJoined = false

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
        let start = Unmanaged.passRetained(Start(name: name, body: body))
        let error = pthread_create(
            &handle,
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
        guard error == 0 else {
            start.release()
            isJoined = true
            throw SystemError("pthread_create", name, errno: error)
        }
    }

    /// Waits for the body to return. Once.
    package func join() {
        precondition(!isJoined, "a thread joined twice")
        isJoined = true
        pthread_join(handle, nil)
    }

    deinit { precondition(isJoined, "a thread that nobody waited for") }
}
