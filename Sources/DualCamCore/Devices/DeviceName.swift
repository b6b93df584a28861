/// The reason that a device cannot be used by the name that a person gave.
package struct DeviceNameError: Error, Hashable {
    /// The kind of error, by what can be done about it.
    package enum Code: Hashable, Sendable {
        /// Nothing has that name.
        case notFound
        /// Several devices have it, or the word is none.
        case unclear
        /// The device is not a camera, or cannot be shown.
        case unusable
        /// The other camera has it as a lens.
        case taken
    }
    package let code: Code
    /// The reason for people, in whole sentences.
    package let message: String
}

/// Returns the name `card`, which a driver gives a device, without the repetition that USB video
/// adds: "Desk Cam: Desk C", which is cut to the field's 31 bytes, becomes "Desk Cam".
package func plainName(_ card: String) -> String {
    guard let colon = card.firstRange(of: ": ") else { return card }
    let (name, repeated) = (card[..<colon.lowerBound], card[colon.upperBound...])
    return name.hasPrefix(repeated) ? String(name) : card
}

/// Returns the source that a person means by `word`: "auto", any source as in a configuration, or
/// one of `devices` by any of its names, the number of its node, or a part of its name that only it
/// has. Throws `DeviceNameError` if none or several are meant, or one that cannot be shown.
package func source(
    called word: String,
    among devices: [CameraDevice]
) throws(DeviceNameError) -> SourceSpecification {
    guard !word.isEmpty, word.utf8.count <= 1024,
        !word.unicodeScalars.contains(where: { $0.properties.generalCategory == .control })
    else {
        throw DeviceNameError(code: .unclear, message: "Name a device, or auto.")
    }
    if let source = try parsed(word) {
        switch source {
        case .v4l2: break
        case .file(let path) where !path.hasPrefix("/"):
            throw DeviceNameError(code: .unclear, message: "A file's path must begin with /.")
        default: return source
        }
    }
    let name = word.hasPrefix("v4l2:") ? String(word.dropFirst(5)) : word
    let device = try device(called: name, among: devices)
    switch device.refusal {
    case .noPictures, .needsPipeline, .unreadable, .ours:
        throw DeviceNameError(
            code: .unusable,
            message: "\(device.title) cannot be shown: \(device.refusal?.text ?? "")."
        )
    case .ignored, .infrared, .depth, .unfed, .echo, .virtual, .copy, nil: break
    }
    guard let source = try? SourceSpecification(parsing: device.identity) else {
        throw DeviceNameError(code: .unusable, message: "\(device.title) has no lasting name.")
    }
    return source
}

/// Returns the one of `devices` that a person means by `word`, as `source(called:among:)` does.
/// Throws `DeviceNameError` if none or several are meant, or one that cannot be shown.
package func shownDevice(
    called word: String,
    among devices: [CameraDevice]
) throws(DeviceNameError) -> CameraDevice {
    let source = try source(called: word, among: devices)
    if let device = devices.first(where: { $0.identity == source.description }) { return device }
    switch source {
    case .v4l2(let name), .pipewire(let name): throw notFound(name, among: devices)
    case .auto, .test, .file, .url, .phone:
        throw DeviceNameError(
            code: .unclear,
            message: "Name a camera of this computer. " + whatIsThere(devices, insteadOf: word)
        )
    }
}

/// Returns the source that `word` is, as in a configuration; `nil` if it may be a device's name.
private func parsed(_ word: String) throws(DeviceNameError) -> SourceSpecification? {
    do throws(UnreadableValue) {
        return try SourceSpecification(parsing: word)
    } catch {
        let message: String
        switch word.split(separator: ":", omittingEmptySubsequences: false).first {
        case _ where !word.contains(":"): return nil
        case "url": message = "Expected \(error.expected)."
        case "test": message = "Expected a test picture, as in test:bars."
        case "file": message = "Expected a file, as in file:/home/me/lesson.jpg."
        case "phone": message = "Expected letters and digits after phone:."
        case "pipewire": message = "Expected the name of a PipeWire node after pipewire:."
        default: return nil
        }
        throw DeviceNameError(code: .unclear, message: message)
    }
}

