import Capture
import Control
import DBusKit
import DualCamCore
import Engine
import Frames
import Logging
import Platform

/// Previews on the session bus: small pictures of cameras, each on a thread of its own. `State`
/// decides who gets one, and when it ends.
@MainActor
final class PreviewService {
    typealias OpenCall = Call<String, Control.Login, SharedDescriptor>

    /// A preview whose device is open, or may be.
    private final class Running {
        let camera: Camera
        let thread: PreviewThread
        /// The call and the reader's end of the socket, until the first picture is there.
        var waiting: (call: OpenCall, reader: SharedDescriptor)?
        /// Notices that the caller leaves the bus.
        var watch: AnyObject?

        init(_ camera: Camera, _ thread: PreviewThread, _ waiting: (OpenCall, SharedDescriptor)) {
            (self.camera, self.thread, self.waiting) = (camera, thread, waiting)
        }
    }

    /// A camera to be shown.
    private struct Camera {
        let source: any CameraSource
        let identity, name: String
        /// The role whose camera it is, and whose pictures are passed on.
        var role: Role?
    }

    /// Returns the source of a device.
    typealias Sources = (CameraDevice) throws(CaptureError) -> any CameraSource

    private let daemon: Daemon
    private let mailbox: EventLoop.Mailbox
    private let source: Sources
    private var running: [Int: Running] = [:]
    private var count = 0
    private var isEnding = false

    /// Tells the program of a caller; see `PhotoService.program`.
    var program: (String, @escaping (String?) -> Void) -> Void = { $1($0) }

    private static let ending = DBusError.failed("DualCam is ending.")

    /// Creates the service for the devices of `daemon`, which `source` opens.
    init(
        _ daemon: Daemon,
        loop: EventLoop,
        source: @escaping Sources = { device throws(CaptureError) in
            try cameraSource(SourceUse(device))
        }
    ) {
        self.daemon = daemon
        self.source = source
        mailbox = loop.mailbox
        daemon.performers.append { [unowned self] effect in
            if case .endPreview(let number) = effect { end(number) }
        }
        daemon.observers.append { [weak self] in self?.follow() }
    }

    /// Opens a preview of the camera that the call names. The reply comes with the first picture.
    func open(_ call: OpenCall) {
        program(call.sender) { [unowned self] program in
            do throws(DBusError) {
                guard let program, !isEnding else { throw Self.ending }
                try open(call, for: program)
            } catch {
                call.fail(error)
            }
        }
    }

    private func open(_ call: OpenCall, for program: String) throws(DBusError) {
        let camera = try camera(of: call)
        let (identity, role) = (camera.identity, camera.role)
        if let refusal = daemon.state.refusal(ofPreviewOf: identity, in: role, for: program) {
            throw error(of: refusal, camera)
        }
        count += 1
        let number = count
        running[number] = try start(number, camera, call)
        Log.capture.notice("preview", metadata: ["name": "\(camera.name)"])
        let preview = Preview(number: number, device: identity, of: role, program: program)
        daemon.send(.preview(.begun(preview)))
        running[number]?.watch = call.onLeaving { [weak self] in
            self?.daemon.send(.preview(.left(number: number)))
        }
    }

    /// Returns the camera that a call names: a role's, one on the network, a phone, or a device.
    private func camera(of call: OpenCall) throws(DBusError) -> Camera {
        let (word, devices) = (call.arguments, daemon.state.search.devices)
        let login = try call.options.login
        let device: CameraDevice
        do throws(DeviceNameError) {
            if let role = Role(rawValue: word) { return camera(of: role) }
            let wanted = try DualCamCore.source(called: word, among: devices)
            if login == nil, let role = role(of: wanted.identity) { return camera(of: role) }
            if case .url(let address) = wanted {
                let source = NetworkSource(address, login: login)
                return Camera(source: source, identity: source.identity, name: source.name)
            }
            if case .phone(let name) = wanted,
                let source = try? PhoneSource(name, "The phone", daemon.threads.phones)
            {
                return Camera(source: source, identity: source.identity, name: source.name)
            }
            device = try shownDevice(called: word, among: devices)
        } catch {
            throw DBusError(error)
        }
        guard login == nil else { throw .needsNetwork }
        guard !daemon.configuration.ignores(device) else {
            throw .denied("\(device.name) is in [cameras] ignore, so DualCam does not open it.")
        }
        do throws(CaptureError) {
            let source = try source(device)
            return Camera(source: source, identity: device.identity, name: device.name)
        } catch {
            throw .failed("\(error)")
        }
    }

    private func camera(of role: Role) -> Camera {
        let camera = daemon.state.cameras[role]
        let source = RoleSource(camera.name, identity: camera.identity, view(of: role))
        return Camera(source: source, identity: source.identity, name: source.name, role: role)
    }

    private func view(of role: Role) -> RoleSource.View {
        (daemon.shownSlot(of: role), daemon.state.cameras[role].transform)
    }

