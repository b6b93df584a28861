/// The cameras of a USB device, according to its descriptors.
package struct USBVideoFunctions: Hashable, Sendable {
    /// The numbers of its interfaces for the control of video, one for each camera.
    package private(set) var controls: Set<UInt8> = []
    /// Those of them that can illuminate a face for Windows Hello.
    package private(set) var facing: Set<UInt8> = []
    /// `true` if it is built into the machine, according to the firmware.
    package var isFixed = false

    package init() {}

    /// Reads `descriptors` as the file of that name in sysfs holds them: the device's descriptor,
    /// then each configuration with all that belongs to it (USB 2.0, 9.5; USB video class 1.5,
    /// 3.7.2). Reading ends where they make no sense.
    package init(descriptors bytes: some RandomAccessCollection<UInt8>) {
        var rest = bytes.prefix(Self.mostBytes)[...]
        var control: UInt8?
        while let length = rest.first.map(Int.init), length >= 2, length <= rest.count {
            let descriptor = Array(rest.prefix(length))
            rest = rest.dropFirst(length)
            switch descriptor[1] {
            case Self.interface where length >= 9:
                let isControl = descriptor[5] == Self.video && descriptor[6] == Self.videoControl
                control = isControl ? descriptor[2] : nil
                if let control { controls.insert(control) }
            case Self.classInterface:
                if let control, Self.isFaceUnit(descriptor) { facing.insert(control) }
            default: break
            }
        }
    }

    /// Returns `true` if `descriptor` is Microsoft's extension unit, with the control for faces.
    private static func isFaceUnit(_ descriptor: [UInt8]) -> Bool {
        guard descriptor.count >= 24, descriptor[2] == extensionUnit,
            Array(descriptor[4..<20]) == microsoft
        else { return false }
        // The inputs come first, then the size of the set of controls.
        let size = 22 + Int(descriptor[21])
        guard size + 1 < descriptor.count, descriptor[size] > 0 else { return false }
        return descriptor[size + 1] & faceControl != 0
    }

    /// More than the longest configuration, of 65535 bytes, has no camera.
    private static let mostBytes = 1 << 17
    /// The type of an interface's descriptor, and of what its class adds.
    private static let (interface, classInterface): (UInt8, UInt8) = (0x04, 0x24)
    /// The class of video interfaces, and the subclass of those for control.
    private static let (video, videoControl): (UInt8, UInt8) = (0x0e, 0x01)
    /// The subtype of an extension unit, VC_EXTENSION_UNIT.
    private static let extensionUnit: UInt8 = 0x06
    /// Microsoft's camera extension unit, {0F3F95DC-2632-4C4E-92C9-A04782F43BC8}, as it is sent.
    private static let microsoft: [UInt8] = [
        0xdc, 0x95, 0x3f, 0x0f, 0x32, 0x26, 0x4e, 0x4c,
        0x92, 0xc9, 0xa0, 0x47, 0x82, 0xf4, 0x3b, 0xc8,
    ]
    /// The bit of its control 6, MSXU_CONTROL_FACE_AUTHENTICATION.
    private static let faceControl: UInt8 = 0x20
}
