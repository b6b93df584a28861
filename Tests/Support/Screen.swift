import Foundation
package import Frames
import Platform

/// An X server without a screen, with a window manager, a pointer and a keyboard, in a session.
///
/// - Context: bound to the test's thread.
package final class Screen {
    package static let size = (width: 1280, height: 800)

    /// The name of the X server's display, such as ":1".
    package let display: String
    private let session: PrivateSession

    /// Starts the server and the window manager in `session`, with which they end.
    package init(in session: PrivateSession) throws {
        self.session = session
        let server = try session.run(
            "Xvfb",
            [
                "-displayfd", "1", "-screen", "0", "\(Self.size.width)x\(Self.size.height)x24",
                "-nolisten", "tcp", "-noreset",
            ]
        )
        let number = try eventually("Xvfb", within: 10) {
            server.output.contains("\n") ? server.output.prefix { $0.isNumber } : nil
        }
        display = ":\(number)"
        try eventually("the X server", within: 10) {
            try !run("xprop", ["-root", "_NET_SUPPORTING_WM_CHECK"]).isEmpty
        }
        try session.run("openbox", [], adding: ["DISPLAY": display])
        try eventually("the window manager", within: 10) {
            try run("xprop", ["-root", "_NET_SUPPORTING_WM_CHECK"]).contains("window id")
        }
    }

    /// Runs a program on the screen to its end, and returns its output.
    @discardableResult
    package func run(
        _ program: String,
        _ arguments: [String],
        adding more: [String: String] = [:]
    ) throws -> String {
        let environment = session.environment.merging(["DISPLAY": display]) { $1 }
        let child = try Child(program, arguments, environment: environment.merging(more) { $1 })
        try child.wait()
        return child.output
    }

    /// Does something with the pointer or the keyboard, in xdotool's words.
    package func hand(_ words: String) throws {
        try run("xdotool", words.split(separator: " ").map(String.init))
    }

    /// Returns the colour of a point: red, green and blue, 0 … 255.
    package func color(_ x: Int, _ y: Int) throws -> [Int] {
        try colors(PixelRect(x: x, y: y, width: 1, height: 1))[0]
    }

    /// Returns the colours of a part of the screen, row by row.
    package func colors(_ area: PixelRect) throws -> [[Int]] {
        let part = "\(area.width)x\(area.height)+\(area.x)+\(area.y)"
        let text = try run("import", ["-window", "root", "-crop", part, "-depth", "8", "txt:-"])
        let colors = text.split(separator: "\n").compactMap { line -> [Int]? in
            guard let open = line.firstIndex(of: "("), let close = line.firstIndex(of: ")") else {
                return nil
            }
            return line[line.index(after: open)..<close].split(separator: ",").compactMap {
                Double($0).map { Int($0) }
            }
        }
        guard colors.count == area.width * area.height else {
            throw ServiceFailed(description: "no picture of the screen: \(text)")
        }
        return colors
    }
}
