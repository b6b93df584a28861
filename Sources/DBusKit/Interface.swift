/// The members of a D-Bus interface: the Swift form of `dbus/*.xml`.
package struct Interface: Hashable, Sendable, CustomStringConvertible {
    /// An argument of a method or signal.
    package struct Argument: Hashable, Sendable {
        package let name: String
        package let type: CompleteType
    }

    /// A method.
    package struct Method: Hashable, Sendable {
        package let name: String
        package let takes: [Argument]
        /// The types of the options that the method knows, by name. Others are ignored.
        package let options: [String: CompleteType]
        package let gives: [Argument]
        package let access: Access

        var signature: String { takes.map(\.type.code).joined() }
    }

    /// A signal.
    package struct Signal: Hashable, Sendable {
        package let name: String
        package let carries: [Argument]
    }

    /// A property.
    package struct Property: Hashable, Sendable {
        /// The content of PropertiesChanged for a property: the EmitsChangedSignal annotation.
        package enum Change: String, Sendable {
            case value = "true"
            /// The name without the value.
            case invalidates
            /// Nothing, because the property never changes.
            case constant = "const"
            /// Nothing, because the property changes too often; clients read it when needed.
            case silent = "false"
        }

        package let name: String
        package let type: CompleteType
        package let isWritable: Bool
        package let change: Change
        /// The programs that may set it. All may read it.
        package let access: Access
        /// The value to which all programs may set it, if any.
        package let harmless: Value?

        /// Creates a property: `Property("Swapped", "b", isWritable: true)`.
        package init(
            _ name: String,
            _ type: CompleteType,
            isWritable: Bool = false,
            change: Change = .value,
            access: Access = .everyone,
            harmless: Value? = nil
        ) {
            self.name = name
            self.type = type
            self.isWritable = isWritable
            self.change = change
            self.access = access
            self.harmless = harmless
        }
    }

    /// The full name of the interface, such as "org.dualcam.DualCam1.Scene".
    package let name: String
    package let methods: [Method]
    package let signals: [Signal]
    package let properties: [Property]

    /// Creates an interface. Names are unique among methods, among signals and among properties.
    package init(
        _ name: String,
        methods: [Method] = [],
        signals: [Signal] = [],
        properties: [Property] = []
    ) {
        self.name = name
        self.methods = methods
        self.signals = signals
        self.properties = properties
    }

    package var description: String { name }

    /// Returns the method `name`, or `nil`.
    package func method(_ name: String) -> Method? { methods.first { $0.name == name } }
    /// Returns the signal `name`, or `nil`.
    package func signal(_ name: String) -> Signal? { signals.first { $0.name == name } }
    /// Returns the property `name`, or `nil`.
    package func property(_ name: String) -> Property? { properties.first { $0.name == name } }
}

extension Interface.Method {
    /// Creates a method: `Method("Swap", takes: ["options": "a{sv}"], gives: ["swapped": "b"])`.
    package init(
        _ name: String,
        takes: KeyValuePairs<String, CompleteType> = [:],
        gives: KeyValuePairs<String, CompleteType> = [:],
        for access: Access = .everyone
    ) {
        self.init(
            name: name,
            takes: takes.map(Interface.Argument.init),
            options: [:],
            gives: gives.map(Interface.Argument.init),
            access: access
        )
    }
}

extension Interface.Signal {
    /// Creates a signal: `Signal("FailedToStart", ["reason": "s"])`.
    package init(_ name: String, _ carries: KeyValuePairs<String, CompleteType> = [:]) {
        self.init(name: name, carries: carries.map(Interface.Argument.init))
    }
}

// MARK: - The standard interfaces, which an ObjectServer answers itself

extension Interface {
    static let peer = Interface(
        "org.freedesktop.DBus.Peer",
        methods: [Method("Ping"), Method("GetMachineId", gives: ["machine_uuid": "s"])]
    )

    static let introspectable = Interface(
        "org.freedesktop.DBus.Introspectable",
        methods: [Method("Introspect", gives: ["xml_data": "s"])]
    )

    static let objectManager = Interface(
        "org.freedesktop.DBus.ObjectManager",
        methods: [
            Method(
                "GetManagedObjects",
                gives: ["objpath_interfaces_and_properties": "a{oa{sa{sv}}}"]
            )
        ],
        signals: [
            Signal(
                "InterfacesAdded",
                ["object_path": "o", "interfaces_and_properties": "a{sa{sv}}"]
            ),
            Signal("InterfacesRemoved", ["object_path": "o", "interfaces": "as"]),
        ]
    )

    static let properties = Interface(
        "org.freedesktop.DBus.Properties",
        methods: [
            Method(
                "Get",
                takes: ["interface_name": "s", "property_name": "s"],
                gives: ["value": "v"]
            ),
            Method("GetAll", takes: ["interface_name": "s"], gives: ["values": "a{sv}"]),
            Method(
                "Set",
                takes: ["interface_name": "s", "property_name": "s", "value": "v"],
                for: .asToSet
            ),
        ],
        signals: [
            Signal(
                "PropertiesChanged",
                [
                    "interface_name": "s", "changed_properties": "a{sv}",
                    "invalidated_properties": "as",
                ]
            )
        ]
    )
}
