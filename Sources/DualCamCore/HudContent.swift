package import Frames
import Glibc

/// What the HUD says: one line of values, and the dial in use. What it looks like is the engine's.
package struct HudContent: Hashable, Sendable {
    /// One value of the line.
    package struct Field: Hashable, Sendable {
        /// "ISO 400".
        package var text: String
        /// For how many characters there is room, so that what follows does not move.
        package var room: Int
        /// The dial that it is set by; `nil` for the aperture.
        package var dial: Dial?
        /// Whether it says that it is being recorded.
        package var isRecording = false
    }

    /// A mark of a dial's scale.
    package struct Mark: Hashable, Sendable {
        /// In third stops, or clicks.
        package var position: Int
        /// What a long mark says; `nil` for a short one.
        package var label: String?
    }

    /// The dial in use.
    package struct Scale: Hashable, Sendable {
        /// Which it is.
        package var dial: Dial
        /// In the order of their positions.
        package var marks: [Mark]
        /// What of the scale is at the needle, on the scale of the marks' positions; `nil` where nothing is known.
        package var position: Double?
        /// What is said at the needle: "400"; empty where nothing is known.
        package var current: String
        /// What the dial is called, and what it says: "Sunny  5500 K".
        package var name: String
    }

    /// A lens of the camera.
    package struct LensMark: Hashable, Sendable {
        /// "3", or how much is magnified through it: "3.5×".
        package var text: String
        /// Whether it is selected.
        package var isSelected: Bool
        /// Whether its picture, cropped, stands for that of the selected one, which cannot be used.
        package var standsIn: Bool
    }

    /// The line of values, from left to right.
    package var fields: [Field]
    /// The lenses, from the widest on; none where there is but one.
    package var lenses: [LensMark] = []
    /// `nil` where there is only the line.
    package var scale: Scale?
    /// What is not to be covered, in pixels of the canvas: an inset at its foot.
    package var inset: Rect?

    /// What there is to say of `controls`, with the dial in use where there is one, at its end or not; and that it has
    /// been recorded for so many seconds.
    package init(
        _ controls: CameraControls,
        aperture: Double,
        dial: Dial?,
        limit: Bound?,
        recording seconds: Int? = nil
    ) {
        let digits = max(4, controls.isoStops.last.map { "\($0)".count } ?? 0)
        let longest = controls.shutterStops.first.map { Stops.shutterText(microseconds: $0).count }
        fields = [
            Field(
                text: "ISO \(controls.iso.map(String.init) ?? "–")",
                room: 4 + digits,
                dial: .iso
            ),
            Field(
                text: controls.shutter.map(Stops.shutterText) ?? "1/–",
                room: max(5, longest ?? 0),
                dial: .shutter
            ),
            Field(text: "f/\(aperture > 0 ? Self.number(aperture) : "–")", room: 5, dial: nil),
            Field(text: controls.kelvin.map { "\($0)K" } ?? "AWB", room: 5, dial: .whiteBalance),
            Field(text: Self.focusMode(controls), room: 2, dial: .focus),
        ]
        if aperture <= 0 { fields[2].room = 3 }
        if (controls.kelvin ?? 0) >= 10000 { fields[3].room = 6 }
        let compensation = controls.manual.compensation
        if compensation != 0 {
            let text = "\(compensation > 0 ? "+" : "−")\(Self.number(abs(compensation)))EV"
            fields.insert(Field(text: text, room: 6, dial: nil), at: 3)
        }
        if let seconds {
            let rest = seconds % 60
            let text = "● \(seconds / 60):\(rest < 10 ? "0" : "")\(rest)"
            fields.insert(
                Field(text: text, room: max(7, text.count), dial: nil, isRecording: true),
                at: 0
            )
        }
        scale = dial.map { Scale($0, controls, limit) }
    }

    /// The lenses as they are to be shown.
    mutating func show(_ lens: LensState) {
        let marks = lens.all.filter { $0.isThere || $0.name == lens.selected?.name }
        guard marks.count > 1 else { return }
        lenses = marks.map { mark in
            let isSelected = mark.name == lens.selected?.name
            return LensMark(
                text: isSelected ? Self.factor(lens.zoom) + "×" : Self.factor(mark.factor),
                isSelected: isSelected,
                standsIn: lens.isFallback && !isSelected && mark.device == lens.wanted.device
                    && mark.factor == mark.deviceFactor
            )
        }
    }

    /// "3", "1.5", ".5".
    private static func factor(_ factor: Double) -> String {
        let tenths = Int((factor * 10).rounded())
        let (whole, part) = (tenths / 10, tenths % 10)
        return (whole == 0 && part > 0 ? "" : "\(whole)") + (part > 0 ? ".\(part)" : "")
    }

    private static func focusMode(_ controls: CameraControls) -> String {
        // Fixed focus has neither.
        controls.focus == nil ? "FF" : controls.isFocusAutomatic ? "AF" : "MF"
    }

    /// "1.8", "11".
    private static func number(_ value: Double) -> String {
        let tenths = Int((value * 10).rounded())
        return tenths % 10 == 0 && tenths >= 100
            ? "\(tenths / 10)" : "\(tenths / 10).\(tenths % 10)"
    }
}

