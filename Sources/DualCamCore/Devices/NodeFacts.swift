package import Frames

/// The facts that a V4L2 node and the files beside it give without a start of the device.
package struct NodeFacts: Hashable, Sendable {
    /// The capabilities of a node: V4L2_CAP_…, with the kernel's numbers.
    package struct Capabilities: OptionSet, Hashable, Sendable {
        package let rawValue: UInt32
        package init(rawValue: UInt32) { self.rawValue = rawValue }
        /// Pictures come from it, in one plane of memory.
        package static let capture = Capabilities(rawValue: 0x0000_0001)
        /// Pictures come from it, in one plane of memory or several.
        package static let captureMultiplanar = Capabilities(rawValue: 0x0000_1000)
        /// Pictures go to it, in one plane of memory or several.
        package static let output = Capabilities(rawValue: 0x0000_2002)
        /// It changes pictures that programs give it: scalers, encoders.
        package static let memoryToMemory = Capabilities(rawValue: 0x0000_c000)
        /// Its pictures can be mapped.
        package static let streaming = Capabilities(rawValue: 0x0400_0000)
        /// It is a touch surface.
        package static let touch = Capabilities(rawValue: 0x1000_0000)
        /// Programs have to set up its pipeline through the media controller.
        package static let mediaController = Capabilities(rawValue: 0x2000_0000)

        /// `true` if it captures pictures into memory that can be mapped, and does nothing else.
        package var isCamera: Bool {
            contains(.streaming) && !isDisjoint(with: [.capture, .captureMultiplanar])
                && isDisjoint(with: [.output, .memoryToMemory, .touch])
        }
    }

    /// The driver's name: "uvcvideo", "v4l2 loopback".
    package var driver: String
    /// The device's name, cut to 31 bytes by the driver: "Integrated Camera: Integrated I".
    package var card: String
    /// The name of its USB interface: "Integrated IR Camera"; empty if it has none.
    package var interface: String
    package var capabilities: Capabilities
    /// The modes that it offers, readable or not.
    package var modes: [CaptureMode]
    /// The functions of the entities in its media device, MEDIA_ENT_F_…; empty if it has none.
    package var functions: Set<UInt32>
    /// The contents of its USB descriptors; `nil` if it is on another bus.
    package var usb: USBVideoFunctions?
    /// The number of its USB interface for control.
    package var interfaceNumber: UInt8?
    /// `true` if it shows the stream, because we feed it.
    package var isOurs: Bool

    /// The facts of a node; what is left out is unknown.
    package init(
        driver: String,
        card: String,
        interface: String = "",
        capabilities: Capabilities = [.capture, .streaming],
        modes: [CaptureMode] = [],
        functions: Set<UInt32> = [],
        usb: USBVideoFunctions? = nil,
        interfaceNumber: UInt8? = nil,
        isOurs: Bool = false
    ) {
        self.driver = driver
        self.card = card
        self.interface = interface
        self.capabilities = capabilities
        self.modes = modes
        self.functions = functions
        self.usb = usb
        self.interfaceNumber = interfaceNumber
        self.isOurs = isOurs
    }

    /// `true` if it shows what another program feeds it.
    package var isRelay: Bool { Self.isRelay(driver: driver) }

    /// Returns `true` for drivers of devices that programs feed: v4l2loopback, and DroidCam's copy.
    package static func isRelay(driver: String) -> Bool {
        driver == "v4l2 loopback" || driver.lowercased().hasPrefix("droidcam")
    }

    /// The readable mode with the most pixels among those that look like motion, or else with the
    /// most frames per second; `nil` if there is none.
    package var bestMode: CaptureMode? {
        /// Fewer frames per second do not look like motion.
        let fluent = 24.0
        let readable = modes.filter(\.format.isReadable)
        // A driver that reports no rate is assumed to be fast enough.
        let moving = readable.filter { $0.rate >= fluent || $0.rate == 0 }
        return moving.isEmpty
            ? readable.max { ($0.rate, $0.size.area) < ($1.rate, $1.size.area) }
            : moving.max { ($0.size.area, $0.rate) < ($1.size.area, $1.rate) }
    }
}

/// The reason that `auto` does not take a camera.
package enum AutoRefusal: Hashable, Sendable {
    /// The configuration tells DualCam to ignore it.
    case ignored
    /// It shows infrared light, or has no colour for another reason.
    case infrared
    case depth
    /// It gives no pictures: metadata, a touch surface, an encoder.
    case noPictures
    /// It gives pictures only once a program such as libcamera has set up its pipeline.
    case needsPipeline
    /// It offers no format that DualCam reads; these are what it offers.
    case unreadable([PixelFormat])
    /// No program feeds it.
    case unfed
    /// DualCam feeds it.
    case ours
    /// The program that feeds it may show DualCam's stream in it.
    case echo
    /// It is a driver's test picture.
    case virtual
    /// A program copies the built-in camera to it, which PipeWire has itself.
    case copy

    /// The reason in a few words: "infrared camera".
    package var text: String {
        switch self {
        case .ignored: "in [cameras] ignore"
        case .infrared: "infrared camera"
        case .depth: "depth camera"
        case .noPictures: "gives no pictures"
        case .needsPipeline: "belongs to a media controller, works only as pipewire:NODE"
        case .unreadable(let formats):
            "no readable format"
                + (formats.isEmpty
                    ? "" : ", only " + formats.map(\.description).joined(separator: ", "))
        case .unfed: "no program feeds it"
        case .ours: "DualCam's own loopback device"
        case .echo: "may show DualCam's own stream"
        case .virtual: "a driver's test picture"
        case .copy: "shows the built-in camera, which PipeWire has"
        }
    }
}

