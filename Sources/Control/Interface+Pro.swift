package import DBusKit

// The interfaces of Pro mode. `dbus/*.xml` describes the same members and their meaning.
extension Interface {
    /// `org.dualcam.DualCam1.Pro`, at `DualCam.path`: manual control of the camera, and display of
    /// its values.
    package static let pro = Interface(
        "org.dualcam.DualCam1.Pro",
        methods: [
            Method(
                "StepDial",
                takes: ["steps": "i", "options": "a{sv}"],
                gives: ["value": "s", "limited": "b"]
            )
        ],
        properties: [
            Property("Enabled", "b", isWritable: true),
            Property("Dial", "s", isWritable: true),
        ]
    )

    /// `org.dualcam.DualCam1.Camera.Controls`, at `DualCam.backPath` and `DualCam.frontPath`.
    package static let controls = Interface(
        "org.dualcam.DualCam1.Camera.Controls",
        methods: [
            Method("SetIso", takes: ["iso": "u", "options": "a{sv}"]),
            Method(
                "StepIso",
                takes: ["steps": "i", "options": "a{sv}"],
                gives: ["value": "u", "limited": "b"]
            ),
            Method("SetShutter", takes: ["microseconds": "t", "options": "a{sv}"]),
            Method(
                "StepShutter",
                takes: ["steps": "i", "options": "a{sv}"],
                gives: ["microseconds": "t", "limited": "b"]
            ),
            Method("SetFocus", takes: ["focus": "d", "options": "a{sv}"]),
            Method(
                "StepFocus",
                takes: ["steps": "i", "options": "a{sv}"],
                gives: ["focus": "d", "limited": "b"]
            ),
            Method("SetWhiteBalance", takes: ["preset": "s", "options": "a{sv}"]),
            Method("SetKelvin", takes: ["kelvin": "u", "options": "a{sv}"]),
            Method(
                "StepKelvin",
                takes: ["steps": "i", "options": "a{sv}"],
                gives: ["kelvin": "u", "limited": "b"]
            ),
            Method("SetCompensation", takes: ["stops": "d", "options": "a{sv}"]),
            Method("SetAuto", takes: ["dials": "as", "options": "a{sv}"]),
            Method("ListRaw", takes: ["options": "a{sv}"], gives: ["controls": "a(ssiiiiu)"]),
            Method(
                "DescribeRaw",
                takes: ["name": "s", "options": "a{sv}"],
                gives: ["control": "a{sv}"]
            ),
            Method("SetRaw", takes: ["name": "s", "value": "i", "options": "a{sv}"]),
        ],
        signals: [Signal("LimitReached", ["control": "s", "bound": "s"])],
        properties: [
            Property("Iso", "u"),
            Property("IsoAuto", "b"),
            Property("IsoApproximate", "b"),
            Property("IsoStops", "au"),
            Property("Shutter", "t"),
            Property("ShutterText", "s"),
            Property("ShutterStops", "at"),
            Property("ExposureAuto", "b"),
            Property("Aperture", "d"),
            Property("Focus", "d"),
            Property("FocusText", "s"),
            Property("FocusAuto", "b"),
            Property("WhiteBalance", "s"),
            Property("Kelvin", "u"),
            Property("KelvinRange", "(uu)"),
            Property("Compensation", "d"),
            Property("Software", "as"),
        ]
    )
}
