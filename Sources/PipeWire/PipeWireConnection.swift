import CPipeWire
import Glibc
package import Platform

/// A connection to PipeWire: the library's loop, context, core and registry. It owns these C
/// objects, so that nothing remains of a lost connection. PipeWire's callbacks only store what they
/// report or pass it to the observer, which does no more: none calls other code, and none destroys
/// its caller. Bound to the thread that creates it.
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
    /// The cameras that are asked for their location, by their id.
    private var asked: [UInt32: AskedCamera] = [:]
    /// The links whose failure is to be told, by their id.
    private var links: [UInt32: BoundObject] = [:]
    /// `true` if a camera was asked since PipeWire was last asked to answer.
    private var hasAsked = false

    /// PipeWire's library, initialized once and never released.
    private static let library: Void = pw_init(nil, nil)

    /// Connects to the PipeWire instance `remote`, a name or a path, or to the user's own if it is
    /// `nil`. `client` are the properties that others see of us. One that lists objects alone need
    /// not have the library's thread that `carriesData` of streams. Does not block. Throws ENOENT,
    /// ECONNREFUSED or EHOSTDOWN if PipeWire does not run; otherwise the errno of the call that
    /// failed.
    package init(
        remote: String?,
        client: [String: String] = [:],
        carriesData: Bool = true
    ) throws(SystemError) {
        _ = Self.library
        var undo: [() -> Void] = []
        defer { for step in undo.reversed() { step() } }

        guard let loop = pw_loop_new(nil) else { throw .last("pw_loop_new") }
        cpw_loop_enter(loop)
        undo.append {
            cpw_loop_leave(loop)
            pw_loop_destroy(loop)
        }
        // From 1.0 on its module-rt would ask the system bus for priority here, and wait for the
        // answer. Threads of ours that keep time have their priority from `RealTimeThreads`.
        guard let context = pw_context_new(loop, makeProperties(["module.rt": "false"]), 0) else {
            throw .last("pw_context_new")
        }
        undo.append { pw_context_destroy(context) }
        if !carriesData { pw_context_get_data_loop(context).map { _ = pw_data_loop_stop($0) } }

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
        asked = [:]
        links = [:]
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
            connection?.answered()
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
            if case .camera(let camera) = object, connection.asks(camera, id) { return }
            if case .link = object, connection.kinds.contains(.failure) {
                connection.links[id] = BoundObject(
                    connection.registry,
                    id,
                    isLink: true,
                    connection
                )
            }
            observer.objectCame(id, object)
        }
        listeners.memory.pointee.registry.global_remove = { context, id in
            let connection: PipeWireConnection? = listener(context)
            connection?.asked[id] = nil
            connection?.links[id] = nil
            connection?.observer?.objectWent(id)
        }
        listeners.listen(core: core, registry: registry, self)
    }

    private func answered() {
        if hasAsked {
            // What the cameras answer comes before the answer to this.
            hasAsked = false
            cpw_core_sync(core, 0, 0)
        } else {
            isListed = true
        }
    }

    /// Asks `camera`, the object `id`, for its location if that is wanted; the observer gets it
    /// once it has answered. Returns `false` if there is nothing to ask.
    private func asks(_ camera: PipeWireObject.Camera, _ id: UInt32) -> Bool {
        guard kinds.contains(.location), camera.device.isEmpty,
            let node = BoundObject(registry, id, isLink: false, self)
        else { return false }
        asked[id] = AskedCamera(camera: camera, node: node)
        hasAsked = true
        return true
    }

    /// Passes on the camera that is the object `id`, which is at `location`.
    fileprivate func located(_ id: UInt32, _ location: String) {
        guard var asked = asked[id], !asked.hasAnswered || asked.camera.location != location else {
            return
        }
        asked.hasAnswered = true
        asked.camera.location = location
        self.asked[id] = asked
        observer?.objectCame(id, .camera(asked.camera))
    }

    /// Passes on that the link which is the object `id` cannot be made.
    fileprivate func failed(_ id: UInt32, _ reason: String) {
        observer?.objectCame(id, .failure(reason))
    }
}

/// A camera that is asked for its location.
private struct AskedCamera {
    var camera: PipeWireObject.Camera
    let node: BoundObject
    var hasAnswered = false
}

/// An object that a connection reads: a node's properties, or a link's state.
private final class BoundObject {
    private let bound = UnsafeMutablePointer<cpw_bound>.allocate(capacity: 1)