extension NodeFacts {
    /// The reason that `auto` does not take it; `nil` if it is a colour camera that can be shown.
    package var refusal: AutoRefusal? {
        if isOurs { return .ours }
        if isRelay && mayShowUs { return .echo }
        if !capabilities.isCamera, !isRelay { return .noPictures }
        if Self.virtualDrivers.contains(driver) { return .virtual }
        if capabilities.contains(.mediaController) || isProcessor { return .needsPipeline }
        let formats = Set(modes.map(\.format))
        if formats.contains(where: \.isDepth) { return .depth }
        if isRelay { return modes.isEmpty ? .unfed : unreadable(formats) }
        if !formats.isEmpty, formats.allSatisfy(\.isGray) { return .infrared }
        if let unreadable = unreadable(formats) { return unreadable }
        // On USB it is an old webcam, whose firmware does what a pipeline would.
        let readable = formats.filter(\.isReadable)
        if usb == nil, driver != "uvcvideo", readable.allSatisfy(\.isMosaic) {
            return .needsPipeline
        }
        return isInfrared(readable) ? .infrared : nil
    }

    /// Drivers whose pictures are made up.
    private static let virtualDrivers: Set<String> = ["vivid", "vimc", "visl", "vicodec"]

    /// `true` if the program that feeds it may show DualCam in it, so that it would show itself.
    private var mayShowUs: Bool { card.hasPrefix("OBS") || card.hasPrefix("DualCam") }

    /// `true` if its media device changes pictures and has no source of them: bcm2835-isp, for one.
    private var isProcessor: Bool {
        /// MEDIA_ENT_F_PROC_VIDEO_…, from the pixel formatter on.
        let processing: ClosedRange<UInt32> = 0x4001...0x40ff
        /// Sensors, tuners, decoders and those not named: MEDIA_ENT_F_OLD_SUBDEV_BASE.
        let sources: ClosedRange<UInt32> = 0x2_0000...0x2_ffff
        return functions.contains(where: processing.contains)
            && !functions.contains(where: sources.contains)
    }

    private func unreadable(_ formats: Set<PixelFormat>) -> AutoRefusal? {
        guard !formats.contains(where: \.isReadable) else { return nil }
        return .unreadable(formats.sorted { $0.description < $1.description })
    }

    /// Returns `true` if it is infrared although its formats could carry colour.
    private func isInfrared(_ readable: Set<PixelFormat>) -> Bool {
        let sizes = Set(modes.map(\.size))
        // A camera with both pictures, "RGB-IR", may give either of its nodes that name.
        let words = Self.words(of: card) + Self.words(of: interface)
        if !words.contains(where: { $0.hasPrefix("rgb") }) {
            if words.contains("ir") || words.contains("infrared") || words.contains("hello") {
                return true
            }
            if isNameCutAtInfrared { return true }
        }
        // No camera in colour offers grey beside JPEGs alone.
        if readable.contains(.gray),
            readable.allSatisfy({ $0.isGray || $0 == .mjpg || $0 == .jpeg })
        {
            return true
        }
        // Sensors for faces are square and small. Endoscopes are, too, but are not built like that.
        if !sizes.isEmpty, sizes.allSatisfy({ $0.width == $0.height && $0.width <= 480 }) {
            return usb?.isFixed ?? false || sizes.contains(Size(width: 340, height: 340))
        }
        guard let usb, let interfaceNumber, usb.facing.contains(interfaceNumber) else {
            return false
        }
        // Some cameras say of both pictures that they know faces; then only the rest can tell.
        let mostArea = sizes.map(\.area).max() ?? 0
        return usb.controls.contains { !usb.facing.contains($0) } || readable.contains(.gray)
            || mostArea <= 640 * 480
    }

    /// `true` if the name was cut within "IR" or "Infrared": "Integrated Camera: Integrated I".
    private var isNameCutAtInfrared: Bool {
        guard card.utf8.count >= 31, let colon = card.firstRange(of: ": ") else { return false }
        let (name, function) = (card[..<colon.lowerBound], card[colon.upperBound...])
        guard !name.hasPrefix(function), let last = Self.words(of: function).last else {
            return false
        }
        return "infrared".hasPrefix(last)
    }

    /// Returns the words of `name` in small letters: "USB2.0 IR" has "usb", "ir".
    private static func words(of name: some StringProtocol) -> [String] {
        name.lowercased().split { !$0.isLetter }.map(String.init)
    }
}
