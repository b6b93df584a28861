import Foundation
package import Frames
import Glibc
import Platform

/// A desktop of Sway's without a screen, with a pointer.
///
/// - Context: bound to the test's thread.
package final class SwayDesktop {
    package static let size = Size(width: 1280, height: 720)

    package let session: PrivateSession
    /// Sway's own, which it may read and write whoever it runs as.
    private let scratch: ScratchDirectory
    private let display: String

    /// The variables by which programs find this desktop.
    package let variables: [String: String]

    /// Starts Sway in `session`, with which it ends.
    package init(in session: PrivateSession) throws {
        self.session = session
        scratch = try ScratchDirectory()
        let path = scratch.path
        let configuration = "\(path)/config"
        try put(
            "output * resolution \(Self.size.width)x\(Self.size.height)\ndefault_border none\n",
            at: configuration
        )
        // It refuses to run as root, whose directory for what is temporary nobody else may enter.
        let nobody: uid_t = 65_534
        var words = ["sway", "-c", configuration]
        if getuid() == 0 {
            for file in [path, configuration] { chown(file, nobody, nobody) }
            words =
                [
                    "setpriv", "--reuid=\(nobody)", "--regid=\(nobody)", "--clear-groups",
                    "--inh-caps=+dac_override", "--ambient-caps=+dac_override",
                ] + words
        }
        let socket = "\(path)/sway.sock"
        let sway = try session.run(
            words[0],
            Array(words.dropFirst()),
            adding: [
                "XDG_RUNTIME_DIR": path, "HOME": path, "SWAYSOCK": socket,
                "WLR_BACKENDS": "headless", "WLR_RENDERER": "pixman",
                "WLR_LIBINPUT_NO_DEVICES": "1", "LIBSEAT_BACKEND": "noop",
            ]
        )
        display = try eventually("Sway", within: 10) {
            if let exit = sway.exit {
                throw ServiceFailed(description: "sway: \(exit): \(sway.errors)")
            }
            guard access(socket, F_OK) == 0 else { return nil }
            let files = try FileManager.default.contentsOfDirectory(atPath: path)
            return files.first { $0.wholeMatch(of: /wayland-\d+/) != nil }.map { "\(path)/\($0)" }
        }
        // No GPU here: GTK would take llvmpipe.
        variables = [
            "WAYLAND_DISPLAY": display, "SWAYSOCK": socket, "GSK_RENDERER": "cairo",
            "GTK_A11Y": "none",
        ]
    }

    package func start(_ program: String, _ arguments: String...) throws -> Child {
        try session.run(Programs.path(of: program), arguments, adding: variables)
    }

    /// Tells Sway to do something, and returns its answer.
    @discardableResult
    package func tell(_ words: String...) throws -> String {
        try run("swaymsg", words).output
    }

    private func run(_ program: String, _ words: [String]) throws -> Child {
        let environment = session.environment.merging(variables) { $1 }
        let child = try Child(program, words, environment: environment)
        try child.wait()
        return child
    }

    /// Does something with the pointer, in the words of Tests/Mocks/wayland_pointer.py.
    package func hand(_ words: String...) throws {
        let script = repository.appending(path: "Tests/Mocks/wayland_pointer.py").path
        let screen = ["\(Self.size.width)", "\(Self.size.height)"]
        let child = try run("/usr/bin/python3", [script] + screen + words)
        guard child.exit == .status(0) else {
            throw ServiceFailed(description: "the pointer: \(child.errors)")
        }
    }

    package func color(_ x: Int, _ y: Int) throws -> [Int] {
        let picture = "\(scratch.path)/picture.ppm"
        let child = try run("grim", ["-g", "\(x),\(y) 1x1", "-t", "ppm", picture])
        guard child.exit == .status(0) else {
            throw ServiceFailed(description: "grim: \(child.errors)")
        }
        return try Data(contentsOf: URL(filePath: picture)).suffix(3).map { Int($0) }
    }
}
