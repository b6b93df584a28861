import Control
import DBusKit

/// The programs that look at the stream, by the names that they give themselves.
struct ViewerNames: Equatable {
    /// The names, each once, in the order in which they came.
    var names: [String] = []

    init(_ viewers: [[String: Value]]) {
        for viewer in viewers {
            // What a program calls itself may be anything.
            let name = String((viewer["name"]?.string?.printable ?? "").prefix(40))
            if !name.isEmpty, !names.contains(name) { names.append(name) }
        }
    }

    init(_ daemon: DaemonMirror) { self.init(daemon[\StreamInterface.viewers] ?? []) }

    /// The sentence about them; `nil` while there are none.
    var sentence: String? {
        switch names.count {
        case 0: nil
        case 1: "\(names[0]) is using the camera"
        case 2: "\(names[0]) and \(names[1]) are using the camera"
        default: "\(names[0]), \(names[1]) and \(names.count - 2) more are using the camera"
        }
    }
}
