import CPipeWire
import Platform

/// A stream of PipeWire's (pw_stream), destroyed with this. Bound to its connection's thread, but
/// for the `process` of a stream with RT_PROCESS.
final class Stream {
    let handle: OpaquePointer
    private let connection: PipeWireConnection
    private let listeners = Listeners()

    /// Creates a stream called `name`, with `properties`. Throws the errno of pw_stream_new().
    init(
        _ name: String,
        _ properties: [String: String],
        on connection: PipeWireConnection
    ) throws(SystemError) {
        let made = pw_stream_new(connection.core, name, makeProperties(properties))
        guard let made else { throw .last("pw_stream_new") }
        handle = made
        self.connection = connection
    }

    deinit {
        listeners.remove()
        pw_stream_destroy(handle)
    }

    /// The callbacks, to be set before `listen(_:)`. One that is not set is not called.
    var events: pw_stream_events {
        get { listeners.memory.pointee.stream }
        set { listeners.memory.pointee.stream = newValue }
    }

    /// Calls the callbacks with `context`, which is not retained and must outlive the stream.
    func listen(_ context: AnyObject) { listeners.listen(stream: handle, context) }

    /// Connects the stream and offers the formats in `pods`, without waiting for the answer. Throws
    /// the errno of pw_stream_connect().
    func connect(
        _ direction: spa_direction,
        _ flags: [pw_stream_flags],
        _ pods: Pods
    ) throws(SystemError) {
        var formats = pods.pointers
        let result = pw_stream_connect(
            handle,
            direction,
            SPA_ID_INVALID,
            pw_stream_flags(rawValue: flags.reduce(0) { $0 | $1.rawValue }),
            &formats,
            UInt32(formats.count)
        )
        guard result >= 0 else { throw SystemError("pw_stream_connect", errno: -result) }
    }

    /// Replaces the parameters of the kinds in `pods`.
    func update(_ pods: Pods) {
        var pointers = pods.pointers
        pw_stream_update_params(handle, &pointers, UInt32(pointers.count))
    }

    var state: pw_stream_state { pw_stream_get_state(handle, nil) }

    /// Returns the reason why the stream is no longer connected, or `otherwise` if PipeWire gives
    /// none; `nil` while it is connected.
    func failure(otherwise: String) -> String? {
        var reason: UnsafePointer<CChar>?
        let state = pw_stream_get_state(handle, &reason)
        guard state == PW_STREAM_STATE_ERROR || state == PW_STREAM_STATE_UNCONNECTED else {
            return nil
        }
        return reason.map { String(cString: $0) } ?? otherwise
    }
}

/// Returns a buffer's metadata of `type`, in memory shared with other processes; `nil` if none.
func meta<Value>(
    _ type: spa_meta_type,
    of buffer: UnsafeMutablePointer<spa_buffer>
) -> UnsafeMutablePointer<Value>? {
    spa_buffer_find_meta_data(buffer, type.rawValue, MemoryLayout<Value>.size)?
        .assumingMemoryBound(to: Value.self)
}
