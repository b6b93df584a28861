package import DBusKit

// The interfaces of the daemon. `dbus/*.xml` describes the same members and their meaning.
extension Interface {
    /// `org.dualcam.DualCam1.Stream`, at `DualCam.path`: the publication of the stream.
    package static let stream = Interface(
        "org.dualcam.DualCam1.Stream",
        methods: [
            Method("Start", takes: ["options": "a{sv}"]),
            Method("Stop", takes: ["options": "a{sv}"]),
            Method("Toggle", takes: ["options": "a{sv}"]),
            Method("Restore", takes: ["options": "a{sv}"]),
            Method(
                "Statistics",
                takes: ["options": "a{sv}"],
                gives: ["statistics": "a{sv}"]
            ),
        ],
        signals: [
            Signal("WillStart"),
            Signal("DidStart"),
            Signal("WillStop"),
            Signal("DidStop"),
            Signal("FailedToStart", ["reason": "s"]),
            Signal("RestoreRequested"),
        ],
        properties: [
            Property("State", "s"),
            Property("Active", "b"),
            Property("Possible", "b"),
            Property("Problems", "as"),
            Property("ConfigurationFile", "s", change: .constant),
            Property("NodeId", "u"),
            Property("Consumers", "u"),
            Property("Width", "u"),
            Property("Height", "u"),
            Property("FrameRate", "u"),
            Property("PixelFormat", "s"),
            Property("Version", "s", change: .constant),
        ]
    )

    /// `org.dualcam.DualCam1.Scene`, at `DualCam.path`: the arrangement of the two pictures in the
    /// stream.
    package static let scene = Interface(
        "org.dualcam.DualCam1.Scene",
        methods: [
            Method("Swap", takes: ["options": "a{sv}"], gives: ["swapped": "b"]),
            Method("Reset", takes: ["options": "a{sv}"]),
        ],
        properties: [
            Property("Swapped", "b", isWritable: true),
            Property("Layout", "s", isWritable: true),
            Property("Main", "o"),
            Property("Inset", "o"),
            Property("InsetVisible", "b", isWritable: true),
            Property("InsetCorner", "s", isWritable: true),
            Property("InsetSize", "d", isWritable: true),
            Property("SwapIcon", "b", isWritable: true),
            Property("Hud", "s", isWritable: true),
        ]
    )

    /// `org.dualcam.DualCam1.Privacy`, at `DualCam.path`: the switch that closes the cameras.
    package static let privacy = Interface(
        "org.dualcam.DualCam1.Privacy",
        properties: [Property("Enabled", "b", isWritable: true)]
    )

    /// `org.dualcam.DualCam1.Orientation`, at `DualCam.path`: how the device is held.
    package static let orientation = Interface(
        "org.dualcam.DualCam1.Orientation",
        properties: [
            Property("Mode", "s", isWritable: true),
            Property("Current", "s"),
            Property("SensorAvailable", "b"),
        ]
    )

    /// `org.dualcam.DualCam1.Camera`, at `DualCam.backPath` and `DualCam.frontPath`.
    package static let camera = Interface(
        "org.dualcam.DualCam1.Camera",
        methods: [
            Method("SelectLens", takes: ["lens": "s", "options": "a{sv}"]),
            Method("SetZoom", takes: ["zoom": "d", "options": "a{sv}"]),
        ],
        properties: [
            Property("Role", "s", change: .constant),
            Property("Name", "s"),
            Property("Source", "s"),
            Property("State", "s"),
            Property("Interruption", "s"),
            Property("Width", "u"),
            Property("Height", "u"),
            Property("FrameRate", "u"),
            Property("PixelFormat", "s"),
            Property("Mirror", "b", isWritable: true),
            Property("Rotation", "u", isWritable: true),
            Property("Lens", "s"),
            Property("Lenses", "a(sd)"),
            Property("LensFallback", "b"),
            Property("Torch", "b", isWritable: true),
            Property("Zoom", "d"),
            Property("ZoomRange", "(dd)"),
            Property("NodeId", "u"),
            Property("Consumers", "u"),
            Property("FramesCaptured", "t", change: .silent),
            Property("FramesDropped", "t", change: .silent),
        ]
    )

    /// `org.freedesktop.LogControl1`, at `DualCam.logPath`, as its manual page describes it.
    package static let logControl = Interface(
        "org.freedesktop.LogControl1",
        properties: [
            Property("LogLevel", "s", isWritable: true, change: .silent),
            Property("LogTarget", "s", isWritable: true, change: .silent),
            Property("SyslogIdentifier", "s", change: .silent),
        ]
    )
}
