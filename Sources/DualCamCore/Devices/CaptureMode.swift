package import Frames

/// A mode in which a camera delivers pictures.
package struct CaptureMode: Hashable, Sendable, CustomStringConvertible {
    package var size: Size
    /// The rate, in frames per second; 0: unknown.
    package var rate: Double
    /// The format that the camera sends, before decoding.
    package var format: PixelFormat

    package init(size: Size, rate: Double, format: PixelFormat) {
        self.size = size
        self.rate = rate
        self.format = format
    }

    /// The rate; `nil` while nobody knows it.
    package var knownRate: Double? { rate > 0 ? rate : nil }

    /// The text form: "1280x720@30/MJPG"; a fractional rate has up to two decimals: "@7.5".
    package var description: String { "\(size)@\(rateText(rate))/\(format)" }
}

/// The mode that the user wants of a camera.
package enum CaptureModePreference: Hashable, Sendable, CustomStringConvertible {
    /// The mode that best suits the place that the picture fills.
    case auto
    /// This mode only; any format if `format` is `nil`.
    case mode(size: Size, rate: Double, format: PixelFormat?)

    /// Parses "auto", "1280x720@30" or "1280x720@30/MJPG". A rate is rounded to two decimals.
    /// Throws `UnreadableValue` if `text` is none of these, or a number is out of range.
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

    /// The text form that `init(parsing:)` reads.
    package var description: String {
        switch self {
        case .auto: "auto"
        case .mode(let size, let rate, nil): "\(size)@\(rateText(rate))"
        case .mode(let size, let rate, let format?): "\(size)@\(rateText(rate))/\(format)"
        }
    }
}

extension PixelFormat {
    /// The format whose code reads `code`: 1 to 4 printing characters.
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

/// Returns a rate as people write it: "30", "29.97", "7.5".
private func rateText(_ rate: Double) -> String {
    let hundredths = Int((rate * 100).rounded())
    guard hundredths % 100 != 0 else { return String(hundredths / 100) }
    let decimals = hundredths % 100
    return "\(hundredths / 100)."
        + (decimals % 10 == 0 ? String(decimals / 10) : (decimals < 10 ? "0" : "") + "\(decimals)")
}
