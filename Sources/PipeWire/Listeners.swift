import CPipeWire

/// The PipeWire callbacks of one connection.
final class Listeners {
    private let memory = UnsafeMutablePointer<cpw_listeners>.allocate(capacity: 1)

    init() { memory.initialize(to: cpw_listeners()) }

    deinit { memory.deallocate() }

    func listen(
        core: OpaquePointer,
        registry: OpaquePointer,
        stream: OpaquePointer,
        for connection: PipeWireConnection
    ) {
        // Not retained: the connection removes the hooks before it is released.
        let context = Unmanaged.passUnretained(connection).toOpaque()

        memory.pointee.core.error = { context, id, _, result, message in
            let text = message.map { String(cString: $0) } ?? ""
            PipeWireConnection.at(context)?.coreFailed(id, result, text)
        }
        cpw_listen_core(memory, core, context)

        memory.pointee.registry.global = { context, id, _, type, _, properties in
            guard cpw_is_link(type), let properties,
                let source = spa_dict_lookup(properties, PW_KEY_LINK_OUTPUT_NODE),
                let node = UInt32(String(cString: source))
            else { return }
            PipeWireConnection.at(context)?.linkCame(id, from: node)
        }
        memory.pointee.registry.global_remove = { PipeWireConnection.at($0)?.objectWent($1) }
        cpw_listen_registry(memory, registry, context)

        memory.pointee.stream.param_changed = { context, id, parameter in
            switch id {
            case SPA_PARAM_Format.rawValue: PipeWireConnection.at(context)?.formatChanged(parameter)
            case SPA_PARAM_Props.rawValue:
                PipeWireConnection.at(context)?.propertiesWritten(parameter)
            default: break
            }
        }
        memory.pointee.stream.io_changed = { PipeWireConnection.at($0)?.areaChanged($1, $2, $3) }
        memory.pointee.stream.add_buffer = { context, buffer in
            if let buffer { PipeWireConnection.at(context)?.bufferCame(buffer) }
        }
        memory.pointee.stream.remove_buffer = { context, buffer in
            if let buffer { PipeWireConnection.at(context)?.bufferWent(buffer) }
        }
        cpw_listen_stream(memory, stream, context)
    }

    /// Stops all calls. Harmless if nothing was added.
    func remove() { cpw_unlisten(memory) }
}

extension PipeWireConnection {
    fileprivate static func at(_ context: UnsafeMutableRawPointer?) -> PipeWireConnection? {
        context.map { Unmanaged<PipeWireConnection>.fromOpaque($0).takeUnretainedValue() }
    }
}
