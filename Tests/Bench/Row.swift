import Foundation

/// A measure: its values and its target.
struct Row: Encodable {
    let name: String
    let unit: String
    /// The largest allowed median; `nil` if there is none.
    let target: Double?
    /// The smallest allowed median, if there is one.
    var least: Double?
    /// The values, one per run, in order; none where the peer did not run to its end.
    let values: [Double]

    init(
        _ name: String,
        _ unit: String,
        target: Double? = nil,
        least: Double? = nil,
        _ values: [Double]
    ) {
        (self.name, self.unit, self.target, self.least) = (name, unit, target, least)
        self.values = values
    }

    init(_ name: String, target: Double? = nil, _ values: [Double], over others: [Double?]) {
        let ratios = zip(values, others).compactMap { value, other in other.map { value / $0 } }
        self.init(name, "", target: target, ratios)
    }

    var median: Double { values.median }
    var isMet: Bool? {
        guard target != nil || least != nil, !values.isEmpty else { return nil }
        return median <= target ?? .infinity && median >= least ?? -.infinity
    }

    private enum Key: String, CodingKey {
        case name, unit, target, least, median, minimum, maximum, met, values
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(name, forKey: .name)
        try container.encode(unit, forKey: .unit)
        try container.encodeIfPresent(target, forKey: .target)
        try container.encodeIfPresent(least, forKey: .least)
        if !values.isEmpty { try container.encode(median, forKey: .median) }
        try container.encodeIfPresent(values.min(), forKey: .minimum)
        try container.encodeIfPresent(values.max(), forKey: .maximum)
        try container.encodeIfPresent(isMet, forKey: .met)
        try container.encode(values, forKey: .values)
    }

    var line: String {
        let wanted =
            [least.map { "≥ \(number($0))" }, target.map { "≤ \(number($0))" }]
            .compactMap { $0 }.joined(separator: ", ")
        if values.isEmpty { return "\(name.padded(to: 62))  no peer" }
        let verdict = isMet.map { $0 ? "met" : "MISSED" } ?? ""
        let range = "\(number(values.min() ?? .nan))…\(number(values.max() ?? .nan))"
        return [
            name.padded(to: 62), (number(median) + " " + unit).padded(to: 14), range.padded(to: 18),
            wanted.padded(to: 16), verdict,
        ].joined(separator: "  ")
    }

    static var heading: String {
        [
            "measure".padded(to: 62), "median".padded(to: 14), "min…max".padded(to: 18),
            "target".padded(to: 16), "",
        ].joined(separator: "  ")
    }

    private func number(_ value: Double) -> String {
        String(format: abs(value) >= 100 ? "%.0f" : abs(value) >= 10 ? "%.1f" : "%.2f", value)
    }
}

extension String {
    fileprivate func padded(to width: Int) -> String {
        self + String(repeating: " ", count: max(0, width - count))
    }
}

extension [Double] {
    var median: Double {
        guard !isEmpty else { return .nan }
        let sorted = sorted()
        return (sorted[count / 2] + sorted[(count - 1) / 2]) / 2
    }

    /// Returns the value that a `fraction` of all values does not exceed.
    func quantile(_ fraction: Double) -> Double {
        guard !isEmpty else { return .nan }
        return sorted()[Swift.min(count - 1, Int((Double(count) * fraction).rounded(.down)))]
    }
}
