/// The introspection data of org.freedesktop.DBus.Introspectable.
enum Introspection {
    /// Returns the document of an object with `interfaces`, and `children` one level below it.
    static func document(interfaces: [Interface], children: [String]) -> String {
        var lines = [
            #"<!DOCTYPE node PUBLIC "-//freedesktop//DTD D-BUS Object Introspection 1.0//EN""#,
            #" "http://www.freedesktop.org/standards/dbus/1.0/introspect.dtd">"#,
            "<node>",
        ]
        for interface in interfaces { lines += element(interface) }
        lines += children.map { #"  <node name="\#($0)"/>"# }
        lines.append("</node>\n")
        return lines.joined(separator: "\n")
    }

    // Names and types need no escaping: their grammars have none of XML's characters.
    private static func element(_ interface: Interface) -> [String] {
        var lines = [#"  <interface name="\#(interface.name)">"#]
        for method in interface.methods {
            let arguments =
                method.takes.map { element($0, direction: "in") }
                + method.gives.map { element($0, direction: "out") }
            lines += element("method", method.name, arguments)
        }
        for signal in interface.signals {
            lines += element("signal", signal.name, signal.carries.map { element($0) })
        }
        for property in interface.properties { lines += element(property) }
        return lines + ["  </interface>"]
    }

    private static func element(_ kind: String, _ name: String, _ arguments: [String]) -> [String] {
        guard !arguments.isEmpty else { return [#"    <\#(kind) name="\#(name)"/>"#] }
        return [#"    <\#(kind) name="\#(name)">"#] + arguments + ["    </\(kind)>"]
    }

    private static func element(
        _ argument: Interface.Argument,
        direction: String? = nil
    ) -> String {
        let direction = direction.map { #" direction="\#($0)""# } ?? ""
        return #"      <arg name="\#(argument.name)" type="\#(argument.type.code)"\#(direction)/>"#
    }

    private static func element(_ property: Interface.Property) -> [String] {
        let access = property.isWritable ? "readwrite" : "read"
        let start = #"    <property name="\#(property.name)" type="\#(property.type.code)""#
        // "true" is the default without an annotation.
        guard property.change != .value else { return [start + #" access="\#(access)"/>"#] }
        let annotation = "org.freedesktop.DBus.Property.EmitsChangedSignal"
        return [
            start + #" access="\#(access)">"#,
            #"      <annotation name="\#(annotation)" value="\#(property.change.rawValue)"/>"#,
            "    </property>",
        ]
    }
}
