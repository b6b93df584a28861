import Capture
import Control
import DBusKit
import DualCamCore
import Engine
import Frames
import Logging
import Platform

/// Previews on the session bus: small pictures of cameras that no role uses, each on a thread of
/// its own. `State` decides who gets one, and when it ends.
@MainActor
final class PreviewService {
    typealias OpenCall = Call<String, NoOptions, SharedDescriptor>

    /// A preview whose device is open, or may be.
    private final class Running {
        let name: String
        let thread: PreviewThread
        /// The call and the reader's end of the socket, until the first picture is there.
        var waiting: (call: OpenCall, reader: SharedDescriptor)?
        /// Notices that the caller leaves the bus.
        var watch: AnyObject?

        init(_ name: String, _ thread: PreviewThread, _ waiting: (OpenCall, SharedDescriptor)) {
            (self.name, self.thread, self.waiting) = (name, thread, waiting)
        }
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
    }

    /// Opens a preview of the device that the call names. The reply comes with the first picture.
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
        let device: CameraDevice
        do throws(DeviceNameError) {
            device = try shownDevice(called: call.arguments, among: daemon.state.search.devices)
        } catch {
            throw DBusError(error)
        }
        guard !daemon.configuration.ignores(device) else {
            throw .denied("\(device.name) is in [cameras] ignore, so DualCam does not open it.")
        }
        let identity = device.identity
        if let refusal = daemon.state.refusal(ofPreviewOf: identity, for: program) {
            throw refusal.dbusError(device.name)
        }
        count += 1
        let number = count
        running[number] = try start(number, device, call)
        Log.capture.notice("preview", metadata: ["name": "\(device.name)"])
        daemon.send(
            .preview(.begun(Preview(number: number, device: identity, program: program)))
        )
        running[number]?.watch = call.onLeaving { [weak self] in
            self?.daemon.send(.preview(.left(number: number)))
        }
    }

    private func start(
        _ number: Int,
        _ device: CameraDevice,
        _ call: OpenCall
    ) throws(DBusError) -> Running {
        let mailbox = mailbox
        do {
            var end: SharedDescriptor?
            let thread = try PreviewThread(
                source(device),
                takeReader: { end = SharedDescriptor($0) },
                report: { report in
                    mailbox.post { MainActor.assumeIsolated { self.take(report, of: number) } }
                }
            )
            guard let end else { preconditionFailure("a preview without a socket") }
            return Running(device.name, thread, (call, end))
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
            preview.waiting?.call.fail(failure?.dbusError(preview.name) ?? Self.ending)
        }
    }

    /// Closes the device of a preview. A call that waits for its first picture gets none, even
    /// if one is on its way, and does not wait for the device.
    private func end(_ number: Int) {
        guard let preview = running[number] else { return }
        preview.thread.end()
        guard let call = preview.waiting?.call else { return }
        preview.waiting = nil
        if let why = daemon.state.suspensions.min(by: { $0.rawValue < $1.rawValue }) {
            call.fail(.locked(why.sentence))
        } else {
            call.fail(.cameraLost("\(preview.name) is needed for something else now."))
        }
    }

    /// Ends all previews. Returns `true` if their devices are closed by `deadline`.
    func end(by deadline: Timestamp) -> Bool {
        isEnding = true
        for preview in running.values { preview.thread.end() }
        return running.values.allSatisfy { $0.thread.wait(until: deadline) }
    }
}

extension PreviewRefusal {
    /// The refusal of a preview of the camera called `name`, as the caller gets it.
    fileprivate func dbusError(_ name: String) -> DBusError {
        switch self {
        case .suspended(let why): .locked(why.sentence)
        case .used(let role):
            .busy("\(name) is the \(role.rawValue) camera already, or a lens of it.")
        case .noRoom: .busy("The USB bus has no room for another camera.")
        case .doubled: .busy("A program already has a preview of \(name).")
        case .tooManyOfOne:
            .busy("This program already has previews of \(PreviewsState.mostOfOne) cameras.")
        case .tooMany: .busy("Programs already have previews of \(PreviewsState.most) cameras.")
        }
    }
}

extension CaptureError {
    /// The failure of the camera called `name`, as the caller gets it.
    fileprivate func dbusError(_ name: String) -> DBusError {
        let message = "\(name) sends no pictures: \(self)"
        return switch code {
        case .busy, .bandwidth: .busy(message)
        case .denied: .denied(message)
        case .noMode, .unsupported: .notSupported(message)
        case .gone, .notFound, .unreachable, .noSignal, .newSignal, .unreadable, .timedOut, .woken,
            .system:
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
