import Control
import DBusKit
package import DualCamCore
import Glibc
import Platform

/// Compares the sources of a configuration with what is there, without opening a device.
package enum SourceCheck {
    /// A source that is not there.
    package struct Absence {
        package let role: Role
        /// The lens of the camera that it is for; `nil` for the camera's own.
        package let lens: Int?
        /// The sources that are missing and those that are there, in sentences.
        package let reason: String

        /// The reason after the key in the configuration.
        package var text: String {
            let key = lens.map { "lenses[\($0)]." } ?? ""
            return "cameras.\(role.rawValue).\(key)source: \(reason)"
        }
    }

    /// Returns the sources of `configuration` that are not there.
    package static func absences(in configuration: Configuration) -> [Absence] {
        let sources = Role.allCases.flatMap { role in
            let camera = configuration.cameras[role]
            return [(role, nil as Int?, camera.source)]
                + camera.lenses.enumerated().compactMap { index, lens in
                    lens.source.map { (role, index, $0) }
                }
        }
        guard sources.contains(where: { $0.2 != .auto }) else { return [] }
        let known = devices()
        return sources.compactMap { role, lens, source in
            absence(of: source, known).map { Absence(role: role, lens: lens, reason: $0) }
        }
    }

    /// Returns why `source` is not there; `nil` if it is, or that is unknown.
    static func absence(
        of source: SourceSpecification,
        _ known: (list: [CameraDevice], isComplete: Bool)
    ) -> String? {
        switch source {
        case .file(let path) where path.hasPrefix("/") && access(path, F_OK) != 0:
            return "the file \(path) was not found. "
                + whatIsThere(files: neighbors(of: path), insteadOf: path, isList: true)
        case .file(let path) where !path.hasPrefix("/"):
            return "a file's path must begin with /, not \"\(path)\""
        case .test(let name?) where !isTestPicture(name):
            let known = SourceSpecification.testPictures
            let near = nearest(to: name, among: known).map { " Did you mean \($0)?" } ?? ""
            return "there is no test picture \(name), only "
                + "\(known.joined(separator: ", ")).\(near)"
        case .v4l2(let name) where !isThere(name, known.list):
            // Only its driver knows the place of a camera that is not on USB.
            guard known.isComplete || !name.hasPrefix("platform:") else { return nil }
            return "\(name) was not found. "
                + whatIsThere(known.list, insteadOf: name)
        default: return nil
        }
    }

    private static func isTestPicture(_ name: String) -> Bool {
        SourceSpecification.testPictures.contains { name == $0 || name == "\($0)-plain" }
    }

    private static func isThere(_ name: String, _ devices: [CameraDevice]) -> Bool {
        devices.contains { $0.isCalled(name) }
            || (name.hasPrefix("/") && access(name, F_OK) == 0)
    }

    /// The devices that the daemon knows, or else those of sysfs.
    private static func devices() -> (list: [CameraDevice], isComplete: Bool) {
        let stream = try? Client().getAll(of: StreamInterface.self, startsService: false)
        guard let listed = stream?[\.devices] else { return (AttachedCamera.devices(), false) }
        return (
            listed.map { device in
                CameraDevice(
                    path: device["path"]?.string ?? "",
                    name: device["name"]?.string ?? "",
                    identity: device["id"]?.string ?? "",
                    aliases: Set((device["names"]?.array ?? []).compactMap(\.string)),
                    refusal: device["reason"]?.string == AutoRefusal.noPictures.text
                        ? .noPictures : nil
                )
            }, true
        )
    }
}

extension AttachedCamera {
    /// The cameras of this machine with the names that udev and the kernel give them.
    fileprivate static func devices() -> [CameraDevice] {
        let links = ["by-id", "by-path"].flatMap { folder in
            entries(of: "/dev/v4l/\(folder)").map { (name: $0, path: "/dev/v4l/\(folder)/\($0)") }
        }
        return all().map { camera in
            let own = links.filter { resolvedPath($0.path) == camera.path }
            let place = usbPlace(of: fileName(of: camera.path))
            let name = own.first?.name ?? place ?? camera.path
            return CameraDevice(
                path: camera.path,
                name: camera.name,
                identity: "v4l2:\(name)",
                aliases: Set(own.flatMap { [$0.name, $0.path] } + [place].compactMap { $0 })
            )
        }
    }

    /// Returns the place of the USB camera behind a node.
    private static func usbPlace(of entry: String) -> String? {
        resolvedPath("/sys/class/video4linux/\(entry)/device").flatMap(busOfUSB)
    }
}
