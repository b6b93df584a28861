import CGTK

/// An object of GObject's, which lives at least as long as this.
///
/// - Context: bound to GTK's thread, as everything in this module that does not say otherwise.
package class Object {
    let pointer: UnsafeMutableRawPointer

    /// Shares `pointer`, a floating or a borrowed reference.
    init(sharing pointer: UnsafeMutableRawPointer?) {
        guard let pointer else { preconditionFailure("GTK returned no object") }
        self.pointer = pointer
        g_object_ref_sink(pointer)
    }

    /// Takes over `pointer`, a reference of the caller's own.
    init(taking pointer: UnsafeMutableRawPointer?) {
        guard let pointer else { preconditionFailure("GTK returned no object") }
        self.pointer = pointer
    }

    convenience init(sharing pointer: OpaquePointer?) {
        self.init(sharing: UnsafeMutableRawPointer(pointer))
    }

    convenience init(taking pointer: OpaquePointer?) {
        self.init(taking: UnsafeMutableRawPointer(pointer))
    }

    deinit { g_object_unref(pointer) }

    /// The object as the final classes of GTK are imported.
    var opaque: OpaquePointer { OpaquePointer(pointer) }

    /// The object as a class that is imported as a structure.
    func cast<Class>() -> UnsafeMutablePointer<Class> {
        pointer.assumingMemoryBound(to: Class.self)
    }

    /// Returns `true` if the object is of the class `type`.
    func `is`(_ type: GType) -> Bool {
        g_type_check_instance_is_a(cast(), type) != 0
    }

    func integer(_ name: String) -> Int {
        var value = GValue()
        g_object_get_property(cast(), name, &value)
        defer { g_value_unset(&value) }
        return Int(g_value_get_int(&value))
    }

    // MARK: Signals

    /// Calls `handler` whenever the object emits `signal`, until the object is gone.
    func connect(_ signal: String, _ handler: @escaping () -> Void) {
        on(signal) { _ in handler() }
    }

    /// Calls `handler` with the arguments of `signal`, of which the first is the object itself.
    func on(_ signal: String, _ handler: @escaping (Arguments) -> Void) {
        connect(signal) {
            handler($0)
            return false
        }
    }

    /// Calls `handler` with the arguments of `signal`, of which the first is the object itself. A
    /// signal that asks for an answer gets the one returned.
    func connect(_ signal: String, answering handler: @escaping (Arguments) -> Bool) {
        let box = retained(Callback(handler))
        let closure = g_closure_new_simple(guint(MemoryLayout<GClosure>.size), box)
        g_closure_add_finalize_notifier(closure, box) { box, _ in release(box) }
        g_closure_set_marshal(closure) { closure, answer, _, values, _, _ in
            guard let box = closure?.pointee.data, let values else { return }
            let isTrue = Callback<(Arguments) -> Bool>.of(box)(Arguments(values: values))
            if let answer, g_type_check_value_holds(answer, booleanType) != 0 {
                g_value_set_boolean(answer, isTrue ? 1 : 0)
            }
        }
        g_signal_connect_closure(pointer, signal, closure, 0)
    }

    struct Arguments {
        fileprivate let values: UnsafePointer<GValue>

        func number(_ index: Int) -> Double { g_value_get_double(values + index) }
        func value<Value>(_ index: Int, _ get: (UnsafePointer<GValue>?) -> Value) -> Value {
            get(values + index)
        }
    }
}

// G_TYPE_BOOLEAN, a macro.
private let booleanType = GType(5 << 2)

/// Keeps `value` alive in C, as the context of a callback; `released(_:)` gives it back.
func retained(_ value: AnyObject) -> UnsafeMutableRawPointer {
    Unmanaged.passRetained(value).toOpaque()
}

/// Releases what was the context of a callback (GDestroyNotify).
let release: @convention(c) (UnsafeMutableRawPointer?) -> Void = { context in
    if let context { Unmanaged<AnyObject>.fromOpaque(context).release() }
}

/// A function as the context of a callback.
final class Callback<Function> {
    let body: Function
    init(_ body: Function) { self.body = body }

    /// Returns the function that is in `context`.
    static func of(_ context: UnsafeMutableRawPointer) -> Function {
        Unmanaged<Callback>.fromOpaque(context).takeUnretainedValue().body
    }
}

typealias Action = Callback<() -> Void>
