import Control
import DBusKit
import DualCamCore
import ViewCore

/// Which camera is which, for the set-up and the preferences.
extension PictureWindow {
    var main: Role { Role(daemon?[\SceneInterface.main]) ?? .back }

    /// The camera that a role has, and those that it can have.
    func choice(of role: Role) -> DeviceChoice {
        let found = daemon?[\StreamInterface.devices] ?? []
        // The modes of a camera that only PipeWire has may be unknown.
        let cameras = found.filter {
            $0["modes"]?.array?.isEmpty == false
                || $0["id"]?.string?.hasPrefix("pipewire:") == true
        }
        let devices = found.map { device in
            func text(_ key: String) -> String { device[key]?.string ?? "" }
            return (id: text("id"), name: text("name"), role: text("role"))
        }
        return DeviceChoice(
            role,
            source: daemon?[\CameraInterface.source, at: role.path] ?? "",
            name: daemon?[\CameraInterface.name, at: role.path] ?? "",
            devices: devices,
            isCamera: { id in cameras.contains { $0["id"]?.string == id } }
        )
    }

    /// The cameras of the two roles, if they can change places.
    var exchangeable: (back: String, front: String)? {
        let (back, front) = (choice(of: .back).chosen.device, choice(of: .front).chosen.device)
        guard back != front, ![back, front].contains(where: { ["", "auto"].contains($0) }) else {
            return nil
        }
        return (back, front)
    }

    /// Lets the two cameras change their roles. `done` gets what went wrong.
    func exchangeCameras(_ done: @escaping (DBusError?) -> Void) {
        guard let (back, front) = exchangeable else { return }
        use(back, as: .front) { [weak self] error in
            if error != nil { done(error) } else { self?.use(front, as: .back, done) }
        }
    }

    func use(_ device: String, as role: Role, _ done: @escaping (DBusError?) -> Void) {
        daemon?.call(\CameraInterface.use, at: role.path, device) { done($0.error) }
    }

    /// The name of the phone that is the camera of `role`, empty for the first one; `nil` if that
    /// is no phone that was added.
    func phone(of role: Role) -> String? {
        let phones = (daemon?[\PhoneInterface.phones] ?? []).compactMap { $0["name"]?.string }
        return phones.first {
            choice(of: role).chosen.device == SourceSpecification.phone($0).description
        }
    }

    /// Forgets the phone of `role`, which then has another camera.
    func forgetPhone(of role: Role, _ done: @escaping (DBusError?) -> Void) {
        guard let name = phone(of: role) else { return }
        daemon?.call(\PhoneInterface.forget, name) { [self] answer in
            if let error = answer.error { done(error) } else { use("auto", as: role, done) }
        }
    }

    /// Turns a camera's picture by a quarter, clockwise.
    func turn(_ role: Role, _ done: @escaping (DBusError?) -> Void) {
        let degrees = daemon?[\CameraInterface.rotation, at: role.path] ?? 0
        daemon?.set(\CameraInterface.rotation, at: role.path, to: (degrees + 90) % 360, done)
    }

    func mirror(_ role: Role, _ done: @escaping (DBusError?) -> Void) {
        let isMirrored = daemon?[\CameraInterface.mirror, at: role.path] ?? false
        daemon?.set(\CameraInterface.mirror, at: role.path, to: !isMirrored, done)
    }
}

extension Role {
    /// The word of people for its camera.
    var words: String { self == .front ? "You" : "Your view" }
}

extension PictureWindow {
    /// The present scene, as far as a small picture shows it.
    var look: SceneLook {
        var values: [String: Plain] = [:]
        for row in Settings.scenes {
            let value = daemon?.value(row.busName, of: SceneInterface.name)
            values[row.key] = value.map(Plain.init)
        }
        var look = SceneLook().applying(values)
        (look.settings.isSwapped, look.settings.title) = (main == .front, nil)
        return look
    }
}
