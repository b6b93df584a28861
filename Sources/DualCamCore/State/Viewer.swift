/// A program that takes the stream.
package struct Viewer: Hashable, Sendable {
    /// The program's name for people; empty if it has none.
    package var name: String
    /// The identity that a sandbox gives it; empty outside.
    package var application: String
    /// Its process; 0 if unknown.
    package var process: UInt32
    /// When it began, in microseconds since 1970.
    package var since: Int64
    /// The place where it finds the picture: the path of a loopback device, or the name of the node
    /// that offers one camera alone; empty for the stream's own node.
    package var through: String

    package init(
        name: String,
        application: String,
        process: UInt32,
        since: Int64,
        through: String = ""
    ) {
        self.name = name
        self.application = application
        self.process = process
        self.since = since
        self.through = through
    }
}

/// The copy of the stream on a loopback device.
package struct LoopbackState: Hashable, Sendable {
    /// The path of the device that is fed; empty without one.
    package var device = ""
    package var readers: [Viewer] = []

    package init(device: String = "", readers: [Viewer] = []) {
        self.device = device
        self.readers = readers
    }
}
