package import DualCamCore
import Glibc
import Platform

extension MainsFrequency {
    /// The mains of the region that the machine's time zone is in: $TZ, or else /etc/localtime. A
    /// zone without a region, such as UTC, leaves it to the locale: $LC_ALL, $LC_TIME or $LANG.
    /// Reads files.
    package static func ofThisMachine() -> MainsFrequency {
        let found = ofTimeZone()
        guard found == .unknown else { return found }
        let names: [String] = ["LC_ALL", "LC_TIME", "LANG"]
        return names.compactMap(nonemptyVariable).first.map { MainsFrequency(ofLocale: $0) }
            ?? .unknown
    }

    private static func ofTimeZone() -> MainsFrequency {
        guard let zone = zone() else { return .unknown }
        let folder = "/usr/share/zoneinfo"
        let countries = wholeText(of: "\(folder)/zone.tab", limit: 1 << 20)
        let found = MainsFrequency(ofZone: zone, countries: countries, links: "")
        guard found == .unknown else { return found }
        return MainsFrequency(
            ofZone: zone,
            countries: countries,
            links: wholeText(of: "\(folder)/tzdata.zi", limit: 1 << 20)
        )
    }

    /// Returns the name of the time zone, "Europe/Vienna"; `nil` if it is not known.
    private static func zone() -> String? {
        func name(_ path: String) -> String? {
            path.firstRange(of: "zoneinfo/").map { String(path[$0.upperBound...]) }
        }
        if let variable = nonemptyVariable("TZ") {
            let zone = variable.hasPrefix(":") ? String(variable.dropFirst()) : variable
            return name(zone) ?? zone
        }
        if let zone = linkTarget("/etc/localtime").flatMap(name) { return zone }
        // A copy instead of a link, as on old installations of Debian.
        return content("/etc/timezone")
    }
}
