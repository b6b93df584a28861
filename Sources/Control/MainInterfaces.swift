package import DBusKit

// The interfaces of the main object, `DualCam.path`. `dbus/*.xml` describes the same members and
// their meaning; a test compares the two.

/// `org.dualcam.DualCam1.Stream`: the publication of the stream.
package struct StreamInterface: InterfaceMembers {
    package static let name = "org.dualcam.DualCam1.Stream"
    package static let members = StreamInterface()

    package let start = MethodMember("Start")
    package let stop = MethodMember("Stop")
    package let toggle = MethodMember("Toggle")
    package let restore = MethodMember("Restore")
    package let undoUse = MethodMember("UndoUse")
    package let reset = MethodMember("Reset")
    package let openPreview = MethodMember(
        "OpenPreview",
        takes: ArgumentMember<String>("device"),
        options: Login.self,
        gives: ArgumentMember<SharedDescriptor>("pictures")
    )
    package let statistics = MethodMember(
        "Statistics",
        gives: ArgumentMember<[String: Value]>("statistics"),
        for: .everyone
    )

    package let willStart = SignalMember("WillStart")
    package let didStart = SignalMember("DidStart")
    package let willStop = SignalMember("WillStop")
    package let didStop = SignalMember("DidStop")
    package let failedToStart = SignalMember("FailedToStart", ArgumentMember<String>("reason"))
    package let restoreRequested = SignalMember("RestoreRequested")

    package let state = PropertyMember<String>("State")
    package let active = PropertyMember<Bool>("Active")
    package let possible = PropertyMember<Bool>("Possible")
    package let problems = PropertyMember<[String]>("Problems")
    package let devices = PropertyMember<[[String: Value]]>("Devices")
    package let configurationFile = PropertyMember<String>("ConfigurationFile", change: .constant)
    package let nodeID = PropertyMember<UInt32>("NodeId")
    package let consumers = PropertyMember<UInt32>("Consumers")
    package let viewers = PropertyMember<[[String: Value]]>("Viewers")
    package let loopbackDevice = PropertyMember<String>("LoopbackDevice")
    package let width = PropertyMember<UInt32>("Width")
    package let height = PropertyMember<UInt32>("Height")
    package let frameRate = PropertyMember<UInt32>("FrameRate")
    package let pixelFormat = PropertyMember<String>("PixelFormat")
    package let version = PropertyMember<String>("Version", change: .constant)
}

/// `org.dualcam.DualCam1.Scene`: the arrangement of the two pictures in the stream.
package struct SceneInterface: InterfaceMembers {
    package static let name = "org.dualcam.DualCam1.Scene"
    package static let members = SceneInterface()

    /// The options of Swap and Reset.
    package struct Transition: OptionMembers {
        package init() {}
        package let instant = OptionMember<Bool>("instant")
    }

    package let swap = MethodMember(
        "Swap",
        options: Transition.self,
        gives: ArgumentMember<Bool>("swapped"),
        for: .everyone
    )
    package let reset = MethodMember("Reset", options: Transition.self, for: .everyone)
    package let settle = MethodMember("Settle", for: .everyone)
    package let settled = SignalMember("Settled")
    package let claimHud = MethodMember("ClaimHud", for: .everyone)
    package let releaseHud = MethodMember("ReleaseHud", for: .everyone)

    package let swapped = PropertyMember<Bool>("Swapped", .readWrite(.everyone))
    package let layout = PropertyMember<String>("Layout", .readWrite(.everyone))
    package let main = PropertyMember<ObjectPath>("Main")
    package let inset = PropertyMember<ObjectPath>("Inset")
    package let insetVisible = PropertyMember<Bool>("InsetVisible", .readWrite(.everyone))
    package let insetShape = PropertyMember<String>("InsetShape", .readWrite(.everyone))
    package let insetCorner = PropertyMember<String>("InsetCorner", .readWrite(.everyone))
    package let insetPosition = PropertyMember<[Double]>("InsetPosition", .readWrite(.everyone))
    package let insetSize = PropertyMember<Double>("InsetSize", .readWrite(.everyone))
    package let background = PropertyMember<String>("Background", .readWrite)
    package let away = PropertyMember<String>("Away", .readWrite)
    package let swapIcon = PropertyMember<Bool>("SwapIcon", .readWrite(.everyone))
    package let hud = PropertyMember<String>("Hud", .readWrite(.everyone))
    package let hudConsumer = PropertyMember<String>("HudConsumer")
    package let title = PropertyMember<String>("Title", .readWrite)
    package let titleCorner = PropertyMember<String>("TitleCorner", .readWrite)
    package let layouts = PropertyMember<[String]>("Layouts", change: .constant)
    package let mainRectangle = PropertyMember<Quad>("MainRectangle")
    package let insetRectangle = PropertyMember<Quad>("InsetRectangle")
    package let insetRoom = PropertyMember<Quad>("InsetRoom")
    package let moving = PropertyMember<Bool>("Moving")
}

