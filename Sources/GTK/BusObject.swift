import CGTK

/// An object on the session bus by the name of the program itself, which `Application` owns.
package final class BusObject {
    private let connection: OpaquePointer
    private let id: guint

    /// A call of one of its methods; answer it exactly once.
    package final class Call {
        private let invocation: OpaquePointer
        private let parameters: OpaquePointer?

        fileprivate init(_ invocation: OpaquePointer, _ parameters: OpaquePointer?) {
            self.invocation = invocation
            self.parameters = parameters.map { g_variant_ref($0) }
        }

        deinit { if let parameters { g_variant_unref(parameters) } }

        /// Returns an argument that is a string.
        package func text(_ index: Int) -> String {
            let value = g_variant_get_child_value(parameters, gsize(index))
            defer { g_variant_unref(value) }
            return g_variant_get_string(value, nil).map { String(cString: $0) } ?? ""
        }

        /// Returns the text of `key` in an argument that is a dictionary (a{sv}); `nil` if there is
        /// none.
        package func text(_ index: Int, _ key: String) -> String? {
            find(index, key, "s") { g_variant_get_string($0, nil).map { String(cString: $0) } }
        }

        /// Returns the truth of `key` in an argument that is a dictionary (a{sv}); `nil` if there
        /// is none.
        package func flag(_ index: Int, _ key: String) -> Bool? {
            find(index, key, "b") { g_variant_get_boolean($0) != 0 }
        }

        private func find<Result>(
            _ index: Int,
            _ key: String,
            _ type: String,
            _ body: (OpaquePointer) -> Result?
        ) -> Result? {
            let dictionary = g_variant_get_child_value(parameters, gsize(index))
            let form = g_variant_type_new(type)
            defer {
                g_variant_unref(dictionary)
                g_variant_type_free(form)
            }
            guard let value = g_variant_lookup_value(dictionary, key, form) else { return nil }
            defer { g_variant_unref(value) }
            return body(value)
        }

        /// Answers with strings.
        package func reply(_ words: [String]) {
            var list = words.map { UnsafePointer<gchar>(strdup($0)) } + [nil]
            defer { list.forEach { free(UnsafeMutablePointer(mutating: $0)) } }
            var fields: [OpaquePointer?] = [g_variant_new_strv(&list, gssize(words.count))]
            g_dbus_method_invocation_return_value(invocation, g_variant_new_tuple(&fields, 1))
        }

        /// Answers with an error.
        package func fail(_ name: String, _ message: String) {
            g_dbus_method_invocation_return_dbus_error(invocation, name, message)
        }
    }

    /// Shows the one interface that `xml` describes at `path`; `nil` without a session bus. To be
    /// called before the application runs, so that no program finds the name without the object.
    package init?(_ xml: String, at path: String, _ handler: @escaping (Call) -> Void) {
        guard let connection = g_bus_get_sync(G_BUS_TYPE_SESSION, nil, nil),
            let node = g_dbus_node_info_new_for_xml(xml, nil)
        else { return nil }
        defer { g_dbus_node_info_unref(node) }
        var table = GDBusInterfaceVTable()
        table.method_call = { _, _, _, _, _, parameters, invocation, context in
            guard let invocation, let context else { return }
            Callback<(Call) -> Void>.of(context)(Call(invocation, parameters))
        }
        self.connection = connection
        id = g_dbus_connection_register_object(
            connection,
            path,
            node.pointee.interfaces?.pointee,
            &table,
            retained(Callback(handler)),
            release,
            nil
        )
        guard id != 0 else { return nil }
    }

    deinit {
        if id != 0 { g_dbus_connection_unregister_object(connection, id) }
        g_object_unref(UnsafeMutableRawPointer(connection))
    }
}
