/// What an object offers under one interface name: the Swift form of `dbus/*.xml`.
package struct Interface: Hashable, Sendable, CustomStringConvertible {
    /// An argument of a method or signal.
    package struct Argument: Hashable, Sendable {
        /// What documents and introspection call it.
        package let name: String
        /// The type of its values.
        package let type: CompleteType
    }

    /// A method.
    package struct Method: Hashable, Sendable {
        /// Its name.
        package let name: String
        /// What a call brings.
        package let takes: [Argument]
        /// What the answer brings.
        package let gives: [Argument]

        /// `Method("Swap", takes: ["options": "a{sv}"], gives: ["swapped": "b"])`
        package init(
            _ name: String,
            takes: KeyValuePairs<String, CompleteType> = [:],
            gives: KeyValuePairs<String, CompleteType> = [:]
        ) {
            self.name = name
            self.takes = takes.map(Argument.init)
            self.gives = gives.map(Argument.init)
        }

        /// The signature of a call.
        var signature: String { takes.map(\.type.code).joined() }
    }

    /// A signal.
    package struct Signal: Hashable, Sendable {
        /// Its name.
        package let name: String
        /// What it brings.
        package let carries: [Argument]

        /// `Signal("FailedToStart", ["reason": "s"])`
        package init(_ name: String, _ carries: KeyValuePairs<String, CompleteType> = [:]) {
            self.name = name
            self.carries = carries.map(Argument.init)
        }
    }

    /// A property.
    package struct Property: Hashable, Sendable {
        /// What PropertiesChanged tells of it: the EmitsChangedSignal annotation.
        package enum Change: String, Sendable {
            /// Its new value.
            case value = "true"
            /// That it changed, not to what.
            case invalidates
            /// Nothing, since it never changes.
            case constant = "const"
            /// Nothing, since it changes too often; to be asked for.
            case silent = "false"
        }

        /// Its name.
        package let name: String
        /// The type of its values.
        package let type: CompleteType
        /// Whether callers may set it.
        package let isWritable: Bool
        /// What watchers are told when it changes.
        package let change: Change

        /// `Property("Swapped", "b", isWritable: true)`
        package init(
            _ name: String,
            _ type: CompleteType,
            isWritable: Bool = false,
            change: Change = .value
        ) {
            self.name = name
            self.type = type
            self.isWritable = isWritable
            self.change = change
        }
    }

    /// Its name, with a domain: "org.dualcam.DualCam1.Scene".
    package let name: String
    /// What can be called, in the order of the description.
    package let methods: [Method]
    /// What it tells, in the order of the description.
    package let signals: [Signal]
    /// What can be read, in the order of the description.
    package let properties: [Property]

    /// An interface of these members, each named once within its kind.
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

    /// Its name.
    package var description: String { name }

    /// The method called `name`, if there is one.
    package func method(_ name: String) -> Method? { methods.first { $0.name == name } }
    /// The signal called `name`, if there is one.
    package func signal(_ name: String) -> Signal? { signals.first { $0.name == name } }
    /// The property called `name`, if there is one.
    package func property(_ name: String) -> Property? { properties.first { $0.name == name } }
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
                takes: ["interface_name": "s", "property_name": "s", "value": "v"]
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
