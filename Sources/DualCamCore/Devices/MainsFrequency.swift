/// The frequency of the mains in a region. Lamps flicker with twice that.
package enum MainsFrequency: Hashable, Sendable {
    case hz50
    case hz60
    /// Both, as in Japan: 50 Hz in the east, 60 Hz in the west, and one time zone.
    case both
    case unknown

    /// Finds the mains of a time zone by its country. `zone` is a name such as "Europe/Vienna".
    /// `countries` is the text of tzdata's zone.tab, and `links` that of its tzdata.zi, which has
    /// the former names of zones; either may be empty.
    package init(ofZone zone: String, countries: String, links: String) {
        guard let country = Self.country(of: zone, countries, links) else {
            self = .unknown
            return
        }
        self.init(ofCountry: country)
    }

    /// Finds the mains of the country in a locale such as "de_AT.UTF-8"; else `unknown`.
    package init(ofLocale locale: String) {
        let territory =
            locale.split(separator: "_", omittingEmptySubsequences: false)
            .dropFirst().first.map { $0.prefix { $0 != "." && $0 != "@" } } ?? ""
        let isCountry =
            territory.utf8.count == 2 && territory.allSatisfy { ("A"..."Z").contains($0) }
        if isCountry { self.init(ofCountry: String(territory)) } else { self = .unknown }
    }

    private init(ofCountry country: String) {
        self = country == "JP" ? .both : Self.hz60Countries.contains(country) ? .hz60 : .hz50
    }

    /// The countries with 60 Hz (ISO 3166). Japan has both, and all others 50 Hz.
    private static let hz60Countries = Set(
        [
            // The Americas. Not Argentina, Bolivia, Chile, Paraguay and Uruguay.
            "AG AI AS AW BL BM BR BS BZ CA CO CR CU DO EC GT GY HN HT KN KY MF MS MX NI PA PE PR SR",
            "SV SX TC TT US VE VG VI",
            // Asia, Africa, the Pacific.
            "FM GU KR LR MH MP PF PH PW SA TW UM",
        ].flatMap { $0.split(separator: " ").map(String.init) }
    )

    private static func country(
        of zone: String,
        _ countries: String,
        _ links: String
    ) -> String? {
        var names = [zone]
        // "L Europe/Kyiv Europe/Kiev": the second is a former name of the first.
        for line in links.split(separator: "\n") where line.hasPrefix("L ") {
            let words = line.split(separator: " ")
            if words.count == 3, words[2] == zone { names.append(String(words[1])) }
        }
        for line in countries.split(separator: "\n") where !line.hasPrefix("#") {
            // Country, coordinates, zone, comments.
            let fields = line.split(separator: "\t")
            if fields.count >= 3, names.contains(String(fields[2])) { return String(fields[0]) }
        }
        return nil
    }
}

/// The filter against the flicker of lamps. The words are those of the configuration.
package enum AntiFlicker: String, CaseIterable, Hashable, Sendable {
    /// For the mains of the region.
    case auto
    case hz50 = "50"
    case hz60 = "60"
    /// As the camera has it.
    case off

    /// Returns the mains to filter for; `region` is those of the region.
    package func mains(in region: MainsFrequency) -> MainsFrequency {
        switch self {
        case .auto: region
        case .hz50: .hz50
        case .hz60: .hz60
        case .off: .unknown
        }
    }
}
