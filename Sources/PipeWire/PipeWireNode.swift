package import Frames
package import Platform

/// The camera that applications see: one node in PipeWire, with one fixed mode.
///
/// The node exists whenever PipeWire runs. When PipeWire stops or was never there, the node
/// reconnects: after 0.1 s at first, up to every two seconds later, and at once when PipeWire's
/// socket appears. Bound to the thread of its event loop, including `init` and release. Events come
/// from the loop, never from within a call on the node, so any of them may be answered with any
/// call, even `close()`.
package final class PipeWireNode {
    /// The settings of a node.
    package struct Settings: Hashable, Sendable {
        /// The `node.name`. Stable, since applications remember a camera by it.
        package var name: String
        /// The `node.description`, which people see.
        package var description: String
        /// The size of the picture, in pixels. The width is a multiple of 4, the height is even.
        package var size: Size
        /// The frame rate, in frames per second.
        package var rate: Int
        /// The `priority.session`. Applications without a choice of their own take the camera with
        /// the highest; hardware cameras have up to 1000.
        package var priority: Int
        /// The name or path of the PipeWire socket to connect to, or `nil` for the user's.
        package var remote: String?

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

    /// An event of the node.
    package enum Event: Hashable, Sendable {
        /// The node exists, with this id: once at first, and with another id after each loss.
        case published(id: UInt32)
        /// PipeWire stopped or could not be reached. Reported once per loss, however long it lasts.
        case lost(reason: String)
        /// The first consumer starts taking frames (`true`), or the last one stopped.
        case streaming(Bool)
        case consumers(Int)
        /// An application has set a property. Either apply the value, or show the real one again.
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

    private var connection: NodeStream?
    private var watch: EventLoop.Watch?
    private var retry: EventLoop.Timer?
    private var socket: SocketWatch?
    private var reconnection = Reconnection(delays: 0.1...2)
    private var reported = Status()
    private var properties: [NodeProperty] = []

    /// Runs while further values that applications set are gathered, of each property the last.
    private var gathering: EventLoop.Timer?
    private var isGathering = false

    /// The seconds for which values are gathered. An application may set a hundred thousand in a
    /// second, and each that is reported costs a command to the camera.
    private static let gatheringTime = 0.05

    /// Creates a node that connects as soon as the loop runs, and again until `close()`. Throws
    /// `SystemError` without descriptors left. A missing PipeWire is an event, no error.
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
        gathering = try loop.timer { [weak self] in
            self?.isGathering = false
            self?.reportWritten()
        }
    }

    deinit { close() }

    /// `true` while a consumer takes frames.
    package var isStreaming: Bool { connection?.isStreaming ?? false }

    /// Publishes one frame: lets `draw` fill it, stamps it, and wakes the consumers.
    ///
    /// `draw` receives the first byte and the stride, which is width × 2. The format is YUY2,
    /// `height` rows, in `ColorSpace.video`. The memory holds an older frame, not necessarily the
    /// last one.
    ///
    /// Does not block or allocate.
    ///
    /// - Parameters:
    ///   - pts: the time when the picture was taken, on CLOCK_MONOTONIC; rising.
    ///   - sequence: the number of the frame; rises by one each frame.
    ///   - discontinuity: `true` if the frame does not follow the one before it.
    ///   - draw: a closure that fills the picture before it returns.
    /// - Returns: `false`, without a call of `draw`, if no consumer takes frames or if consumers
    ///   still hold every buffer. The frame is then dropped.
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

    /// Replaces the camera values that applications see and may set.
    package func show(_ properties: [NodeProperty]) {
        guard properties != self.properties else { return }
        self.properties = properties
        if reported.id != nil { connection?.show(properties) }
    }

    /// Removes the node, without a further event. Harmless if called twice.
    package func close() {
        onEvent = nil
        retry = nil
        gathering = nil
        socket = nil
        disconnect()
    }

    // MARK: Connecting

    private func connect() {
        guard connection == nil else { return }
        do {
            let connection = try NodeStream(settings)
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
        // First, since the descriptor belongs to the connection.
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
            reportWritten()
            report(
                Status(
                    id: connection.nodeID,
                    isStreaming: connection.isStreaming,
                    consumers: connection.consumers
                )
            )
        }
    }

    /// Reports the values that applications have set, but not too soon after the last report.
    private func reportWritten() {
        guard !isGathering, let written = connection?.takeWritten(), !written.isEmpty else {
            return
        }
        isGathering = true
        gathering?.arm(after: Self.gatheringTime)
        for (name, value) in written { onEvent?(.written(name, value)) }
    }

    private func lose(_ reason: String) {
        disconnect()
        socket = SocketWatch(loop: loop, remote: settings.remote) { [weak self] in
            // PipeWire creates the socket shortly before it listens on it.
            self?.reconnection.hasten()
            self?.retry?.arm(after: 0.02)
        }
        let (delay, isNews) = reconnection.lose()
        retry?.arm(after: delay)
        report(Status())
        if isNews { onEvent?(.lost(reason: reason)) }
    }

    private func report(_ status: Status) {
        guard status != reported else { return }
        let before = reported
        reported = status
        if let id = status.id, id != before.id {
            reconnection.succeed()
            if !properties.isEmpty { connection?.show(properties) }
            onEvent?(.published(id: id))
        }
        if status.isStreaming != before.isStreaming { onEvent?(.streaming(status.isStreaming)) }
        if status.consumers != before.consumers { onEvent?(.consumers(status.consumers)) }
    }
}