    /// Binds the object `id` of `registry` for `connection`, which is not retained and outlives
    /// this; `nil` if that is impossible.
    init?(_ registry: OpaquePointer, _ id: UInt32, isLink: Bool, _ connection: PipeWireConnection) {
        bound.initialize(to: cpw_bound())
        bound.pointee.node.info = { context, info in
            let connection: PipeWireConnection? = listener(context)
            guard let connection, let info = info?.pointee else { return }
            let location = info.props.flatMap { spa_dict_lookup($0, "api.libcamera.location") }
            connection.located(info.id, location.map { String(cString: $0) } ?? "")
        }
        bound.pointee.link.info = { context, info in
            let connection: PipeWireConnection? = listener(context)
            guard let info = info?.pointee, info.state == PW_LINK_STATE_ERROR else { return }
            connection?.failed(info.id, info.error.map { String(cString: $0) } ?? "")
        }
        let context = Unmanaged.passUnretained(connection).toOpaque()
        // `deinit` follows in either case.
        guard cpw_bind(bound, registry, id, isLink, context) else { return nil }
    }

    deinit {
        cpw_unbind(bound)
        bound.deallocate()
    }
}

/// An object that follows PipeWire's registry. Called from within `iterate()`; must not release the
/// connection.
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
        case link
        case failure
        case client
        case camera
        case microphone
        /// A `camera`'s `location`, which takes asking the camera.
        case location
        /// A `node`; a camera is one only where cameras are not wanted.
        case node
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
        package var device = ""
        /// The `node.description`, for people; empty if it has none.
        package var title = ""
        /// The `media.role`: "Camera" for a camera; empty if it has none.
        package var role = ""
        /// The `object.path`, such as "libcamera:…"; empty if it has none.
        package var path = ""
        /// The direction that libcamera says it faces, "front", "back" or "external"; empty if it
        /// is unknown or was not asked for.
        package var location = ""
    }

    case link(source: UInt32, target: UInt32)
    /// A link that was reported before and cannot be made, with PipeWire's words for it.
    case failure(String)
    /// A client of the process with this id, as text, with the name that it gives itself and the
    /// one that its sandbox has; each is empty if it is unknown.
    case client(process: String, name: String, application: String)
    /// A node of the client with this id, as text.
    case node(client: String)
    case camera(Camera)
    /// A node of the class Audio/Source, with its `node.name`, and its name for people.
    case microphone(name: String, title: String)

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
                let source = value(PW_KEY_LINK_OUTPUT_NODE).flatMap(UInt32.init),
                let target = value(PW_KEY_LINK_INPUT_NODE).flatMap(UInt32.init)
            else { return nil }
            self = .link(source: source, target: target)
        } else if cpw_is_client(type) {
            guard kinds.contains(.client) else { return nil }
            self = .client(
                process: value(PW_KEY_SEC_PID) ?? "",
                name: value(PW_KEY_APP_NAME) ?? "",
                application: value("pipewire.access.portal.app_id") ?? value(PW_KEY_APP_ID) ?? ""
            )
        } else if cpw_is_node(type), kinds.contains(.camera),
            value(PW_KEY_MEDIA_CLASS)?.hasPrefix("Video/Source") == true
        {
            let path = value(PW_KEY_OBJECT_PATH) ?? ""
            self = .camera(
                Camera(
                    name: value(PW_KEY_NODE_NAME) ?? "",
                    serial: value(PW_KEY_OBJECT_SERIAL) ?? "\(id)",
                    client: value(PW_KEY_CLIENT_ID) ?? "",
                    device: path.hasPrefix("v4l2:") ? String(path.dropFirst("v4l2:".count)) : "",
                    title: value(PW_KEY_NODE_DESCRIPTION) ?? "",
                    role: value(PW_KEY_MEDIA_ROLE) ?? "",
                    path: path
                )
            )
        } else if cpw_is_node(type), kinds.contains(.microphone),
            value(PW_KEY_MEDIA_CLASS)?.hasPrefix("Audio/Source") == true,
            let name = value(PW_KEY_NODE_NAME)
        {
            self = .microphone(name: name, title: value(PW_KEY_NODE_DESCRIPTION) ?? name)
        } else if cpw_is_node(type), kinds.contains(.node) {
            self = .node(client: value(PW_KEY_CLIENT_ID) ?? "")
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
