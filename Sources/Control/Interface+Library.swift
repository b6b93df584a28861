package import DBusKit

extension Interface {
    /// `org.dualcam.DualCam1.Library`, at `DualCam.path`: the photographs and movies that were
    /// taken.
    package static let library = Interface(
        "org.dualcam.DualCam1.Library",
        methods: [
            Method(
                "List",
                takes: ["offset": "u", "count": "u", "options": "a{sv}"],
                gives: ["items": "aa{sv}", "total": "u"]
            ),
            Method(
                "Thumbnail",
                takes: ["path": "s", "size": "u", "options": "a{sv}"],
                gives: ["thumbnail": "h"]
            ),
        ],
        signals: [Signal("Changed")]
    )
}
