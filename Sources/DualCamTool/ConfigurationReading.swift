import Control
import DBusKit
import DualCamCore
import Frames
import Glibc
import Platform

/// The result of reading a configuration file.
struct ConfigurationReading {
    /// The path of the file, or `nil` if there is none.
    let path: String?
    let configuration: Configuration
    let warnings: [ConfigurationWarning]
    /// The reasons why the file cannot be accepted, in the order of its lines.
    let errors: [ConfigurationError]

    /// The failure of a command that needs a file without errors. All but the last of them are
    /// printed.
    func failure() -> Failure? {
        for error in errors.dropLast() {
            Output.complain("dualcamctl: \("\(error)".printable.sentence)")
        }
        return errors.last.map { Failure(status: .failed, message: "\($0)".printable) }
    }

    /// Reads the file at `path`, or the one in the usual places if `path` is `nil`.
    init(_ path: String?) throws(Failure) {
        let file: ConfigurationFile?
        do throws(SystemError) {
            file = try ConfigurationFile.load(override: path)
        } catch {
            throw Failure(status: .failed, message: "\(error)".printable)
        }
        self.path = file?.path
        (configuration, errors, warnings) =
            file.map { Configuration.check($0.text, file: $0.path) } ?? (Configuration(), [], [])
    }
}

extension Client {
    /// The configuration file named on the command line of the running daemon, if any.
    static var configurationFile: String? {
        let stream = try? Client().getAll(of: StreamInterface.self, startsService: false)
        return stream?[\.configurationFile].flatMap { $0.isEmpty ? nil : $0 }
    }

    /// Makes the daemon, if it runs, read its configuration again, and waits a moment until it no
    /// longer feeds the loopback device that it had.
    static func reloadDaemon() {
        guard let client = try? Client(),
            let reply = try? client.connection.call(
                .bus(
                    "GetConnectionUnixProcessID",
                    [.string(DualCam.busName)],
                    timeout: defaultTimeout
                )
            ), let process = reply.first?.integer.flatMap({ pid_t(exactly: $0) }), process > 1
        else { return }
        func device() -> String? {
            try? client.get(\StreamInterface.loopbackDevice, startsService: false)
        }
        let before = device()
        guard kill(process, SIGHUP) == 0 else { return }
        let deadline = MonotonicClock.now + Timestamp(seconds: 5)
        while before?.isEmpty == false, device() == before, MonotonicClock.now < deadline {
            usleep(50_000)
        }
    }
}
