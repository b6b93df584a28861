import Glibc

/// A light of the kernel's LED class (Documentation/leds/leds-class.rst), such as a phone's flash.
package struct LED: Sendable {
    private let folder: String

    /// Creates a light called `name` in `root`, which need not exist.
    package init(_ name: String, in root: String = "/sys/class/leds") {
        folder = "\(root)/\(name)"
    }

    /// `true` while it shines; `nil` if it does not exist.
    package var isOn: Bool? {
        content("\(folder)/brightness").flatMap { Int($0) }.map { $0 > 0 }
    }

    /// Turns the light to full brightness, or off. Throws the errno of open(2) or write(2), such as
    /// EACCES if no udev rule grants the user access.
    package func turn(on: Bool) throws(SystemError) {
        let brightness = on ? content("\(folder)/max_brightness") ?? "255" : "0"
        let path = "\(folder)/brightness"
        let file = open(path, O_WRONLY | O_CLOEXEC)
        guard file >= 0 else { throw .last("open", path) }
        defer { close(file) }
        let count = retryingInterrupts { write(file, brightness, brightness.utf8.count) }
        guard count == brightness.utf8.count else { throw .last("write", path) }
    }
}