/// `org.dualcam.DualCam1.Scenes`: saved scenes, by name.
package struct ScenesInterface: InterfaceMembers {
    package static let name = "org.dualcam.DualCam1.Scenes"
    package static let members = ScenesInterface()

    /// The options of Save.
    package struct Parts: OptionMembers {
        package init() {}
        package let only = OptionMember<[String]>("only")
    }

    /// The options of Apply and Next.
    package struct Application: OptionMembers {
        package init() {}
        package let only = OptionMember<[String]>("only")
        package let instant = OptionMember<Bool>("instant")
    }

    /// The options of Import.
    package struct Addition: OptionMembers {
        package init() {}
        package let replace = OptionMember<Bool>("replace")
    }

    package let save = MethodMember(
        "Save",
        takes: ArgumentMember<String>("name"),
        options: Parts.self
    )
    package let apply = MethodMember(
        "Apply",
        takes: ArgumentMember<String>("name"),
        options: Application.self,
        gives: ArgumentMember<[String: Value]>("refused"),
        for: .everyone
    )
    package let next = MethodMember(
        "Next",
        options: Application.self,
        gives: ArgumentMember<String>("name"),
        ArgumentMember<[String: Value]>("refused"),
        for: .everyone
    )
    package let remove = MethodMember("Remove", takes: ArgumentMember<String>("name"))
    package let rename = MethodMember(
        "Rename",
        takes: ArgumentMember<String>("name"),
        ArgumentMember<String>("new_name")
    )
    package let export = MethodMember(
        "Export",
        takes: ArgumentMember<[String]>("names"),
        gives: ArgumentMember<String>("text")
    )
    package let importText = MethodMember(
        "Import",
        takes: ArgumentMember<String>("text"),
        options: Addition.self,
        gives: ArgumentMember<[String]>("names")
    )

    package let names = PropertyMember<[String]>("Names")
    package let current = PropertyMember<String>("Current")
}

/// `org.dualcam.DualCam1.Steps`: changes of properties from what they are, at each object.
package struct StepsInterface: InterfaceMembers {
    package static let name = "org.dualcam.DualCam1.Steps"
    package static let members = StepsInterface()

    package let step = MethodMember(
        "Step",
        takes: ArgumentMember<String>("interface_name"),
        ArgumentMember<String>("property_name"),
        ArgumentMember<Variant>("change"),
        gives: ArgumentMember<Variant>("value"),
        ArgumentMember<Bool>("limited"),
        for: .asToSet
    )
}

/// `org.dualcam.DualCam1.Configuration`: the keys of the configuration file.
package struct ConfigurationInterface: InterfaceMembers {
    package static let name = "org.dualcam.DualCam1.Configuration"
    package static let members = ConfigurationInterface()

    package let set = MethodMember("Set", takes: ArgumentMember<[String: Value]>("values"))

    package let values = PropertyMember<[String: Value]>("Values")
}

