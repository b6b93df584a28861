package import DBusKit
package import DualCamCore

// The interfaces of the cameras' objects, `Role.path`.

/// The options of Use and of Stream.OpenPreview: the user and the password of a camera on the
/// network.
package struct Login: OptionMembers {
    package init() {}
    package let user = OptionMember<String>("user")
    package let password = OptionMember<String>("password")
}

/// `org.dualcam.DualCam1.Camera`: one of the two cameras.
package struct CameraInterface: InterfaceMembers {
    package static let name = "org.dualcam.DualCam1.Camera"
    package static let members = CameraInterface()

    /// The options of SetZoom.
    package struct Zoom: OptionMembers {
        package init() {}
        package let ramp = OptionMember<UInt32>("ramp-ms")
        package let at = OptionMember<Pair<Double, Double>>("at")
        package let relative = OptionMember<Bool>("relative")
    }

    /// The options of FindPerspective.
    package struct Search: OptionMembers {
        package init() {}
        package let apply = OptionMember<Bool>("apply")
    }

    package let selectLens = MethodMember("SelectLens", takes: ArgumentMember<String>("lens"))
    package let setZoom = MethodMember(
        "SetZoom",
        takes: ArgumentMember<Double>("zoom"),
        options: Zoom.self
    )

    package let findPerspective = MethodMember(
        "FindPerspective",
        options: Search.self,
        gives: ArgumentMember<[Pair<Double, Double>]>("corners"),
        ArgumentMember<Double>("certainty")
    )

    package let use = MethodMember(
        "Use",
        takes: ArgumentMember<String>("device"),
        options: Login.self
    )

    package let role = PropertyMember<String>("Role", change: .constant)
    package let name = PropertyMember<String>("Name")
    package let source = PropertyMember<String>("Source")
    package let state = PropertyMember<String>("State")
    package let interruption = PropertyMember<String>("Interruption")
    package let holder = PropertyMember<String>("Holder")
    package let width = PropertyMember<UInt32>("Width")
    package let height = PropertyMember<UInt32>("Height")
    package let frameRate = PropertyMember<UInt32>("FrameRate")
    package let pixelFormat = PropertyMember<String>("PixelFormat")
    package let mirror = PropertyMember<Bool>("Mirror", .readWrite)
    package let rotation = PropertyMember<UInt32>("Rotation", .readWrite)
    package let lens = PropertyMember<String>("Lens")
    package let lenses = PropertyMember<[Pair<String, Double>]>("Lenses")
    package let lensFallback = PropertyMember<Bool>("LensFallback")
    package let torch = PropertyMember<Bool>("Torch", .readWrite)
    package let torchAvailable = PropertyMember<Bool>("TorchAvailable")
    package let ink = PropertyMember<Bool>("Ink", .readWrite)
    package let room = PropertyMember<String>("Room", .readWrite)
    package let roomBlur = PropertyMember<Double>("RoomBlur", .readWrite)
    package let framing = PropertyMember<String>("Framing", .readWrite)
    package let framingTightness = PropertyMember<Double>("FramingTightness", .readWrite)
    package let metering = PropertyMember<String>("Metering", .readWrite)
    package let frozen = PropertyMember<Bool>("Frozen", .readWrite)
    package let perspective = PropertyMember<[Pair<Double, Double>]>("Perspective", .readWrite)
    package let zoom = PropertyMember<Double>("Zoom")
    package let zoomRange = PropertyMember<Pair<Double, Double>>("ZoomRange")
    package let nodeID = PropertyMember<UInt32>("NodeId")
    package let consumers = PropertyMember<UInt32>("Consumers")
    package let framesCaptured = PropertyMember<UInt64>("FramesCaptured", change: .silent)
    package let framesDropped = PropertyMember<UInt64>("FramesDropped", change: .silent)
    package let delay = PropertyMember<UInt64>("Delay", change: .silent)
}

