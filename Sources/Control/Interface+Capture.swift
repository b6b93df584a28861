package import DBusKit

extension Interface {
    /// `org.dualcam.DualCam1.Capture`, at `DualCam.path`: recordings and photographs.
    package static let capture = Interface(
        "org.dualcam.DualCam1.Capture",
        methods: [
            Method("TakePhoto", takes: ["options": "a{sv}"], gives: ["photos": "aa{sv}"]),
            Method(
                "TakePhotoTo",
                takes: ["file": "h", "which": "s", "options": "a{sv}"],
                gives: ["photo": "a{sv}"]
            ),
            Method("StartRecording", takes: ["options": "a{sv}"]),
            Method("StopRecording", takes: ["options": "a{sv}"], gives: ["files": "aa{sv}"]),
        ],
        signals: [
            Signal("PhotoSaved", ["photo": "a{sv}"]),
            Signal("RecordingSaved", ["file": "a{sv}"]),
            Signal("RecordingFailed", ["reason": "s"]),
        ],
        properties: [
            Property("LivePhoto", "b", isWritable: true),
            Property("Recording", "b"),
            Property("RecordingSeconds", "u"),
            Property("RecordingFiles", "aa{sv}"),
        ]
    )
}