extension HudContent.Scale {
    /// How the dial of `controls` stands.
    init(_ dial: Dial, _ controls: CameraControls, _ limit: Bound?) {
        self.dial = dial
        marks = []
        position = Self.position(of: dial, controls)
        current = ""
        switch dial {
        case .iso:
            name = "ISO"
            marks = controls.isoStops.map { stop in
                let position = Int(Self.position(iso: stop).rounded())
                return HudContent.Mark(
                    position: position,
                    label: position % 3 == 0 ? "\(stop)" : nil
                )
            }
            current = controls.iso.map(String.init) ?? ""
            if controls.iso == nil {
                name = "No ISO on this camera"
            } else if controls.isISOAutomatic {
                name = "ISO  automatic"
            } else if controls.isISOApproximate {
                name = "ISO  approximate"
            }
        case .shutter:
            name = "Shutter"
            let times = Stops.shutter.reversed()
            marks = controls.shutterStops.reversed().compactMap { time in
                times.enumerated().first { $0.element == time }.map { index, _ in
                    HudContent.Mark(
                        position: index,
                        label: index % 3 == 0 ? Self.short(time) : nil
                    )
                }
            }
            current = controls.shutter.map(Self.short) ?? ""
            if controls.shutterStops.isEmpty {
                name = "No manual shutter on this camera"
            } else if controls.isExposureAutomatic {
                name = "Shutter  automatic"
            } else if let shutter = controls.shutter {
                name = "Shutter  \(Stops.shutterText(microseconds: shutter))"
            }
        case .focus:
            name = "Focus"
            let stops = controls.focusStops
            let labels = [0: "0.1", 10: "0.2", 13: "0.3", 16: "0.5", 18: "1", 20: "∞"]
            marks = stops.map { stop in
                let position = Int((stop * 20).rounded())
                return HudContent.Mark(position: position, label: labels[position])
            }
            if let focus = controls.focus {
                let text = Stops.focusText(focus)
                current = text.replacing(" m", with: "")
                name = controls.isFocusAutomatic ? "Focus  automatic" : "Focus  \(text)"
            } else {
                name = "Fixed focus"
            }
        case .whiteBalance:
            marks = Self.kelvins.enumerated().flatMap { index, kelvin in
                let long = HudContent.Mark(position: 3 * index, label: "\(kelvin)")
                guard index + 1 < Self.kelvins.count else { return [long] }
                return [long]
                    + [1, 2].map { HudContent.Mark(position: 3 * index + $0, label: nil) }
            }
            current = controls.kelvin.map(String.init) ?? ""
            let kelvin = controls.kelvin.map { "  \($0) K" } ?? ""
            switch controls.whiteBalance {
            case .auto: name = "Automatic" + kelvin
            case .preset(let preset): name = preset.title + kelvin
            case .kelvin: name = "White balance" + kelvin
            }
        }
        if limit != nil {
            let title: [Dial: String] = [
                .iso: "ISO", .shutter: "Shutter", .focus: "Focus", .whiteBalance: "White balance",
            ]
            name = "\(title[dial] ?? "")  at its end"
        }
    }

    /// The Kelvin that the dial of white balance is marked with.
    private static let kelvins = [2000, 3200, 4000, 5500, 6500, 7500, 10000]

    /// An exposure time as dials have it: "250" for 1/250, "0.5" for half a second.
    private static func short(_ time: Int) -> String {
        let text = Stops.shutterText(microseconds: time)
        return text.hasPrefix("1/") ? String(text.dropFirst(2)) : text
    }

    private static func position(iso: Int) -> Double { 3 * log2(Double(max(1, iso)) / 100) }

    /// Where the dial stands, on the scale of its marks' positions; `nil` where nothing is known.
    private static func position(of dial: Dial, _ controls: CameraControls) -> Double? {
        switch dial {
        case .iso:
            return controls.iso.map {
                let exact = position(iso: $0)
                return Stops.iso.contains($0) ? exact.rounded() : exact
            }
        case .shutter:
            return controls.shutter.map { time in
                let nodes = Stops.shutter.reversed().enumerated().map {
                    (x: -log(Double($0.element)), y: Double($0.offset))
                }
                let shown = Stops.nearest(time, in: Stops.shutter) ?? time
                return interpolate(-log(Double(max(1, shown))), nodes)
            }
        case .focus: return controls.focus.map { $0 * 20 }
        case .whiteBalance:
            return controls.kelvin.map { kelvin in
                interpolate(
                    Double(kelvin),
                    kelvins.enumerated().map { (x: Double($0.element), y: Double(3 * $0.offset)) }
                )
            }
        }
    }

    /// Between the nodes, whose x rise, and at the first or last one beyond them.
    private static func interpolate(_ x: Double, _ nodes: [(x: Double, y: Double)]) -> Double {
        guard let first = nodes.first, let last = nodes.last else { return 0 }
        if x <= first.x { return first.y }
        guard let index = nodes.firstIndex(where: { $0.x >= x }), index > 0 else { return last.y }
        let (a, b) = (nodes[index - 1], nodes[index])
        return a.y + (b.y - a.y) * (x - a.x) / (b.x - a.x)
    }
}
