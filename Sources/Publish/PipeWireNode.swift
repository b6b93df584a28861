package import Frames
package import Platform

/// The camera that applications see: one node in PipeWire, with one fixed mode.
///
/// The node is there whenever PipeWire is. When PipeWire goes, or was never there, it is tried
/// again, soon at first and then every two seconds, and at once when PipeWire's socket appears.
///
/// - Context: bound to the thread of its event loop, `init` and release included. Events are given
///   from the loop, never from within a call on the node, so that any of them may be answered with
///   any call, `close()` too.
package final class PipeWireNode {
    /// What is published.
    package struct Settings: Hashable, Sendable {
        /// `node.name`: stable, since applications remember a camera by it.
        package var name: String
        /// `node.description`: what people see.
        package var description: String
        /// Width a multiple of 4, height even.
        package var size: Size
        /// Frames per second.
        package var rate: Int
        /// Which camera an application takes that has no choice of its own: the one with the highest.
        /// Cameras themselves have up to 1000.
        package var priority: Int
        /// The socket of the PipeWire to be found in, by its name or its path; `nil`: the user's.
        package var remote: String?

        /// The settings of a node called `name`, which people see as `description`.
        package init(
            name: String,
            description: String,
            size: Size,
            rate: Int,
            priority: Int = 2000,
            remote: String? = nil
        ) {
            self.name = name
            self.description = description
            self.size = size
            self.rate = rate
            self.priority = priority
            self.remote = remote
        }
    }

    /// What became of the node.
    package enum Event: Hashable, Sendable {
        /// It is there, with this id: at first, and with another id after each loss.
        case published(id: UInt32)
        /// PipeWire went or could not be reached. Once a loss, however long it lasts.
        case lost(reason: String)
        /// Somebody begins to take frames, or the last one stopped.
        case streaming(Bool)
        /// How many consumers are linked.
        case consumers(Int)
        /// An application has set a property: it is to be what it says, or to be shown as it is.
        case written(NodeProperty.Name, Double)
    }

    private struct Status: Equatable {
        var id: UInt32?
        var isStreaming = false
        var consumers = 0
    }

    private let loop: EventLoop
    private let settings: Settings
    private var onEvent: ((Event) -> Void)?

    private var connection: PipeWireConnection?
    private var watch: EventLoop.Watch?
    private var retry: EventLoop.Timer?
    private var socket: SocketWatch?
    private var delay = PipeWireNode.shortestDelay
    private var isLost = false
    private var reported = Status()
    private var properties: [NodeProperty] = []

    private static let shortestDelay = 0.1
    private static let longestDelay = 2.0

    /// A node that connects as soon as the loop runs, and reconnects by itself until `close()`.
    ///
    /// Throws when the process is out of descriptors; that there is no PipeWire is an event.
    package init(
        loop: EventLoop,
        settings: Settings,
        onEvent: @escaping (Event) -> Void
    ) throws(SystemError) {
        precondition(settings.size.width % 4 == 0 && settings.size.height % 2 == 0)
        precondition(settings.rate > 0)
        self.loop = loop
        self.settings = settings
        self.onEvent = onEvent
        retry = try loop.timer { [weak self] in self?.connect() }
        retry?.arm(at: .zero)
    }

    deinit { close() }

    /// Whether somebody takes frames now.
    package var isStreaming: Bool { connection?.isStreaming ?? false }

    /// Publishes one frame: has `draw` fill it, stamps it, and wakes the consumers.
    ///
    /// `draw` is given the first byte and the stride, which is width × 2: YUY2, `height` rows, in
    /// `ColorSpace.video`. What is there before is an older frame, not necessarily the last one.
    ///
    /// Does not block, and allocates nothing.
    ///
    /// - Parameters:
    ///   - pts: when the picture was taken, on CLOCK_MONOTONIC; rising.
    ///   - sequence: rises by one each frame.
    ///   - discontinuity: marks the frame as not following the one before it.
    ///   - draw: fills the picture, before this returns.
    /// - Returns: False, without a call of `draw`, when nobody takes frames or when every buffer is
    ///   still held by a consumer: the frame is dropped then.
    package func publish(
        pts: Timestamp,
        sequence: UInt64,
        discontinuity: Bool,
        draw: (UnsafeMutablePointer<UInt8>, Int) -> Void
    ) -> Bool {
        connection?.publish(
            pts: pts,
            sequence: sequence,
            discontinuity: discontinuity,
            draw: draw
        ) ?? false
    }

    /// What applications are shown of the camera's values, and may set, from now on.
    package func show(_ properties: [NodeProperty]) {
        guard properties != self.properties else { return }
        self.properties = properties
        if reported.id != nil { connection?.show(properties) }
    }

    /// Takes the node away, without a further event. Harmless when done twice.
    package func close() {
        onEvent = nil
        retry = nil
        socket = nil
        disconnect()
    }

    // MARK: Connecting

    private func connect() {
        guard connection == nil else { return }
        do {
            let connection = try PipeWireConnection(settings)
            watch = try loop.watch(connection.descriptor, for: .readable) { [weak self] _ in
                self?.turn()
            }
            self.connection = connection
            socket = nil
            turn()
        } catch {
            lose("\(error)")
        }
    }

    private func disconnect() {
        // First: the descriptor belongs to the connection.
        watch?.cancel()
        watch = nil
        connection = nil
    }

    private func turn() {
        guard let connection else { return }
        connection.iterate()
        if let failure = connection.failure {
            lose(failure)
        } else {
            for (name, value) in connection.takeWritten() { onEvent?(.written(name, value)) }
            report(
                Status(
                    id: connection.nodeID,
                    isStreaming: connection.isStreaming,
                    consumers: connection.consumers
                )
            )
        }
    }

    private func lose(_ reason: String) {
        disconnect()
        socket = SocketWatch(loop: loop, remote: settings.remote) { [weak self] in
            // A moment between its appearance and its being listened at.
            self?.delay = PipeWireNode.shortestDelay
            self?.retry?.arm(after: 0.02)
        }
        retry?.arm(after: delay)
        delay = min(2 * delay, PipeWireNode.longestDelay)
        report(Status())
        if !isLost {
            isLost = true
            onEvent?(.lost(reason: reason))
        }
    }

    private func report(_ status: Status) {
        guard status != reported else { return }
        let before = reported
        reported = status
        if let id = status.id, id != before.id {
            isLost = false
            delay = PipeWireNode.shortestDelay
            if !properties.isEmpty { connection?.show(properties) }
            onEvent?(.published(id: id))
        }
        if status.isStreaming != before.isStreaming { onEvent?(.streaming(status.isStreaming)) }
        if status.consumers != before.consumers { onEvent?(.consumers(status.consumers)) }
    }
}
