/// The members of a D-Bus interface: the Swift form of `dbus/*.xml`.
package struct Interface: Hashable, Sendable, CustomStringConvertible {
    /// An argument of a method or signal.
    package struct Argument: Hashable, Sendable {
        /// The name in introspection data.
        package let name: String
        /// The type of the values.
        package let type: CompleteType
    }

    /// A method.
    package struct Method: Hashable, Sendable {
        /// The name of the method.
        package let name: String
        /// The arguments of a call.
        package let takes: [Argument]
        /// The types of the options that the method knows, by name. Others are ignored.
        package let options: [String: CompleteType]
        /// The values of the answer.
        package let gives: [Argument]
        /// The programs that may call it.
        package let access: Access

        /// Creates a method: `Method("Swap", takes: ["options": "a{sv}"], gives: ["swapped":
        /// "b"])`.
        package init(
            _ name: String,
            takes: KeyValuePairs<String, CompleteType> = [:],
            gives: KeyValuePairs<String, CompleteType> = [:]
        ) {
            self.init(
                name,
                takes: takes.map(Argument.init),
                options: [:],
                gives: gives.map(Argument.init),
                access: .everyone
            )
        }

        init(
            _ name: String,
            takes: [Argument],
            options: [String: CompleteType],
            gives: [Argument],
            access: Access
        ) {
            self.name = name
            self.takes = takes
            self.options = options
            self.gives = gives
            self.access = access
        }

        /// The signature of a call.
        var signature: String { takes.map(\.type.code).joined() }
    }

    /// A signal.
    package struct Signal: Hashable, Sendable {
        /// The name of the signal.
        package let name: String
        /// The arguments of the signal.
        package let carries: [Argument]

        /// Creates a signal: `Signal("FailedToStart", ["reason": "s"])`.
        package init(_ name: String, _ carries: KeyValuePairs<String, CompleteType> = [:]) {
            self.init(name, carries: carries.map(Argument.init))
        }

        init(_ name: String, carries: [Argument]) {
            self.name = name
            self.carries = carries
        }
    }

    /// A property.
    package struct Property: Hashable, Sendable {
        /// The content of PropertiesChanged for a property: the EmitsChangedSignal annotation.
        package enum Change: String, Sendable {
            /// The new value.
            case value = "true"
            /// The name without the value.
            case invalidates
            /// Nothing, because the property never changes.
            case constant = "const"
            /// Nothing, because the property changes too often; clients read it when needed.
            case silent = "false"
        }

        /// The name of the property.
        package let name: String
        /// The type of the values.
        package let type: CompleteType
        /// `true` if clients may set the property.
        package let isWritable: Bool
        /// The content of PropertiesChanged for the property.
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
    /// The methods, in the order of the description.
    package let methods: [Method]
    /// The signals, in the order of the description.
    package let signals: [Signal]
    /// The properties, in the order of the description.
    package let properties: [Property]

    /// Creates an interface. Names must be unique among methods, among signals and among
    /// properties.
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

    /// The name of the interface.
    package var description: String { name }

    /// Returns the method `name`, or `nil`.
    package func method(_ name: String) -> Method? { methods.first { $0.name == name } }
    /// Returns the signal `name`, or `nil`.
    package func signal(_ name: String) -> Signal? { signals.first { $0.name == name } }
    /// Returns the property `name`, or `nil`.
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