/// A rectangle on D-Bus, a `(dddd)`: x, y, width and height.
package struct Quad: DBusType {
    package var (x, y, width, height): (Double, Double, Double, Double)

    package init(x: Double, y: Double, width: Double, height: Double) {
        (self.x, self.y, self.width, self.height) = (x, y, width, height)
    }

    package static var dbusType: CompleteType { "(dddd)" }

    package init?(dbus value: Value) {
        let numbers = (value.structure ?? []).compactMap(\.double)
        guard value.type == Quad.dbusType, numbers.count == 4 else { return nil }
        self.init(x: numbers[0], y: numbers[1], width: numbers[2], height: numbers[3])
    }

    package var dbus: Value { .structure([x.dbus, y.dbus, width.dbus, height.dbus]) }
}

/// `org.dualcam.DualCam1.Privacy`: the switch that closes the cameras.
package struct PrivacyInterface: InterfaceMembers {
    package static let name = "org.dualcam.DualCam1.Privacy"
    package static let members = PrivacyInterface()

    package let enabled = PropertyMember<Bool>("Enabled", .readWrite, harmless: true)
}

/// `org.dualcam.DualCam1.Phone`: phones whose browsers send pictures.
package struct PhoneInterface: InterfaceMembers {
    package static let name = "org.dualcam.DualCam1.Phone"
    package static let members = PhoneInterface()

    /// The options of Pair.
    package struct Pairing: OptionMembers {
        package init() {}
        package let name = OptionMember<String>("name")
        package let address = OptionMember<String>("address")
    }

    package let pair = MethodMember(
        "Pair",
        options: Pairing.self,
        gives: ArgumentMember<String>("url"),
        ArgumentMember<[String]>("code")
    )
    package let cancel = MethodMember("Cancel")
    package let forget = MethodMember("Forget", takes: ArgumentMember<String>("name"))

    package let state = PropertyMember<String>("State")
    package let paired = PropertyMember<Bool>("Paired")
    package let phones = PropertyMember<[[String: Value]]>("Phones")
}

/// `org.dualcam.DualCam1.Orientation`: how the device is held.
package struct OrientationInterface: InterfaceMembers {
    package static let name = "org.dualcam.DualCam1.Orientation"
    package static let members = OrientationInterface()

    package let mode = PropertyMember<String>("Mode", .readWrite)
    package let current = PropertyMember<String>("Current")
    package let sensorAvailable = PropertyMember<Bool>("SensorAvailable")
}

/// `org.dualcam.DualCam1.Pro`: manual control of the camera, and display of its values.
package struct ProInterface: InterfaceMembers {
    package static let name = "org.dualcam.DualCam1.Pro"
    package static let members = ProInterface()

    /// The options of StepDial.
    package struct Step: OptionMembers {
        package init() {}
        package let camera = OptionMember<String>("camera")
    }

    package let stepDial = MethodMember(
        "StepDial",
        takes: ArgumentMember<Int32>("steps"),
        options: Step.self,
        gives: ArgumentMember<String>("value"),
        ArgumentMember<Bool>("limited")
    )

    package let enabled = PropertyMember<Bool>("Enabled", .readWrite)
    package let dial = PropertyMember<String>("Dial", .readWrite)
}

