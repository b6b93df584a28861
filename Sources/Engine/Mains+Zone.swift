package import DualCamCore
import Glibc
import Platform

extension Mains {
    /// The mains of the region that the machine's time zone is in: $TZ, or else /etc/localtime. A
    /// zone without a region, such as UTC, leaves it to the locale: $LC_ALL, $LC_TIME or $LANG.
    ///
    /// Reads files.
    package static func ofThisMachine() -> Mains {
        let found = ofTimeZone()
        guard found == .unknown else { return found }
        let names: [String] = ["LC_ALL", "LC_TIME", "LANG"]
        let locales = names.map { name in getenv(name).map { String(cString: $0) } ?? "" }
        return locales.first { !$0.isEmpty }.map { Mains(ofLocale: $0) } ?? .unknown
    }

    private static func ofTimeZone() -> Mains {
        guard let zone = zone() else { return .unknown }
        let folder = "/usr/share/zoneinfo"
        func text(_ name: String) -> String {
            let bytes = try? readFile("\(folder)/\(name)", limit: 1 << 20)
            return bytes.map { String(decoding: $0, as: UTF8.self) } ?? ""
        }
        let countries = text("zone.tab")
        let found = Mains(ofZone: zone, countries: countries, links: "")
        guard found == .unknown else { return found }
        return Mains(ofZone: zone, countries: countries, links: text("tzdata.zi"))
    }

    /// Returns the name of the time zone, "Europe/Vienna"; `nil` if it is not known.
    private static func zone() -> String? {
        func name(_ path: String) -> String? {
            path.firstRange(of: "zoneinfo/").map { String(path[$0.upperBound...]) }
        }
        if let variable = getenv("TZ").map({ String(cString: $0) }), !variable.isEmpty {
            let zone = variable.hasPrefix(":") ? String(variable.dropFirst()) : variable
            return name(zone) ?? zone
        }
        var target = [CChar](repeating: 0, count: 4096)
        let length = readlink("/etc/localtime", &target, target.count)
        if length > 0 {
            let bytes = target[..<length].map { UInt8(bitPattern: $0) }
            if let zone = name(String(decoding: bytes, as: UTF8.self)) { return zone }
        }
        // A copy instead of a link, as on old installations of Debian.
        return content("/etc/timezone")
    }
}
