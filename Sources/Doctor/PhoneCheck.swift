import Control
import DBusKit
import DualCamCore
import Glibc
import Platform

/// Checks what phones need: three libraries, a private address, and a way through the firewall.
enum PhoneCheck {
    /// Returns what is found; nothing where no phone was added and no source is one.
    static func findings(_ client: Client?, _ configuration: Configuration) -> [Finding] {
        let values = try? client?.getAll(of: PhoneInterface.self, startsService: false)
        let phones = values?[\.phones] ?? []
        let isSource = Role.allCases.contains {
            if case .phone = configuration.cameras[$0].source { true } else { false }
        }
        guard !phones.isEmpty || isSource else { return [] }
        let missing = PhoneLibrary.all.filter {
            guard let handle = dlopen("\($0.file)", RTLD_LAZY) else { return true }
            dlclose(handle)
            return false
        }.map(\.name)
        guard missing.isEmpty else {
            return [.bad("a phone needs \(missing.joined(separator: " and "))")]
        }
        let places = phones.compactMap { $0["address"]?.string?.printable }
        let state =
            places.isEmpty
            ? "nothing listens, since no phone is needed"
            : "listens at \(places.joined(separator: ", "))"
        let port = places.first?.split(separator: ":").last.map(String.init) ?? "8447"
        return [.good(state)] + [firewall(port: port)].compactMap { $0 }
    }

    /// A firewall that is on. Only root may see which ports it leaves open.
    private static func firewall(port: String) -> Finding? {
        let ufw = (try? readText("/etc/ufw/ufw.conf", limit: 1 << 16)) ?? ""
        func isOn(_ name: String, _ command: String) -> Finding {
            .good("\(name) is on; if no phone gets through: \(command)")
        }
        if ufw.split(separator: "\n").contains("ENABLED=yes") {
            return isOn("ufw", PhoneWords.ufw(port))
        }
        return access("/run/firewalld.pid", F_OK) == 0
            ? isOn("firewalld", PhoneWords.firewalld(port)) : nil
    }
}
