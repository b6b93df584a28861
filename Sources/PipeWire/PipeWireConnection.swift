import CPipeWire
import Glibc
package import Platform

/// A connection to PipeWire: the library's loop, context, core and registry.
///
/// It owns these C objects, so that nothing remains of a lost connection. PipeWire's callbacks only
/// store what they report or pass it to the observer, which does no more: none calls other code,
/// and none destroys its caller.
///
/// - Context: bound to the thread that creates it.
package final class PipeWireConnection {
    /// The loop's descriptor; readable when `iterate()` has work.
    package let descriptor: CInt
    /// The reason why the connection is unusable, or `nil` while it works.
    package private(set) var failure: String?
    /// `true` once PipeWire has listed all objects that were there when `list()` was called.
    package private(set) var isListed = false

    /// The pw_core.
    let core: OpaquePointer

    // In the order of creation; released in reverse.
    private let loop: UnsafeMutablePointer<pw_loop>
    private let context: OpaquePointer
    private let registry: OpaquePointer
    private let listeners = Listeners()
    private weak var observer: (any PipeWireObserver)?
    private var kinds: Set<PipeWireObject.Kind> = []

    /// PipeWire's library, initialized once and never released.
    private static let library: Void = pw_init(nil, nil)

    /// Connects to the PipeWire instance `remote`, a name or a path, or to the user's own if it is
    /// `nil`. `client` are the properties that others see of us. Does not block.
    ///
    /// - Throws: ENOENT, ECONNREFUSED or EHOSTDOWN if PipeWire does not run; otherwise the errno of
    ///   the call that failed.
    package init(remote: String?, client: [String: String] = [:]) throws(SystemError) {
        _ = Self.library
        var undo: [() -> Void] = []
        defer { for step in undo.reversed() { step() } }

        guard let loop = pw_loop_new(nil) else { throw .last("pw_loop_new") }
        cpw_loop_enter(loop)
        undo.append {
            cpw_loop_leave(loop)
            pw_loop_destroy(loop)
        }
        guard let context = pw_context_new(loop, nil, 0) else { throw .last("pw_context_new") }
        undo.append { pw_context_destroy(context) }

        var client = client
        client[PW_KEY_REMOTE_NAME] = remote
        guard let core = pw_context_connect(context, makeProperties(client), 0) else {
            throw .last("pw_context_connect", remote ?? "")
        }
        undo.append { pw_core_disconnect(core) }

        guard let registry = pw_core_get_registry(core, UInt32(PW_VERSION_REGISTRY), 0) else {
            throw .last("pw_core_get_registry")
        }
        self.loop = loop
        self.context = context
        self.core = core
        self.registry = registry
        descriptor = cpw_loop_get_fd(loop)
        undo = []  // From here on `deinit` releases it all.
        listen()
    }

    deinit {
        listeners.remove()
        pw_proxy_destroy(registry)
        pw_core_disconnect(core)
        pw_context_destroy(context)
        cpw_loop_leave(loop)
        pw_loop_destroy(loop)
    }

    /// Handles PipeWire's events for at most `milliseconds`. Does not block if they are 0.
    package func iterate(milliseconds: CInt = 0) {
        let result = cpw_loop_iterate(loop, milliseconds)
        if result < 0, result != -EINTR { failure = failure ?? String(cString: strerror(-result)) }
    }

    /// Reports the objects of `kinds` to `observer`, which is not retained: those that are there,
    /// and from then on those that come and go. To be called once, before the first `iterate()`.
    package func observe(_ kinds: Set<PipeWireObject.Kind>, by observer: any PipeWireObserver) {
        self.kinds = kinds
        self.observer = observer
        // Answered after all that was reported before.
        cpw_core_sync(core, 0, 0)
    }

    private func listen() {
        listeners.memory.pointee.core.done = { context, _, _ in
            let connection: PipeWireConnection? = listener(context)
            connection?.isListed = true
        }
        listeners.memory.pointee.core.error = { context, id, _, result, message in
            let connection: PipeWireConnection? = listener(context)
            // Only this error, of the core itself (object 0), ends the connection.
            guard let connection, id == 0, result == -EPIPE else { return }
            let text = message.map { String(cString: $0) } ?? ""
            connection.failure = connection.failure ?? text
        }
        listeners.memory.pointee.registry.global = { context, id, _, type, _, properties in
            let connection: PipeWireConnection? = listener(context)
            guard let connection, let observer = connection.observer, let type, let properties,
                let object = PipeWireObject(type, id, properties, kinds: connection.kinds)
            else { return }
            observer.objectCame(id, object)
        }
        listeners.memory.pointee.registry.global_remove = { context, id in
            let connection: PipeWireConnection? = listener(context)
            connection?.observer?.objectWent(id)
        }
        listeners.listen(core: core, registry: registry, self)
    }
}

