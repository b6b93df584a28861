package import Glibc

/// A network in which there is one computer, with one private address, and whatever joins it.
package enum PrivateNetwork {
    package static let address = "192.168.77.5"

    /// The beginning of a command line that runs a program in a new one.
    static var new: [String] {
        let rights = getuid() == 0 ? [] : ["--map-current-user", "--keep-caps"]
        let set = """
            ip link set lo up && ip link add one type veth peer name two && ip link set two up \
            && ip addr add \(address)/24 dev one && ip link set one up && exec "$0" "$@"
            """
        return ["unshare", "--net"] + rights + ["sh", "-c", set]
    }

    /// Returns the beginning of a command line that runs a program in that of `process`.
    package static func of(_ process: pid_t) -> [String] {
        ["nsenter", "--net", "--target", "\(process)"]
            + (getuid() == 0 ? [] : ["--user", "--preserve-credentials"])
    }
}
