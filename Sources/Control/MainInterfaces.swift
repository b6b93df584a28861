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
    package let configurationFile = PropertyMember<String>("ConfigurationFile", change: .constant)
    package let nodeID = PropertyMember<UInt32>("NodeId")
    package let consumers = PropertyMember<UInt32>("Consumers")
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

    package let swapped = PropertyMember<Bool>("Swapped", .readWrite(.everyone))
    package let layout = PropertyMember<String>("Layout", .readWrite(.everyone))
    package let main = PropertyMember<ObjectPath>("Main")
    package let inset = PropertyMember<ObjectPath>("Inset")
    package let insetVisible = PropertyMember<Bool>("InsetVisible", .readWrite(.everyone))
    package let insetCorner = PropertyMember<String>("InsetCorner", .readWrite(.everyone))
    package let insetSize = PropertyMember<Double>("InsetSize", .readWrite(.everyone))
    package let swapIcon = PropertyMember<Bool>("SwapIcon", .readWrite(.everyone))
    package let hud = PropertyMember<String>("Hud", .readWrite(.everyone))
}

/// `org.dualcam.DualCam1.Privacy`: the switch that closes the cameras.
package struct PrivacyInterface: InterfaceMembers {
    package static let name = "org.dualcam.DualCam1.Privacy"
    package static let members = PrivacyInterface()

    package let enabled = PropertyMember<Bool>("Enabled", .readWrite)
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
        package let of = OptionMember<String>("of")
        package let full = OptionMember<Bool>("full")
        package let live = OptionMember<Bool>("live")
    }

    /// The options of TakePhotoTo. No movie is made there, and asking for one is an error.
    package struct PhotoTo: OptionMembers {
        package init() {}
        package let full = OptionMember<Bool>("full")
        package let live = OptionMember<Bool>("live")
    }

    /// The options of StartRecording.
    package struct Recording: OptionMembers {
        package init() {}
        package let of = OptionMember<[String]>("of")
        package let audio = OptionMember<Bool>("audio")
        package let encoder = OptionMember<String>("encoder")
        package let mp4 = OptionMember<Bool>("mp4")
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
    package let stopRecording = MethodMember(
        "StopRecording",
        gives: ArgumentMember<[[String: Value]]>("files")
    )

    package let photoSaved = SignalMember("PhotoSaved", ArgumentMember<[String: Value]>("photo"))
    package let recordingSaved = SignalMember(
        "RecordingSaved",
        ArgumentMember<[String: Value]>("file")
    )
    package let recordingFailed = SignalMember("RecordingFailed", ArgumentMember<String>("reason"))

    package let livePhoto = PropertyMember<Bool>("LivePhoto", .readWrite)
    package let recording = PropertyMember<Bool>("Recording")
    package let recordingSeconds = PropertyMember<UInt32>("RecordingSeconds")
    package let recordingFiles = PropertyMember<[[String: Value]]>("RecordingFiles")
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