/// An object that follows PipeWire's registry.
///
/// - Context: called from within `iterate()`; must not release the connection.
package protocol PipeWireObserver: AnyObject {
    /// Called for each object of the observed kinds, by its id.
    func objectCame(_ id: UInt32, _ object: PipeWireObject)
    /// Called when any object is gone, by its id.
    func objectWent(_ id: UInt32)
}

/// An object in PipeWire's registry.
package enum PipeWireObject: Hashable, Sendable {
    /// A kind of object.
    package enum Kind: Hashable, Sendable {
        /// A `link`.
        case link
        /// A `client`.
        case client
        /// A `camera`.
        case camera
    }

    /// A node of the class Video/Source.
    package struct Camera: Hashable, Sendable {
        /// The `node.name`.
        package var name: String
        /// The `object.serial`, which other nodes can have as their target.
        package var serial: String
        /// The id of its client, as text.
        package var client: String
        /// The path of its V4L2 device file; empty if there is none.
        package var device: String
    }

    /// A link from the node with the id `source`.
    case link(source: UInt32)
    /// A client of the process with this id, as text; empty if it is unknown.
    case client(process: String)
    /// A camera.
    case camera(Camera)

    /// Creates the object that the registry reports, or `nil` if it is of none of `kinds`.
    fileprivate init?(
        _ type: UnsafePointer<CChar>,
        _ id: UInt32,
        _ properties: UnsafePointer<spa_dict>,
        kinds: Set<Kind>
    ) {
        func value(_ key: String) -> String? {
            spa_dict_lookup(properties, key).map { String(cString: $0) }
        }
        if cpw_is_link(type) {
            guard kinds.contains(.link),
                let node = value(PW_KEY_LINK_OUTPUT_NODE).flatMap(UInt32.init)
            else { return nil }
            self = .link(source: node)
        } else if cpw_is_client(type) {
            guard kinds.contains(.client) else { return nil }
            self = .client(process: value(PW_KEY_SEC_PID) ?? "")
        } else if cpw_is_node(type) {
            guard kinds.contains(.camera),
                value(PW_KEY_MEDIA_CLASS)?.hasPrefix("Video/Source") == true
            else { return nil }
            let path = value(PW_KEY_OBJECT_PATH) ?? ""
            self = .camera(
                Camera(
                    name: value(PW_KEY_NODE_NAME) ?? "",
                    serial: value(PW_KEY_OBJECT_SERIAL) ?? "\(id)",
                    client: value(PW_KEY_CLIENT_ID) ?? "",
                    device: path.hasPrefix("v4l2:") ? String(path.dropFirst("v4l2:".count)) : ""
                )
            )
        } else {
            return nil
        }
    }
}

/// Returns `values` as PipeWire properties, owned by the caller; `nil` if out of memory.
func makeProperties(_ values: [String: String]) -> UnsafeMutablePointer<pw_properties>? {
    var empty = spa_dict()
    let properties = pw_properties_new_dict(&empty)
    for (key, value) in values { pw_properties_set(properties, key, value) }
    return properties
}
