import Glibc

/// A light of the kernel's LED class (Documentation/leds/leds-class.rst), such as a phone's flash.
package struct LED: Sendable {
    private let folder: String

    /// The one called `name` in `root`, which may not be there.
    package init(_ name: String, in root: String = "/sys/class/leds") {
        folder = "\(root)/\(name)"
    }

    /// Whether it shines; `nil` where it is not there.
    package var isOn: Bool? {
        content("\(folder)/brightness").flatMap { Int($0) }.map { $0 > 0 }
    }

    /// Has it shine as brightly as it can, or not at all. Throws what open or write say, such as EACCES where
    /// no rule of udev lets the user.
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
