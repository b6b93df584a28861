package import Frames

/// A word that does not read as what it should: what it was, and what was expected instead.
package struct UnreadableValue: Error, Hashable, CustomStringConvertible {
    /// The word as it was given.
    package let value: String
    /// What would have been right, for a person to read.
    package let expected: String

    /// `value` was given where `expected` was wanted.
    package init(_ value: String, expected: String) {
        self.value = value
        self.expected = expected
    }

    /// `"vl42:x": expected auto, v4l2:DEVICE, …`.
    package var description: String { "\"\(value)\": expected \(expected)" }
}

/// Where a camera's pictures come from, as the configuration says it.
package enum SourceSpecification: Hashable, Sendable, CustomStringConvertible {
    /// Whichever camera suits the role.
    case auto
    /// A V4L2 device, by its by-id name, its bus path or its path in /dev.
    case v4l2(String)
    /// A moving test picture; `nil`: the one that suits the role.
    case test(String?)
    /// A picture or a movie, by path.
    case file(String)
    /// A PipeWire node, by name.
    case pipewire(String)

    /// Reads "auto", "v4l2:NAME", "test", "test:NAME", "file:PATH" or "pipewire:NODE".
    package init(parsing text: String) throws(UnreadableValue) {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        let argument = parts.count == 2 && !parts[1].isEmpty ? String(parts[1]) : nil
        switch (parts.first, argument) {
        case ("auto", nil) where parts.count == 1: self = .auto
        case ("test", nil) where parts.count == 1: self = .test(nil)
        case ("test", let name?): self = .test(name)
        case ("v4l2", let name?): self = .v4l2(name)
        case ("file", let path?): self = .file(path)
        case ("pipewire", let node?): self = .pipewire(node)
        default:
            throw UnreadableValue(
                text,
                expected: "auto, v4l2:DEVICE, test, test:NAME, file:PATH or pipewire:NODE"
            )
        }
    }

    /// As `init(parsing:)` reads it.
    package var description: String {
        switch self {
        case .auto: "auto"
        case .v4l2(let name): "v4l2:\(name)"
        case .test(nil): "test"
        case .test(let name?): "test:\(name)"
        case .file(let path): "file:\(path)"
        case .pipewire(let node): "pipewire:\(node)"
        }
    }
}

/// A way in which a camera delivers pictures.
package struct CaptureMode: Hashable, Sendable, CustomStringConvertible {
    /// Extent of the picture.
    package var size: Size
    /// Frames per second.
    package var rate: Double
    /// How the camera sends it, before anything is decoded.
    package var format: PixelFormat

    /// Pictures of `size` and `format`, `rate` of them a second.
    package init(size: Size, rate: Double, format: PixelFormat) {
        self.size = size
        self.rate = rate
        self.format = format
    }

    /// "1280x720@30/MJPG"; a rate that is not whole has up to two decimals, "640x480@7.5/YUYV".
    package var description: String { "\(size)@\(rateText(rate))/\(format)" }
}

/// The mode that the user wants of a camera.
package enum CaptureModePreference: Hashable, Sendable, CustomStringConvertible {
    /// Whatever suits the place that the picture has to fill.
    case auto
    /// This one and no other; any format where `format` is `nil`.
    case mode(size: Size, rate: Double, format: PixelFormat?)

    /// Reads "auto", "1280x720@30" or "1280x720@30/MJPG". Of a rate two decimals count.
    package init(parsing text: String) throws(UnreadableValue) {
        guard text != "auto" else {
            self = .auto
            return
        }
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        let picture = (parts.first ?? "").split(separator: "@", omittingEmptySubsequences: false)
        let extent = (picture.first ?? "").split(separator: "x", omittingEmptySubsequences: false)
        let format = parts.count == 2 ? PixelFormat(parsing: parts[1]) : nil
        guard picture.count == 2, extent.count == 2,
            let width = Int(extent[0]), let height = Int(extent[1]),
            (1...16384).contains(width), (1...16384).contains(height),
            let rate = Double(picture[1]).map({ ($0 * 100).rounded() / 100 }), rate > 0,
            rate <= 1000,
            parts.count == 1 || format != nil
        else {
            throw UnreadableValue(text, expected: "auto, or a mode such as 1280x720@30/MJPG")
        }
        self = .mode(size: Size(width: width, height: height), rate: rate, format: format)
    }

    /// As `init(parsing:)` reads it.
    package var description: String {
        switch self {
        case .auto: "auto"
        case .mode(let size, let rate, nil): "\(size)@\(rateText(rate))"
        case .mode(let size, let rate, let format?): "\(size)@\(rateText(rate))/\(format)"
        }
    }
}

/// Why a camera that should deliver pictures does not. The words are those of the D-Bus interface.
package enum Interruption: String, CaseIterable, Hashable, Sendable {
    /// It does, or nobody wants it to.
    case none
    /// There is no such device, or it was pulled out.
    case unplugged
    /// Another program streams from it.
    case busy
    /// We may not open it.
    case denied
    /// The USB bus has no room for it.
    case bandwidth
    /// It is there, but sends nothing that is of use.
    case stalled
    /// The machine is going to sleep.
    case asleep
    /// The session is locked or not the active one.
    case locked
    /// The user asked for privacy.
    case privacy
}

extension PixelFormat {
    /// The format whose code reads `code`, 1 to 4 printing characters.
    fileprivate init?(parsing code: some StringProtocol) {
        let bytes = Array(code.utf8)
        guard (1...4).contains(bytes.count), bytes.allSatisfy({ (0x21..<0x7f).contains($0) }) else {
            return nil
        }
        var value: UInt32 = 0
        for i in 0..<4 {
            value |= UInt32(i < bytes.count ? bytes[i] : UInt8(ascii: " ")) << UInt32(8 * i)
        }
        self.init(rawValue: value)
    }
}

/// A rate as people write it: "30", "29.97", "7.5".
private func rateText(_ rate: Double) -> String {
    let hundredths = Int((rate * 100).rounded())
    guard hundredths % 100 != 0 else { return String(hundredths / 100) }
    let decimals = hundredths % 100
    return "\(hundredths / 100)."
        + (decimals % 10 == 0 ? String(decimals / 10) : (decimals < 10 ? "0" : "") + "\(decimals)")
}
