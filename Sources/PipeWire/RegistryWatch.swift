package import Platform

/// A connection to PipeWire for the objects that it lists, made again whenever it is lost. Bound to
/// the thread of its event loop.
package final class RegistryWatch {
    /// A change of what is listed.
    package enum Change: Hashable, Sendable {
        /// Objects may have come or gone. With `isWhole`, all that were there have been reported.
        case objects(isWhole: Bool)
        /// PipeWire went, and all its objects with it.
        case lost
    }

    private let loop: EventLoop
    private let kinds: Set<PipeWireObject.Kind>
    private weak var observer: (any PipeWireObserver)?
    private let onChange: (Change) -> Void
    private var connection: PipeWireConnection?
    private var watch: EventLoop.Watch?
    private var timer: EventLoop.Timer?
    private var isWanted = false

    /// The seconds after which a PipeWire that is not there is looked for again: one that has just
    /// started may have our node before it takes another connection.
    private static let pause = 1.0

    /// Creates a watch of the objects of `kinds` that watches nothing yet. `observer`, which is not
    /// retained, gets them, and after that `onChange` is called. Throws `SystemError` if the
    /// process is out of descriptors.
    package init(
        loop: EventLoop,
        _ kinds: Set<PipeWireObject.Kind>,
        by observer: any PipeWireObserver,
        onChange: @escaping (Change) -> Void
    ) throws(SystemError) {
        self.loop = loop
        self.kinds = kinds
        self.observer = observer
        self.onChange = onChange
        timer = try loop.timer { [unowned self] in connect() }
    }

    deinit { watch?.cancel() }

    /// Begins to watch, and connects at once where there is no working connection.
    package func begin() {
        isWanted = true
        if connection?.failure != nil { lose() }
        connect()
    }

    /// Ends the watch; all objects are forgotten.
    package func end() {
        isWanted = false
        timer?.disarm()
        if connection != nil { lose() }
    }

    private func connect() {
        guard isWanted, connection == nil, let observer else { return }
        do throws(SystemError) {
            let connection = try PipeWireConnection(remote: nil, carriesData: false)
            watch = try loop.watch(connection.descriptor, for: .readable) { [unowned self] _ in
                follow()
            }
            connection.observe(kinds, by: observer)
            self.connection = connection
            follow()
        } catch {
            timer?.arm(after: Self.pause)
        }
    }

    private func follow() {
        connection?.iterate()
        guard let connection, connection.failure == nil else {
            lose()
            timer?.arm(after: Self.pause)
            return
        }
        onChange(.objects(isWhole: connection.isListed))
    }

    private func lose() {
        // First, since the descriptor belongs to the connection.
        watch?.cancel()
        watch = nil
        connection = nil
        onChange(.lost)
    }
}
