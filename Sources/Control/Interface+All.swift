package import DBusKit

extension Interface {
    /// All interfaces of DualCam.
    package static let all: [Interface] = [
        stream, scene, scenes, privacy, orientation, camera, pro, controls, capture, library,
    ]

    /// `org.dualcam.DualCam1.Stream`
    package static let stream = StreamInterface.interface
    /// `org.dualcam.DualCam1.Scene`
    package static let scene = SceneInterface.interface
    /// `org.dualcam.DualCam1.Scenes`
    package static let scenes = ScenesInterface.interface
    /// `org.dualcam.DualCam1.Privacy`
    package static let privacy = PrivacyInterface.interface
    /// `org.dualcam.DualCam1.Orientation`
    package static let orientation = OrientationInterface.interface
    /// `org.dualcam.DualCam1.Camera`
    package static let camera = CameraInterface.interface
    /// `org.dualcam.DualCam1.Pro`
    package static let pro = ProInterface.interface
    /// `org.dualcam.DualCam1.Camera.Controls`
    package static let controls = ControlsInterface.interface
    /// `org.dualcam.DualCam1.Capture`
    package static let capture = CaptureInterface.interface
    /// `org.dualcam.DualCam1.Library`
    package static let library = LibraryInterface.interface
}
