import ArgumentParser
import Control
import DBusKit
import DualCamCore

/// The shell's offers for arguments whose values only a running daemon knows. Nothing here
/// starts the daemon, and one that does not answer soon is as good as none.
extension CompletionKind {
    /// Offers of names that others may have given: one line each, as the shell's script reads them.
    private static func foreign(
        _ names: @escaping @Sendable ([String], Int, String) -> [String]
    ) -> Self {
        .custom { words, index, prefix in
            let plain = names(words, index, prefix).filter { $0 == $0.printable }
            guard CompletionShell.requesting == .zsh else { return plain }
            // There, a description follows a colon, and Tab puts a line of the history for "!".
            return plain.filter { !$0.contains("!") }.map {
                $0.replacing("\\", with: "\\\\").replacing(":", with: "\\:")
            }
        }
    }

    /// The ISOs of the camera.
    static var isoStops: CompletionKind {
        .custom { words, _, _ in
            let stops = Asked(words).get(\ControlsInterface.isoStops) ?? []
            return ["auto"] + (stops.isEmpty ? Stops.iso.map { UInt32($0) } : stops).map { "\($0)" }
        }
    }

    static var shutterStops: CompletionKind {
        .custom { words, _, _ in
            let stops = Asked(words).get(\ControlsInterface.shutterStops) ?? []
            let known = stops.isEmpty ? Stops.shutter : stops.map { Int(clamping: $0) }
            // Above 0.3 s people write seconds with a quotation mark, which no shell likes.
            return ["auto"]
                + known.map {
                    Stops.shutterText(microseconds: $0).replacing("\"", with: "s")
                }
        }
    }

    static var lenses: CompletionKind {
        foreign { words, _, _ in
            ["list"] + (Asked(words).get(\CameraInterface.lenses) ?? []).map(\.first)
        }
    }

    /// The driver's controls of the camera, up to the "=", after those that are there already.
    static var controls: CompletionKind {
        foreign { words, index, prefix in
            let typed = prefix.isEmpty && words.indices.contains(index) ? words[index] : prefix
            let done = typed.lastIndex(of: ",").map { String(typed[...$0]) } ?? ""
            let rows = Asked(words).call(\ControlsInterface.listRaw, ()) ?? []
            return rows.map { "\(done)\($0.name)=" }
        }
    }

    static var scenes: CompletionKind {
        foreign { _, _, _ in Asked([]).get(\ScenesInterface.names, at: DualCam.path) ?? [] }
    }

    static var devices: CompletionKind {
        foreign { _, _, _ in
            let devices = Asked([]).get(\StreamInterface.devices, at: DualCam.path) ?? []
            let usable = devices.filter { $0["reason"]?.string != AutoRefusal.noPictures.text }
            let ids = usable.compactMap { device in
                device["id"]?.string.map { $0.hasPrefix("v4l2:") ? String($0.dropFirst(5)) : $0 }
            }
            let paths = usable.compactMap { $0["path"]?.string }.filter { !$0.isEmpty }
            return ["auto"] + ids + paths
        }
    }

    static var media: CompletionKind {
        foreign { words, _, _ in
            let page = Asked(words).call(\LibraryInterface.list, (0, 200), at: DualCam.path)
            return (page?.0 ?? []).compactMap { $0["path"]?.string }
        }
    }
}

/// The daemon, asked for the camera that a command line names.
private struct Asked {
    private let client = try? Client()
    private let place: CameraPlace?

    /// The longest time that a person waits for a list, in seconds.
    private static let patience = 1.0

    init(_ words: [String]) {
        let value = words.firstIndex(of: "--camera").map { $0 + 1 }
        place = value.flatMap {
            words.indices.contains($0) ? CameraPlace(rawValue: words[$0]) : nil
        }
    }

    private var path: ObjectPath? {
        guard let client else { return nil }
        return try? (place ?? .main).role(client, startsService: false, within: Self.patience).path
    }

    /// Returns a property of the object at `path`, or else of the camera; `nil` without a daemon.
    func get<Members: InterfaceMembers, Content>(
        _ property: KeyPath<Members, PropertyMember<Content>>,
        at path: ObjectPath? = nil
    ) -> Content? {
        guard let path = path ?? self.path else { return nil }
        return try? client?.get(property, at: path, startsService: false, within: Self.patience)
    }

    /// Returns the reply of a method at `path`, or else of the camera; `nil` without a daemon.
    func call<Members: InterfaceMembers, Arguments, Known, Results>(
        _ method: KeyPath<Members, MethodMember<Arguments, Known, Results>>,
        _ arguments: Arguments,
        at path: ObjectPath? = nil
    ) -> Results? {
        guard let path = path ?? self.path else { return nil }
        return try? client?.call(
            method,
            at: path,
            arguments,
            startsService: false,
            within: Self.patience
        )
    }
}
