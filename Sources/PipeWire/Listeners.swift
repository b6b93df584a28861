import CPipeWire

/// The callbacks of a connection or a stream, which PipeWire calls until this is released.
final class Listeners {
    /// The callbacks, to be set before one of the calls below.
    let memory = UnsafeMutablePointer<cpw_listeners>.allocate(capacity: 1)

    init() { memory.initialize(to: cpw_listeners()) }

    deinit {
        remove()
        memory.deallocate()
    }

    /// Calls the core's and the registry's callbacks with `context`, which is not retained.
    func listen(core: OpaquePointer, registry: OpaquePointer, _ context: AnyObject) {
        let context = Unmanaged.passUnretained(context).toOpaque()
        cpw_listen_core(memory, core, context)
        cpw_listen_registry(memory, registry, context)
    }

    /// Calls the stream's callbacks with `context`, which is not retained.
    func listen(stream: OpaquePointer, _ context: AnyObject) {
        cpw_listen_stream(memory, stream, Unmanaged.passUnretained(context).toOpaque())
    }

    /// Stops all calls. Harmless if nothing was added.
    func remove() { cpw_unlisten(memory) }
}

/// Returns the object that a callback is called for.
func listener<Object: AnyObject>(_ context: UnsafeMutableRawPointer?) -> Object? {
    context.map { Unmanaged<Object>.fromOpaque($0).takeUnretainedValue() }
}
