import CPipeWire

/// The tables of functions that PipeWire calls, and the hooks they hang on: in memory that stays
/// where it is for as long as they are in use.
final class Listeners {
    private let coreHook = UnsafeMutablePointer<spa_hook>.allocate(capacity: 1)
    private let registryHook = UnsafeMutablePointer<spa_hook>.allocate(capacity: 1)
    private let streamHook = UnsafeMutablePointer<spa_hook>.allocate(capacity: 1)
    private let coreEvents = UnsafeMutablePointer<pw_core_events>.allocate(capacity: 1)
    private let registryEvents = UnsafeMutablePointer<pw_registry_events>.allocate(capacity: 1)
    private let streamEvents = UnsafeMutablePointer<pw_stream_events>.allocate(capacity: 1)

    init() {
        for hook in [coreHook, registryHook, streamHook] { hook.initialize(to: spa_hook()) }
        coreEvents.initialize(to: pw_core_events())
        registryEvents.initialize(to: pw_registry_events())
        streamEvents.initialize(to: pw_stream_events())
    }

    deinit {
        for hook in [coreHook, registryHook, streamHook] { hook.deallocate() }
        coreEvents.deallocate()
        registryEvents.deallocate()
        streamEvents.deallocate()
    }

    func listen(
        core: OpaquePointer,
        registry: OpaquePointer,
        stream: OpaquePointer,
        for connection: Connection
    ) {
        // Not retained: the connection removes the hooks before it goes.
        let context = Unmanaged.passUnretained(connection).toOpaque()

        coreEvents.pointee.version = UInt32(PW_VERSION_CORE_EVENTS)
        coreEvents.pointee.error = { context, id, _, result, message in
            let text = message.map { String(cString: $0) } ?? ""
            Connection.at(context)?.coreFailed(id, result, text)
        }
        cpw_core_add_listener(core, coreHook, coreEvents, context)

        registryEvents.pointee.version = UInt32(PW_VERSION_REGISTRY_EVENTS)
        registryEvents.pointee.global = { context, id, _, type, _, properties in
            guard cpw_is_link(type), let properties,
                let source = spa_dict_lookup(properties, PW_KEY_LINK_OUTPUT_NODE),
                let node = UInt32(String(cString: source))
            else { return }
            Connection.at(context)?.linkCame(id, from: node)
        }
        registryEvents.pointee.global_remove = { Connection.at($0)?.objectWent($1) }
        cpw_registry_add_listener(registry, registryHook, registryEvents, context)

        streamEvents.pointee.version = UInt32(PW_VERSION_STREAM_EVENTS)
        streamEvents.pointee.param_changed = { context, id, parameter in
            switch id {
            case SPA_PARAM_Format.rawValue: Connection.at(context)?.formatChanged(parameter)
            case SPA_PARAM_Props.rawValue: Connection.at(context)?.propertiesWritten(parameter)
            default: break
            }
        }
        streamEvents.pointee.io_changed = { Connection.at($0)?.areaChanged($1, $2, $3) }
        streamEvents.pointee.add_buffer = { context, buffer in
            if let buffer { Connection.at(context)?.bufferCame(buffer) }
        }
        streamEvents.pointee.remove_buffer = { context, buffer in
            if let buffer { Connection.at(context)?.bufferWent(buffer) }
        }
        pw_stream_add_listener(stream, streamHook, streamEvents, context)
    }

    /// No more calls. Harmless where nothing was hung.
    func remove() {
        for hook in [streamHook, registryHook, coreHook] where hook.pointee.link.next != nil {
            spa_hook_remove(hook)
        }
    }
}

extension Connection {
    fileprivate static func at(_ context: UnsafeMutableRawPointer?) -> Connection? {
        context.map { Unmanaged<Connection>.fromOpaque($0).takeUnretainedValue() }
    }
}