/// `org.dualcam.DualCam1.Camera.Controls`: one camera's controls.
package struct ControlsInterface: InterfaceMembers {
    package static let name = "org.dualcam.DualCam1.Camera.Controls"
    package static let members = ControlsInterface()

    /// The options of SetCompensation and SetRaw.
    package struct Relative: OptionMembers {
        package init() {}
        package let relative = OptionMember<Bool>("relative")
    }

    /// The options of SetImage.
    package struct Image: OptionMembers {
        package init() {}
        package let relative = OptionMember<Bool>("relative")
        package let auto = OptionMember<Bool>("auto")
    }

    package let setISO = MethodMember("SetIso", takes: ArgumentMember<UInt32>("iso"))
    package let stepISO = MethodMember(
        "StepIso",
        takes: ArgumentMember<Int32>("steps"),
        gives: ArgumentMember<UInt32>("value"),
        ArgumentMember<Bool>("limited")
    )
    package let setShutter = MethodMember(
        "SetShutter",
        takes: ArgumentMember<UInt64>("microseconds")
    )
    package let stepShutter = MethodMember(
        "StepShutter",
        takes: ArgumentMember<Int32>("steps"),
        gives: ArgumentMember<UInt64>("microseconds"),
        ArgumentMember<Bool>("limited")
    )
    package let setFocus = MethodMember("SetFocus", takes: ArgumentMember<Double>("focus"))
    package let stepFocus = MethodMember(
        "StepFocus",
        takes: ArgumentMember<Int32>("steps"),
        gives: ArgumentMember<Double>("focus"),
        ArgumentMember<Bool>("limited")
    )
    package let setWhiteBalance = MethodMember(
        "SetWhiteBalance",
        takes: ArgumentMember<String>("preset")
    )
    package let setKelvin = MethodMember("SetKelvin", takes: ArgumentMember<UInt32>("kelvin"))
    package let stepKelvin = MethodMember(
        "StepKelvin",
        takes: ArgumentMember<Int32>("steps"),
        gives: ArgumentMember<UInt32>("kelvin"),
        ArgumentMember<Bool>("limited")
    )
    package let setCompensation = MethodMember(
        "SetCompensation",
        takes: ArgumentMember<Double>("stops"),
        options: Relative.self
    )
    package let setAuto = MethodMember("SetAuto", takes: ArgumentMember<[String]>("dials"))
    package let setImage = MethodMember(
        "SetImage",
        takes: ArgumentMember<String>("name"),
        ArgumentMember<Int32>("value"),
        options: Image.self,
        gives: ArgumentMember<Int32>("now"),
        ArgumentMember<Bool>("limited")
    )
    package let lock = MethodMember("Lock", takes: ArgumentMember<[String]>("what"))
    package let unlock = MethodMember("Unlock")
    package let listRaw = MethodMember("ListRaw", gives: ArgumentMember<[RawControl]>("controls"))
    package let describeRaw = MethodMember(
        "DescribeRaw",
        takes: ArgumentMember<String>("name"),
        gives: ArgumentMember<[String: Value]>("control")
    )
    package let setRaw = MethodMember(
        "SetRaw",
        takes: ArgumentMember<String>("name"),
        ArgumentMember<Int32>("value"),
        options: Relative.self
    )

    package let limitReached = SignalMember(
        "LimitReached",
        ArgumentMember<String>("control"),
        ArgumentMember<String>("bound")
    )

    package let iso = PropertyMember<UInt32>("Iso")
    package let isoAuto = PropertyMember<Bool>("IsoAuto")
    package let isoApproximate = PropertyMember<Bool>("IsoApproximate")
    package let isoStops = PropertyMember<[UInt32]>("IsoStops")
    package let shutter = PropertyMember<UInt64>("Shutter")
    package let shutterText = PropertyMember<String>("ShutterText")
    package let shutterStops = PropertyMember<[UInt64]>("ShutterStops")
    package let exposureAuto = PropertyMember<Bool>("ExposureAuto")
    package let aperture = PropertyMember<Double>("Aperture")
    package let focus = PropertyMember<Double>("Focus")
    package let focusText = PropertyMember<String>("FocusText")
    package let focusAuto = PropertyMember<Bool>("FocusAuto")
    package let whiteBalance = PropertyMember<String>("WhiteBalance")
    package let kelvin = PropertyMember<UInt32>("Kelvin")
    package let kelvinRange = PropertyMember<Pair<UInt32, UInt32>>("KelvinRange")
    package let compensation = PropertyMember<Double>("Compensation")
    package let software = PropertyMember<[String]>("Software")
    package let locked = PropertyMember<[String]>("Locked")
    package let image = PropertyMember<[[String: Value]]>("Image")
}

/// A control of a camera's driver, as ListRaw lists it: an `(ssiiiiu)`.
package struct RawControl: Sendable {
    package var name: String
    /// The type, such as "menu".
    package var type: String
    package var minimum: Int32
    package var maximum: Int32
    package var step: Int32
    package var value: Int32
    /// The flags of V4L2: V4L2_CTRL_FLAG_….
    package var flags: UInt32
}

extension RawControl: DBusType {
    package static var dbusType: CompleteType { "(ssiiiiu)" }

    package init?(dbus value: Value) {
        guard value.type == RawControl.dbusType, case .structure(let fields) = value,
            let name = String(dbus: fields[0]), let type = String(dbus: fields[1]),
            let minimum = Int32(dbus: fields[2]), let maximum = Int32(dbus: fields[3]),
            let step = Int32(dbus: fields[4]), let now = Int32(dbus: fields[5]),
            let flags = UInt32(dbus: fields[6])
        else { return nil }
        self.init(
            name: name,
            type: type,
            minimum: minimum,
            maximum: maximum,
            step: step,
            value: now,
            flags: flags
        )
    }

    package init(_ control: DeviceControl) {
        self.init(
            name: control.name,
            type: control.kind.rawValue,
            minimum: Int32(clamping: control.range.lowerBound),
            maximum: Int32(clamping: control.range.upperBound),
            step: Int32(clamping: control.step),
            value: Int32(clamping: control.value),
            flags: control.flags.rawValue
        )
    }

    package var dbus: Value {
        .structure([
            name.dbus, type.dbus, minimum.dbus, maximum.dbus, step.dbus, value.dbus, flags.dbus,
        ])
    }
}
