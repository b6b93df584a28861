package import DBusKit

extension Interface {
    package static let all: [Interface] = [
        stream, scene, scenes, privacy, phone, orientation, camera, pro, controls, capture, library,
        steps, configuration,
    ]

    package static let stream = StreamInterface.interface
    package static let scene = SceneInterface.interface
    package static let scenes = ScenesInterface.interface
    package static let privacy = PrivacyInterface.interface
    package static let phone = PhoneInterface.interface
    package static let orientation = OrientationInterface.interface
    package static let camera = CameraInterface.interface
    package static let pro = ProInterface.interface
    package static let controls = ControlsInterface.interface
    package static let capture = CaptureInterface.interface
    package static let library = LibraryInterface.interface
    package static let configuration = ConfigurationInterface.interface
    /// `org.dualcam.DualCam1.Steps`
    package static let steps = StepsInterface.interface
}