    private func role(of identity: String) -> Role? {
        Role.allCases.first { daemon.state.cameras[$0].identity == identity }
    }

    /// Passes on to each preview of a role's camera what the role shows now.
    private func follow() {
        for preview in running.values {
            let source = preview.camera.source as? RoleSource
            if let role = preview.camera.role { source?.view = view(of: role) }
        }
    }

    private func start(
        _ number: Int,
        _ camera: Camera,
        _ call: OpenCall
    ) throws(DBusError) -> Running {
        let mailbox = mailbox
        do {
            var end: SharedDescriptor?
            let thread = try PreviewThread(
                camera.source,
                turned: { (camera.source as? RoleSource)?.view.transform ?? .identity },
                takeReader: { end = SharedDescriptor($0) },
                report: { report in
                    mailbox.post { MainActor.assumeIsolated { self.take(report, of: number) } }
                }
            )
            guard let end else { preconditionFailure("a preview without a socket") }
            return Running(camera, thread, (call, end))
        } catch {
            throw .failed("\(error)")
        }
    }

    private func take(_ report: PreviewThread.Report, of number: Int) {
        guard let preview = running[number] else { return }
        switch report {
        case .delivering:
            // With this end closed here, the thread notices when the caller closes its own.
            guard let (call, reader) = preview.waiting else { break }
            preview.waiting = nil
            call.reply(reader)
        case .closed(let failure):
            running[number] = nil
            preview.thread.leave()
            if let failure {
                Log.capture.warning("preview ended", metadata: ["reason": "\(failure)"])
            }
            daemon.send(.preview(.closed(number: number)))
            preview.waiting?.call.fail(failure?.dbusError(preview.camera.name) ?? Self.ending)
        }
    }

    /// Returns the refusal of a preview of `camera`, as the caller gets it.
    private func error(of refusal: PreviewRefusal, _ camera: Camera) -> DBusError {
        let name = camera.name
        return switch refusal {
        case .suspended(let why): .locked(why.sentence)
        case .lost(let role): daemon.noPicture(of: role, "no preview")
        case .used(let role):
            .busy("\(name) is the \(role.rawValue) camera already, or a lens of it.")
        case .noRoom: .busy("The USB bus has no room for another camera.")
        case .doubled: .busy("A program already has a preview of \(name).")
        case .tooManyOfOne:
            .busy("This program already has previews of \(PreviewsState.mostOfOne) cameras.")
        case .tooMany: .busy("Programs already have previews of \(PreviewsState.most) cameras.")
        }
    }

    /// Closes the device of a preview. A call that waits for its first picture gets none, even
    /// if one is on its way, and does not wait for the device.
    private func end(_ number: Int) {
        guard let preview = running[number] else { return }
        preview.thread.end()
        guard let call = preview.waiting?.call else { return }
        preview.waiting = nil
        let camera = preview.camera
        let refusal = daemon.state.refusal(ofPreviewOf: camera.identity, in: camera.role, for: "")
        let lost = DBusError.cameraLost("\(camera.name) is needed for something else now.")
        call.fail(refusal.map { error(of: $0, camera) } ?? lost)
    }

    /// Ends all previews. Returns `true` if their devices are closed by `deadline`.
    func end(by deadline: Timestamp) -> Bool {
        isEnding = true
        for preview in running.values { preview.thread.end() }
        return running.values.allSatisfy { $0.thread.wait(until: deadline) }
    }
}

extension Options<Control.Login> {
    /// The user and the password in a call; `nil` if it has none.
    var login: NetworkLogin? {
        get throws(DBusError) {
            let (user, password) = (self.user, self.password)
            guard user != nil || password != nil else { return nil }
            do throws(UnreadableValue) {
                return try NetworkLogin(user: user ?? "", password: password ?? "")
            } catch {
                throw .outOfRange("Expected \(error.expected).")
            }
        }
    }
}

extension DBusError {
    /// The refusal of a user and a password for anything but a camera on the network.
    static let needsNetwork = outOfRange("Only a camera on the network has a user and a password.")
}

extension CaptureError {
    /// The failure of the camera called `name`, as the caller gets it.
    fileprivate func dbusError(_ name: String) -> DBusError {
        let message = "\(name) sends no pictures: \(self)"
        return switch code {
        case .busy, .bandwidth: .busy(message)
        case .denied, .refused: .denied(message)
        case .noMode, .unsupported: .notSupported(message)
        case .gone, .notFound, .unreachable, .noSignal, .newSignal, .unreadable, .timedOut, .woken,
            .hidden, .stopped, .away, .system:
            .cameraLost(message)
        }
    }
}

extension DBusError {
    /// The reason that a device cannot be used by the name that a caller gave.
    init(_ error: DeviceNameError) {
        self =
            switch error.code {
            case .notFound: .noCamera(error.message)
            case .unclear: .outOfRange(error.message)
            case .unusable: .notSupported(error.message)
            case .taken: .failed(error.message)
            }
    }
}