/// `org.dualcam.DualCam1.Capture`: recordings and photographs.
package struct CaptureInterface: InterfaceMembers {
    package static let name = "org.dualcam.DualCam1.Capture"
    package static let members = CaptureInterface()

    /// The options of TakePhoto.
    package struct Photo: OptionMembers {
        package init() {}
        package let of = OptionMember<[String]>("of")
        package let full = OptionMember<Bool>("full")
        package let live = OptionMember<Bool>("live")
        package let `in` = OptionMember<UInt32>("in")
    }

    /// The options of TakePhotoTo. No movie is made there, and asking for one is an error.
    package struct PhotoTo: OptionMembers {
        package init() {}
        package let full = OptionMember<Bool>("full")
        package let live = OptionMember<Bool>("live")
        package let `in` = OptionMember<UInt32>("in")
    }

    /// The options of StartRecording.
    package struct Recording: OptionMembers {
        package init() {}
        package let of = OptionMember<[String]>("of")
        package let audio = OptionMember<Bool>("audio")
        package let encoder = OptionMember<String>("encoder")
        package let mp4 = OptionMember<Bool>("mp4")
        package let `in` = OptionMember<UInt32>("in")
    }

    package let takePhoto = MethodMember(
        "TakePhoto",
        options: Photo.self,
        gives: ArgumentMember<[[String: Value]]>("photos")
    )
    package let takePhotoTo = MethodMember(
        "TakePhotoTo",
        takes: ArgumentMember<SharedDescriptor>("file"),
        ArgumentMember<String>("which"),
        options: PhotoTo.self,
        gives: ArgumentMember<[String: Value]>("photo")
    )
    package let startRecording = MethodMember("StartRecording", options: Recording.self)
    package let measureSound = MethodMember(
        "MeasureSound",
        takes: ArgumentMember<Bool>("on")
    )
    package let toggleRecording = MethodMember(
        "ToggleRecording",
        options: Recording.self,
        gives: ArgumentMember<Bool>("recording"),
        ArgumentMember<[[String: Value]]>("files")
    )
    package let pauseRecording = MethodMember("PauseRecording")
    package let resumeRecording = MethodMember("ResumeRecording")
    package let stopRecording = MethodMember(
        "StopRecording",
        gives: ArgumentMember<[[String: Value]]>("files")
    )

    package let cancelSelfTimer = MethodMember("CancelSelfTimer")

    package let photoSaved = SignalMember("PhotoSaved", ArgumentMember<[String: Value]>("photo"))
    package let recordingSaved = SignalMember(
        "RecordingSaved",
        ArgumentMember<[String: Value]>("file")
    )
    package let recordingFailed = SignalMember("RecordingFailed", ArgumentMember<String>("reason"))
    package let soundLevel = SignalMember("SoundLevel", ArgumentMember<Double>("level"))

    package let livePhoto = PropertyMember<Bool>("LivePhoto", .readWrite)
    package let recording = PropertyMember<Bool>("Recording")
    package let recordingPaused = PropertyMember<Bool>("RecordingPaused")
    package let recordingSeconds = PropertyMember<UInt32>("RecordingSeconds")
    package let recordingSilence = PropertyMember<String>("RecordingSilence")
    package let recordingRoom = PropertyMember<UInt64>("RecordingRoom")
    package let recordingFiles = PropertyMember<[[String: Value]]>("RecordingFiles")
    package let selfTimer = PropertyMember<String>("SelfTimer")
    package let selfTimerSeconds = PropertyMember<UInt32>("SelfTimerSeconds")
}

/// `org.dualcam.DualCam1.Library`: the photographs and movies that were taken.
package struct LibraryInterface: InterfaceMembers {
    package static let name = "org.dualcam.DualCam1.Library"
    package static let members = LibraryInterface()

    package let list = MethodMember(
        "List",
        takes: ArgumentMember<UInt32>("offset"),
        ArgumentMember<UInt32>("count"),
        gives: ArgumentMember<[[String: Value]]>("items"),
        ArgumentMember<UInt32>("total")
    )
    package let thumbnail = MethodMember(
        "Thumbnail",
        takes: ArgumentMember<String>("path"),
        ArgumentMember<UInt32>("size"),
        gives: ArgumentMember<SharedDescriptor>("thumbnail")
    )

    package let changed = SignalMember("Changed")
}

/// `org.freedesktop.LogControl1`, at `DualCam.logPath`, as its manual page describes it.
package struct LogControlInterface: InterfaceMembers {
    package static let name = "org.freedesktop.LogControl1"
    package static let members = LogControlInterface()

    package let logLevel = PropertyMember<String>("LogLevel", .readWrite, change: .silent)
    package let logTarget = PropertyMember<String>("LogTarget", .readWrite, change: .silent)
    package let syslogIdentifier = PropertyMember<String>("SyslogIdentifier", change: .silent)
}
