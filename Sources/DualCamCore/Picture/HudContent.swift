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
        package var dial: Dial
        package var marks: [Mark]
        /// The position at the needle, on the scale of the marks' positions; `nil` if unknown.
        package var position: Double?
        /// The name of the dial, or of the preset that it is on: "ISO", "Sunny".
        package var name: String
        /// The value at the needle: "400", "5500 K"; empty if unknown.
        package var value: String
        /// More about the value: "automatic"; empty if there is no more.
        package var note: String

        /// The notes.
        package enum Note: String, CaseIterable {
            case automatic, approximate
            case end = "at its end"
        }
    }

    /// A lens of the camera.
    package struct LensMark: Hashable, Sendable {
        /// The text: "3"; for the selected lens the present magnification, "3.5×".
        package var text: String
        package var isSelected: Bool
        /// `true` if its picture, cropped, replaces that of the selected lens, which is of no use.
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
    /// ran into. What the camera does not tell is left out.
    package init(_ controls: CameraControls, aperture: Double, dial: Dial?, limit: Bound?) {
        fields = []
        if let iso = controls.iso {
            let digits = max(4, controls.isoStops.last.map { "\($0)".count } ?? 0)
            fields.append(Field(text: "ISO \(iso)", room: 4 + digits, dial: .iso))
        }
        if let shutter = controls.shutter {
            let longest = controls.shutterStops.first.map {
                Stops.shutterText(microseconds: $0).count
            }
            let text = Stops.shutterText(microseconds: shutter)
            let room = max(5, longest ?? 0, text.count)
            fields.append(Field(text: text, room: room, dial: .shutter))
        }
        if aperture > 0 {
            fields.append(Field(text: "f/\(Self.number(aperture))", room: 5, dial: nil))
        }
        let compensation = controls.manual.compensation
        if compensation != 0 {
            let text = "\(compensation > 0 ? "+" : "−")\(Self.number(abs(compensation)))EV"
            fields.append(Field(text: text, room: 6, dial: nil))
        }
        if let kelvin = controls.kelvin {
            let room = kelvin < 10000 ? 5 : 6
            fields.append(Field(text: "\(kelvin)K", room: room, dial: .whiteBalance))
        } else if controls.hasWhiteBalance || dial == .whiteBalance {
            fields.append(Field(text: "AWB", room: 3, dial: .whiteBalance))
        }
        if controls.focus != nil {
            let text = controls.isFocusAutomatic ? "AF" : "MF"
            fields.append(Field(text: text, room: 2, dial: .focus))
        }
        scale = dial.map { Scale($0, controls, limit) }
        if scale?.marks.isEmpty ?? false { scale = nil }
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

    /// Returns a number as text: "1.8", "11".
    private static func number(_ value: Double) -> String {
        let tenths = Int((value * 10).rounded())
        return tenths % 10 == 0 && tenths >= 100
            ? "\(tenths / 10)" : "\(tenths / 10).\(tenths % 10)"
    }
}

extension HudContent.Scale {
    /// The scale of `dial` for `controls`; `limit` is the end that the dial ran into. Without marks
    /// for a dial that the camera does not have.
    init(_ dial: Dial, _ controls: CameraControls, _ limit: Bound?) {
        self.dial = dial
        marks = Self.marks(of: dial, controls)
        position = Self.position(of: dial, controls)
        value = controls.text(of: dial) ?? ""
        name = dial.title
        if dial == .whiteBalance, case .preset(let preset) = controls.whiteBalance {
            name = preset.title
        }
        let isAutomatic =
            switch dial {
            case .iso: controls.isISOAutomatic
            case .shutter: controls.isExposureAutomatic
            case .focus: controls.isFocusAutomatic
            case .whiteBalance: controls.whiteBalance == .auto
            }
        let isApproximate = dial == .iso && controls.isISOApproximate
        let note: Note? =
            limit != nil ? .end : isAutomatic ? .automatic : isApproximate ? .approximate : nil
        self.note = note?.rawValue ?? ""
    }

    /// Returns the marks of `dial`, by position. The ends have a label, too, where there is room.
    private static func marks(of dial: Dial, _ controls: CameraControls) -> [HudContent.Mark] {
        var marks: [HudContent.Mark] = []
        var ends: [String] = []
        switch dial {
        case .iso:
            ends = controls.isoStops.map(String.init)
            marks = controls.isoStops.map { stop in
                let position = Int(Self.position(iso: stop).rounded())
                return HudContent.Mark(
                    position: position,
                    label: position % 3 == 0 ? "\(stop)" : nil
                )
            }
        case .shutter:
            let times = Stops.shutter.reversed()
            ends = controls.shutterStops.reversed().map(Stops.shortText)
            marks = controls.shutterStops.reversed().compactMap { time in
                times.enumerated().first { $0.element == time }.map { index, _ in
                    HudContent.Mark(
                        position: index,
                        label: index % 3 == 0 ? Stops.shortText(microseconds: time) : nil
                    )
                }
            }
        case .focus:
            marks = controls.focusStops.map { stop in
                let position = Int((stop * 20).rounded())
                return HudContent.Mark(position: position, label: Stops.focusLabels[position])
            }
        case .whiteBalance:
            marks = Self.kelvins.enumerated().flatMap { index, kelvin in
                let long = HudContent.Mark(position: 3 * index, label: "\(kelvin)")
                guard index + 1 < Self.kelvins.count else { return [long] }
                return [long]
                    + [1, 2].map { HudContent.Mark(position: 3 * index + $0, label: nil) }
            }
        }
        for (index, text) in [(marks.startIndex, ends.first), (marks.endIndex - 1, ends.last)] {
            guard let text, marks.indices.contains(index), ends.count == marks.count else {
                continue
            }
            let position = marks[index].position
            let isFree = marks.allSatisfy { $0.label == nil || abs($0.position - position) > 2 }
            if isFree { marks[index].label = text }
        }
        return marks
    }

    /// The Kelvin of the long marks on the white balance dial.
    private static let kelvins = [2000, 3200, 4000, 5500, 6500, 7500, 10000]

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

    /// Returns the value at `x` between nodes of rising x; beyond them, the first's or the last's.
    private static func interpolate(_ x: Double, _ nodes: [(x: Double, y: Double)]) -> Double {
        guard let first = nodes.first, let last = nodes.last else { return 0 }
        if x <= first.x { return first.y }
        guard let index = nodes.firstIndex(where: { $0.x >= x }), index > 0 else { return last.y }
        let (a, b) = (nodes[index - 1], nodes[index])
        return a.y + (b.y - a.y) * (x - a.x) / (b.x - a.x)
    }
}
