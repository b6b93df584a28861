package import Frames
import Glibc

/// The content of the HUD: a line of values, and the dial in use. The engine decides how it looks.
package struct HudContent: Hashable, Sendable {
    /// One value of the line.
    package struct Field: Hashable, Sendable {
        /// The text: "ISO 400".
        package var text: String
        /// The room reserved for the text, in characters, so that what follows does not move.
        package var room: Int
        /// The dial that sets the value; `nil` for values without a dial, such as the aperture.
        package var dial: Dial?
        /// `true` for the field that shows the time of a recording.
        package var isRecording = false
    }

    /// A mark of a dial's scale.
    package struct Mark: Hashable, Sendable {
        /// The position, in third stops or clicks.
        package var position: Int
        /// The label of a long mark; `nil` for a short one.
        package var label: String?
    }

    /// The scale of the dial in use.
    package struct Scale: Hashable, Sendable {
        /// The dial.
        package var dial: Dial
        /// The marks, by position.
        package var marks: [Mark]
        /// The position at the needle, on the scale of the marks' positions; `nil` if unknown.
        package var position: Double?
        /// The text at the needle: "400"; empty if unknown.
        package var current: String
        /// The name of the dial with its value: "Sunny  5500 K".
        package var name: String
    }

    /// A lens of the camera.
    package struct LensMark: Hashable, Sendable {
        /// The text: "3"; for the selected lens the present magnification, "3.5×".
        package var text: String
        /// `true` if the lens is selected.
        package var isSelected: Bool
        /// `true` if this lens's picture, cropped, replaces that of the selected lens, which cannot
        /// be used.
        package var standsIn: Bool
    }

    /// The line of values, from left to right.
    package var fields: [Field]
    /// The lenses, widest first; empty if there is only one.
    package var lenses: [LensMark] = []
    /// The scale of the dial in use; `nil` if only the line is shown.
    package var scale: Scale?
    /// The area to leave free, in canvas pixels: an inset at the bottom of the canvas.
    package var inset: Rect?

    /// The content for `controls`. `dial` is the dial in use, if any, and `limit` the end that it
    /// ran into; `seconds` is the length of the present recording.
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

    /// Adds the lenses, if there is more than one to show.
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

    /// Returns a magnification as text: "3", "1.5", ".5".
    private static func factor(_ factor: Double) -> String {
        let tenths = Int((factor * 10).rounded())
        let (whole, part) = (tenths / 10, tenths % 10)
        return (whole == 0 && part > 0 ? "" : "\(whole)") + (part > 0 ? ".\(part)" : "")
    }

    private static func focusMode(_ controls: CameraControls) -> String {
        // Fixed focus is neither automatic nor manual.
        controls.focus == nil ? "FF" : controls.isFocusAutomatic ? "AF" : "MF"
    }

    /// Returns a number as text: "1.8", "11".
    private static func number(_ value: Double) -> String {
        let tenths = Int((value * 10).rounded())
        return tenths % 10 == 0 && tenths >= 100
            ? "\(tenths / 10)" : "\(tenths / 10).\(tenths % 10)"
    }
}

extension HudContent.Scale {
    /// The scale of `dial` for `controls`; `limit` is the end that the dial ran into.
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

    /// The Kelvin of the long marks on the white balance dial.
    private static let kelvins = [2000, 3200, 4000, 5500, 6500, 7500, 10000]

    /// Returns an exposure time as dials show it: "250" for 1/250 s, `0.5"` for half a second.
    private static func short(_ time: Int) -> String {
        let text = Stops.shutterText(microseconds: time)
        return text.hasPrefix("1/") ? String(text.dropFirst(2)) : text
    }

    private static func position(iso: Int) -> Double { 3 * log2(Double(max(1, iso)) / 100) }

    /// Returns the position of the dial, on the scale of the marks' positions; `nil` if unknown.
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

    /// Returns the value at `x` between the nodes, whose x rise; beyond them, that of the first or
    /// the last.
    private static func interpolate(_ x: Double, _ nodes: [(x: Double, y: Double)]) -> Double {
        guard let first = nodes.first, let last = nodes.last else { return 0 }
        if x <= first.x { return first.y }
        guard let index = nodes.firstIndex(where: { $0.x >= x }), index > 0 else { return last.y }
        let (a, b) = (nodes[index - 1], nodes[index])
        return a.y + (b.y - a.y) * (x - a.x) / (b.x - a.x)
    }
}