private func device(
    called name: String,
    among devices: [CameraDevice]
) throws(DeviceNameError) -> CameraDevice {
    let paths = [name, "/dev/\(name)", "/dev/video\(name)"]
    if let exact = devices.first(where: { device in
        device.isCalled(name) || device.identity == name || paths.contains(device.path)
    }) {
        return exact
    }
    let cameras = devices.filter { $0.refusal != .noPictures }
    let wanted = name.lowercased()
    var found = cameras.filter { $0.name.lowercased() == wanted }
    if found.isEmpty { found = cameras.filter { $0.allNames.contains { $0.contains(wanted) } } }
    // Of a camera in colour and the infrared one beside it, people mean the first.
    if found.count > 1 {
        let usual = found.filter { $0.refusal == nil }
        if !usual.isEmpty { found = usual }
    }
    guard found.count < 2 else {
        throw DeviceNameError(
            code: .unclear,
            message: "“\(name.prefix(64))” may be \(list(found)). Use a name in brackets."
        )
    }
    if let device = found.first { return device }
    throw notFound(name, among: devices)
}

private func notFound(_ name: String, among devices: [CameraDevice]) -> DeviceNameError {
    DeviceNameError(
        code: .notFound,
        message: "There is no camera “\(name.prefix(64))”. " + whatIsThere(devices, insteadOf: name)
    )
}

/// Returns sentences on which `devices` are there, and which of them `name` probably meant.
package func whatIsThere(_ devices: [CameraDevice], insteadOf name: String) -> String {
    let cameras = devices.filter { $0.refusal != .noPictures }
    guard !cameras.isEmpty else { return "No camera is attached." }
    let words = cameras.flatMap { [$0.shortIdentity, $0.path] + $0.aliases.sorted() }
    let near = suggestion(nearest(to: name, among: words))
    return "There \(cameras.count == 1 ? "is" : "are") \(list(cameras)).\(near)"
}

/// Returns sentences on which of the PipeWire nodes called `nodes` are there for somebody who
/// wanted `name`, and which of them was probably meant.
package func whatIsThere(nodes: [String], insteadOf name: String) -> String {
    guard !nodes.isEmpty else { return "PipeWire has no camera." }
    return "PipeWire has \(listed(nodes)).\(suggestion(nearest(to: name, among: nodes)))"
}

/// Returns what people should know of a file that is not at `path`: sentences on whether its
/// directory is there, and which of the files called `files` in it was probably meant; empty if
/// there is nothing to say. `files` is `nil` if there is no such directory. With `isList`, all of
/// the files are named that are not hidden.
package func whatIsThere(files: [String]?, insteadOf path: String, isList: Bool) -> String {
    let cut = path.lastIndex(of: "/") ?? path.startIndex
    let folder = cut == path.startIndex ? "/" : String(path[..<cut])
    guard let files else { return "There is no directory \(folder)." }
    let name = String(path[cut...].dropFirst())
    let shown = files.filter { !$0.hasPrefix(".") }.sorted()
    let near = nearest(to: name, among: shown).map { folder == "/" ? "/\($0)" : "\(folder)/\($0)" }
    let all = shown.isEmpty ? "is nothing" : "\(shown.count == 1 ? "is" : "are") \(listed(shown))"
    return String(
        ((isList ? "In \(folder) there \(all)." : "") + suggestion(near)).trimmingPrefix(" ")
    )
}

private func suggestion(_ near: String?) -> String { near.map { " Did you mean \($0)?" } ?? "" }

/// Returns "Desk Cam (usb-1) and Lid (usb-2)", at most eight.
private func list(_ devices: [CameraDevice]) -> String {
    listed(devices.map { "\($0.name) (\($0.shortIdentity))" })
}

/// Returns "a, b and c", at most eight of them.
private func listed(_ all: [String]) -> String {
    var words = Array(all.prefix(8))
    if all.count > 8 { words.append("\(all.count - 8) more") }
    return words.count < 2
        ? words.joined() : words.dropLast().joined(separator: ", ") + " and " + (words.last ?? "")
}

extension CameraDevice {
    /// The identity as a person writes it: without "v4l2:".
    fileprivate var shortIdentity: String {
        identity.hasPrefix("v4l2:") ? String(identity.dropFirst(5)) : identity
    }

    fileprivate var title: String { path.isEmpty ? name : "\(name) (\(path))" }

    /// All names in small letters.
    fileprivate var allNames: [String] {
        ([name, identity] + aliases).map { $0.lowercased() }
    }
}
