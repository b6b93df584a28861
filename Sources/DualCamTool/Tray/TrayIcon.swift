enum TrayState: String, CaseIterable {
    /// The daemon does not run, or its stream is stopped.
    case off
    /// The daemon has not answered for a while.
    case silent
    /// No program takes the picture.
    case idle
    /// A program takes the picture: a camera is open.
    case live
    case recording
    case paused
    case hidden

    /// The words under the pointer.
    var words: String {
        switch self {
        case .off: "DualCam is not running"
        case .silent: "DualCam does not answer"
        case .idle: "No app is using the camera"
        case .live: "An app is using the camera"
        case .recording: "Recording"
        case .paused: "Recording paused"
        case .hidden: "Privacy: the cameras are closed"
        }
    }
}

/// The icon, drawn: a picture with its inset, and a dot for what is going on.
enum TrayIcon {
    /// Red, green and blue, 0 to 255, and the opacity, 0 to 1.
    private typealias Color = SIMD4<Double>

    private static let white = Color(235, 235, 235, 1)
    private static let dots: [TrayState: Color] = [
        .recording: Color(255, 59, 48, 1), .paused: Color(255, 159, 10, 1),
        .live: Color(52, 199, 89, 1), .silent: Color(255, 204, 64, 1),
    ]

    /// Returns the pixels of an icon `size` wide and high: alpha, red, green and blue each, as
    /// StatusNotifierItem has them. Transparent ones are zero.
    static func pixels(_ state: TrayState, size: Int) -> [UInt8] {
        (0..<size * size).flatMap { index in
            pixel(state, Double(index % size), Double(index / size), Double(size) / 22)
        }
    }

    private static func pixel(
        _ state: TrayState,
        _ x: Double,
        _ y: Double,
        _ unit: Double
    ) -> [UInt8] {
        // Four by four points in each pixel, for smooth edges.
        let sum = (0..<16).reduce(into: Color.zero) { sum, index in
            let px = (x + (Double(index % 4) + 0.5) / 4) / unit
            let py = (y + (Double(index / 4) + 0.5) / 4) / unit
            let color = color(state, px, py)
            sum += color * Color(color.w, color.w, color.w, 1)
        }
        guard sum.w > 0 else { return [0, 0, 0, 0] }
        return [sum.w / 16 * 255, sum.x / sum.w, sum.y / sum.w, sum.z / sum.w]
            .map { UInt8(max(0, min(255, $0.rounded()))) }
    }

    /// The colour at a point of a square of 22.
    private static func color(_ state: TrayState, _ x: Double, _ y: Double) -> Color {
        // The dot, with a gap around it.
        if let dot = dots[state] {
            let distance = ((x - 17) * (x - 17) + (y - 16.5) * (y - 16.5)).squareRoot()
            if distance < 4.8 { return distance < 3.6 ? dot : .zero }
        }
        if state == .hidden, x > 1.5, x < 20.5 {
            // Struck through, from corner to corner.
            let across = abs((x - 2) - (y - 2)) / 2.squareRoot()
            if across < 1.9 { return across < 0.9 ? white : .zero }
        }
        // White on dark, with a dark edge, so that it can be seen on light panels and dark ones.
        guard isRounded(x, y, 0.5, 3, 21.5, 19, radius: 4) else { return .zero }
        let isFrame =
            isRounded(x, y, 1.5, 4, 20.5, 18, radius: 3)
            && !isRounded(x, y, 3, 5.5, 19, 16.5, radius: 1.8)
        let isInset = isRounded(x, y, 11.5, 7, 17.5, 11, radius: 1)
        var color = isFrame || isInset ? white : Color(30, 30, 30, 0.85)
        if state == .off || state == .silent { color.w *= 0.5 }
        return color
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
