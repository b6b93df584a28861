/// The state that the tray's icon shows.
enum TrayState: String, CaseIterable {
    /// The daemon does not run, or its stream is stopped.
    case off
    /// Nobody looks.
    case idle
    /// Somebody looks: a camera is open.
    case live
    case recording
    /// Privacy is on.
    case hidden

    /// The words under the pointer.
    var words: String {
        switch self {
        case .off: "DualCam is not running"
        case .idle: "No app is using the camera"
        case .live: "An app is using the camera"
        case .recording: "Recording"
        case .hidden: "Privacy: the cameras are closed"
        }
    }
}

/// The icon, drawn: a picture with its inset, and a dot for what is going on.
enum TrayIcon {
    /// Returns the pixels of an icon `size` wide and high: alpha, red, green and blue each, as
    /// StatusNotifierItem has them. Transparent ones are zero.
    static func pixels(_ state: TrayState, size: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(size * size * 4)
        for y in 0..<size {
            for x in 0..<size {
                bytes += pixel(state, Double(x), Double(y), Double(size) / 22)
            }
        }
        return bytes
    }

    private static func pixel(
        _ state: TrayState,
        _ x: Double,
        _ y: Double,
        _ unit: Double
    ) -> [UInt8] {
        // Four by four points in each pixel, for smooth edges.
        var (alpha, red, green, blue) = (0.0, 0.0, 0.0, 0.0)
        for index in 0..<16 {
            let px = (x + (Double(index % 4) + 0.5) / 4) / unit
            let py = (y + (Double(index / 4) + 0.5) / 4) / unit
            guard let color = color(state, px, py) else { continue }
            alpha += color.alpha
            red += color.red * color.alpha
            green += color.green * color.alpha
            blue += color.blue * color.alpha
        }
        guard alpha > 0 else { return [0, 0, 0, 0] }
        return [alpha / 16 * 255, red / alpha, green / alpha, blue / alpha]
            .map { UInt8(max(0, min(255, $0.rounded()))) }
    }

    private typealias Color = (red: Double, green: Double, blue: Double, alpha: Double)

    /// The colour at a point of a square of 22, or `nil` where it is transparent.
    private static func color(_ state: TrayState, _ x: Double, _ y: Double) -> Color? {
        let strength = state == .off ? 0.5 : 1.0
        // The dot, with a gap around it.
        if let dot = dot(state) {
            let distance = ((x - 17) * (x - 17) + (y - 16.5) * (y - 16.5)).squareRoot()
            if distance < 3.6 { return dot }
            if distance < 4.8 { return nil }
        }
        if state == .hidden {
            // Struck through, from corner to corner.
            let across = abs((x - 2) - (y - 2)) / 2.squareRoot()
            if across < 0.9, x > 1.5, x < 20.5 { return (235, 235, 235, 1) }
            if across < 1.9, x > 1.5, x < 20.5 { return nil }
        }
        guard isRounded(x, y, 1.5, 4, 20.5, 18, radius: 3) else { return nil }
        let isFrame = !isRounded(x, y, 3, 5.5, 19, 16.5, radius: 1.8)
        let isInset = isRounded(x, y, 11.5, 7, 17.5, 11, radius: 1)
        guard isFrame || isInset else { return (30, 30, 30, 0.35 * strength) }
        return (235, 235, 235, strength)
    }

    private static func dot(_ state: TrayState) -> Color? {
        switch state {
        case .recording: (255, 59, 48, 1)
        case .live: (52, 199, 89, 1)
        default: nil
        }
    }

    private static func isRounded(
        _ x: Double,
        _ y: Double,
        _ left: Double,
        _ top: Double,
        _ right: Double,
        _ bottom: Double,
        radius: Double
    ) -> Bool {
        guard x >= left, x <= right, y >= top, y <= bottom else { return false }
        let dx = max(left + radius - x, x - right + radius, 0)
        let dy = max(top + radius - y, y - bottom + radius, 0)
        return dx * dx + dy * dy <= radius * radius
    }
}
