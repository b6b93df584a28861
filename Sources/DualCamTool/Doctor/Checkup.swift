import Control
import DBusKit
import DualCamCore
import Frames
import Glibc
import Platform

/// The result of one check of the system.
struct Finding: Equatable {
    /// The subject of the check in one word, such as "cameras".
    let name: String
    /// The outcome of the check.
    let outcome: Outcome
    /// The result in words, for people.
    let text: String
    /// The one command that solves the problem; `nil` if there is no problem, or no such command.
    var command: String?

    enum Outcome {
        case good, bad
        /// The check was not possible, for a reason that another finding states.
        case unknown
    }

    static func good(_ name: String, _ text: String) -> Finding {
        Finding(name: name, outcome: .good, text: text)
    }

    static func unknown(_ name: String, _ text: String) -> Finding {
        Finding(name: name, outcome: .unknown, text: text)
    }

    static func bad(_ name: String, _ text: String, mendedBy command: String? = nil) -> Finding {
        Finding(name: name, outcome: .bad, text: text, command: command)
    }
}

/// Checks all that the camera needs, from the devices up to the stream. Each check is a function of
/// its own that returns one finding; a new one is added to `findings`.
struct Checkup {
    private let cameras = AttachedCamera.all()
    let desktop = DesktopCheckup()
    private let hasSessionBus: Bool
    /// The properties of the stream, or the reason why the daemon does not give them.
    private let stream: Result<PropertyValues<StreamInterface>, Failure>
    private let configuration: Result<ConfigurationReading, Failure>
    /// The sources in the configuration that are not there.
    private let absences: [SourceCheck.Absence]

    /// Reads the state of the system.
    init() {
        hasSessionBus = (try? Client()) != nil
        let stream = Result { () throws(Failure) in
            try Client().getAll(of: StreamInterface.self, startsService: false)
        }
        self.stream = stream
        configuration = Result { () throws(Failure) in
            let named = try? stream.get()[\.configurationFile]
            return try ConfigurationReading(named.flatMap { $0.isEmpty ? nil : $0 })
        }
        absences = (try? configuration.get().configuration).map(SourceCheck.absences) ?? []
    }

    /// Returns the findings in the order of their dependencies, so that every problem appears in
    /// one of them.
    func findings() -> [Finding] {
        [
            configurationFinding
        ] + camerasFindings + deviceFindings + mirrorFindings + [
            permissionsFinding, holdersFinding, bandwidthFinding, pipeWireFinding,
            sessionManagerFinding,
            desktop.unitFinding(), daemonFinding, nodeFinding,
            desktop.portalFinding(hasNode: hasNode), desktop.refusalFinding(),
            desktop.accessFinding(),
        ] + desktop.browserFindings() + [hidingFinding, loopbackFinding, problemsFinding]
    }

    // MARK: Configuration

    private var configurationFinding: Finding {
        let name = "configuration"
        let reading: ConfigurationReading
        do throws(Failure) { reading = try configuration.get() } catch {
            return .bad(name, error.message)
        }
        guard let path = reading.path else {
            return .good(name, "there is no file; every value is the default")
        }
        if let error = reading.errors.first {
            return .bad(name, "\(error)", mendedBy: edit(path, at: error.line))
        }
        if let warning = reading.warnings.first {
            return .bad(name, "\(warning)", mendedBy: edit(path, at: warning.line))
        }
        return .good(name, "\(path) is valid")
    }

    private func edit(_ path: String, at line: Int?) -> String {
        "${EDITOR:-editor} \(line.map { "+\($0) " } ?? "")\(path.quotedForShell)"
    }

    /// The first role that takes its pictures from an attached camera; `nil` if none does.
    private var neediest: Role? {
        let cameras = ((try? configuration.get().configuration) ?? Configuration()).cameras
        return Role.allCases.first {
            switch cameras[$0].source {
            case .auto, .v4l2: true
            default: false
            }
        }
    }

    // MARK: Devices

    /// A finding for each source that is not there, or else one on all cameras.
    private var camerasFindings: [Finding] {
        guard absences.isEmpty else {
            return absences.map { absence in
                // The device of a lens is chosen in the file alone.
                let path: String? = absence.lens == nil ? nil : (try? configuration.get())?.path
                let command =
                    path.map { edit($0, at: nil) } ?? "dualcamctl use \(absence.role.rawValue) auto"
                return .bad("cameras", absence.text, mendedBy: command)
            }
        }
        return [attachedFinding]
    }

    private var attachedFinding: Finding {
        let name = "cameras"
        guard cameras.isEmpty else {
            return .good(name, cameras.map(\.description).joined(separator: ", "))
        }
        guard let role = neediest else {
            return .good(name, "none is attached, and the configuration asks for none")
        }
        guard AttachedCamera.isWaitingForDriver() else {
            return .bad(
                name,
                "none is attached; plug one in, or try a test picture",
                mendedBy: "dualcamctl use \(role.rawValue) test"
            )
        }
        return .bad(
            name,
            "a USB camera is attached, but its driver is not loaded",
            mendedBy: "sudo modprobe uvcvideo"
        )
    }

    /// The role of each video device, as the daemon says.
    private var deviceFindings: [Finding] {
        let devices = (try? stream.get())?[\.devices] ?? []
        return devices.map { .good("device", DeviceText.line($0)) }
    }

    /// The cameras whose pictures are mirrored; `nil` if the daemon does not say.
    var mirrored: [Role]? {
        guard (try? stream.get()) != nil, let client = try? Client() else { return nil }
        return Role.allCases.filter {
            (try? client.get(\CameraInterface.mirror, at: $0.path, startsService: false)) ?? false
        }
    }

    /// Checks if writing reads backwards, which is no problem where a face is shown.
    private var mirrorFindings: [Finding] {
        let name = "mirror"
        guard let mirrored else { return [] }
        guard let first = mirrored.first else {
            return [.good(name, "no camera is mirrored, so writing reads the right way round")]
        }
        let cameras =
            mirrored.count > 1 ? "both cameras are" : "the \(first.rawValue) camera is"
        return [
            .good(
                name,
                "\(cameras) mirrored, so others see writing backwards; --fix mirror turns it off"
            )
        ]
    }

    private var permissionsFinding: Finding {
        let name = "permissions"
        let denied = cameras.filter { !$0.mayBeOpened }
        guard let first = denied.first else {
            return .good(name, cameras.isEmpty ? "nothing to open" : "the cameras may be opened")
        }
        let paths = denied.map(\.path).joined(separator: ", ")
        return Self.denied(name, paths, seat: SeatAccess.current, group: first.group)
    }

    /// Returns the finding `name` that this user may not open the cameras at `paths`, and what
    /// gives access. Who is at the seat has it from udev. A group, here `group`, goes around that:
    /// its members may look through the cameras while others sit there.
    static func denied(
        _ name: String,
        _ paths: String,
        seat: SeatAccess,
        group: String
    ) -> Finding {
        let what = "\(paths) may not be opened"
        switch seat {
        case .active:
            return .bad(
                name,
                "\(what), although you are logged in at this computer's screen",
                mendedBy: "sudo udevadm trigger --subsystem-match=video4linux"
            )
        case .inactive:
            return .bad(name, "\(what) while the screen shows another session; switch to yours")
        case .elsewhere:
            return .bad(
                name,
                "\(what), because you are not logged in at this computer's screen; log in there"
            )
        case .none:
            return .bad(
                name,
                "\(what), and this computer has no seat (loginctl list-seats); members of "
                    + "the group \(group) may, from their next login on",
                mendedBy: "sudo usermod -aG \(group) \"$USER\""
            )
        }
    }

    private var holdersFinding: Finding {
        let name = "in-use"
        let held = cameras.flatMap { camera in
            holders(of: camera.path).filter { !Self.ours.contains($0.name) }.map { (camera, $0) }
        }
        guard let (camera, holder) = held.first else {
            return .good(name, "no other program has a camera open")
        }
        return .bad(
            name,
            "\(camera) is in use by \(holder)",
            mendedBy: "kill \(holder.process)"
        )
    }

    /// Programs that may have a camera open without being in the way.
    private static let ours: Set<String> = ["dualcamd", "pipewire", "wireplumber"]

    private var bandwidthFinding: Finding {
        let name = "usb"
        let places = cameras.compactMap { camera in camera.bus.map { (camera, $0) } }
        guard
            let (first, bus) = places.first(where: { place in
                place.1.megabits <= 480 && places.count(where: { $0.1 == place.1 }) > 1
            })
        else {
            return .good(name, "no two cameras share a slow bus")
        }
        let sharing = places.filter { $0.1 == bus }.map { $0.0.path }.joined(separator: " and ")
        let short = Role.allCases.contains { role in
            let reason = try? Client().get(
                \CameraInterface.interruption,
                at: role.path,
                startsService: false
            )
            return reason == "bandwidth"
        }
        let text = "\(sharing) share USB bus \(bus.number) (\(bus.megabits) Mb/s)"
        guard short else { return .good(name, text + ", which is enough for them") }
        return .bad(name, text + ": plug \(first.name) in elsewhere, or make both send MJPG")
    }

    /// The configured loopback device.
    var loopbackDevice: Configuration.LoopbackDevice {
        ((try? configuration.get().configuration) ?? Configuration()).loopback.device
    }

    /// The path of the configuration file in use; `nil` if there is none.
    var configurationPath: String? { (try? configuration.get())?.path }

    /// The check of the device on which V4L2 programs find the stream.
    private var loopbackFinding: Finding {
        let name = "loopback"
        let devices = LoopbackModule.devices()
        let path: String?
        switch loopbackDevice {
        case .none:
            return .good(
                name,
                "none is configured; --fix loopback sets one up, for apps that need a V4L2 camera"
            )
        case .auto: path = fedDevice ?? devices.first
        case .path(let configured): path = access(configured, F_OK) == 0 ? configured : nil
        }
        guard let path else {
            return .bad(
                name,
                "there is no v4l2loopback device",
                mendedBy: "sudo apt install v4l2loopback-dkms && "
                    + "sudo modprobe v4l2loopback exclusive_caps=1 card_label=DualCam"
            )
        }
        guard devices.contains(path) else {
            return .bad(
                name,
                "\(path) is not a v4l2loopback device"
                    + (devices.isEmpty ? "" : "; \(devices.joined(separator: ", ")) is")
            )
        }
        guard access(path, R_OK | W_OK) == 0 else {
            let group = AttachedCamera.group(of: path)
            return Self.denied(name, path, seat: SeatAccess.current, group: group)
        }
        // The daemon has tried to use the device, and knows more.
        if let problem = problems.first(where: Self.isOfLoopback) { return .bad(name, problem) }
        return .good(name, "the stream is copied to \(path) while a program reads it")
    }

    /// The loopback device that the daemon feeds; `nil` if there is none, or nobody says.
    private var fedDevice: String? {
        (try? stream.get())?[\.loopbackDevice].flatMap { $0.isEmpty ? nil : $0 }
    }

    private static func isOfLoopback(_ problem: String) -> Bool {
        problem.hasPrefix("The stream is not on a loopback device")
    }

    // MARK: PipeWire

    private var pipeWireFinding: Finding {
        let name = "pipewire"
        guard let socket = pipeWireSocketPath() else {
            return .bad(
                name,
                "there is no runtime directory: XDG_RUNTIME_DIR is not set",
                mendedBy: "export XDG_RUNTIME_DIR=/run/user/$(id -u)"
            )
        }
        if PipeWireSocket.accepts(socket) { return .good(name, "it answers at \(socket)") }
        return .bad(
            name,
            "nothing answers at \(socket)",
            mendedBy: desktop.runsSystemd
                ? "systemctl --user enable --now pipewire.socket" : "pipewire &"
        )
    }

    private var sessionManagerFinding: Finding {
        let name = "wireplumber"
        // A program that runs may belong to another session.
        guard pipeWireFinding.outcome == .good else {
            return .unknown(name, "cannot be checked without PipeWire")
        }
        let managers = ["wireplumber", "pipewire-media-session"]
        if let (program, process) = runningProgram(managers) {
            let versions = loadedVersions(of: process).map { "; \($0)" } ?? ""
            return .good(name, "\(program) (\(process)) connects apps to cameras\(versions)")
        }
        return .bad(
            name,
            "no session manager runs, so apps get no camera",
            mendedBy: desktop.runsSystemd
                ? "systemctl --user enable --now wireplumber.service" : "wireplumber &"
        )
    }

    /// Returns the first of `names` that runs as this user, and its process.
    private func runningProgram(_ names: [String]) -> (String, String)? {
        for process in ownProcesses() {
            guard let name = content("/proc/\(process)/comm"),
                // The kernel keeps 15 bytes of a name.
                names.contains(where: { $0.utf8.prefix(15).elementsEqual(name.utf8) })
            else { continue }
            return (name, process)
        }
        return nil
    }

    /// Returns for example "PipeWire 0.3.65, WirePlumber 0.4.13", from the files of the libraries
    /// that a process has mapped, or `nil` if they do not show a version.
    private func loadedVersions(of process: String) -> String? {
        let maps = wholeText(of: "/proc/\(process)/maps").split(separator: "\n")
        var texts: [String] = []
        // The version of the library is 0 and one number: 365 is 0.3.65, 1004 is 1.0.4.
        if let file = maps.first(where: { $0.contains("/libpipewire-0.3.so.0.") }),
            let number = file.split(separator: ".").dropLast().last.flatMap({ Int($0) })
        {
            texts.append("PipeWire \(number / 1000).\(number % 1000 / 100).\(number % 100)")
        }
        if let file = maps.first(where: { $0.contains("/libwireplumber-") }),
            let version = file.firstRange(of: ".so.").map({ file[$0.upperBound...] })
        {
            texts.append("WirePlumber \(version)")
        }
        return texts.isEmpty ? nil : texts.joined(separator: ", ")
    }

    // MARK: Hidden cameras

    /// The rules with which WirePlumber hides the cameras in use; `nil` if no WirePlumber is
    /// installed, or nobody says which cameras these are.
    var hidingRules: WirePlumberRules? {
        guard let form = WirePlumberRules.Form.installed() else { return nil }
        var rules = WirePlumberRules(form: form)
        for camera in camerasInUse {
            guard let match = WirePlumberRules.match(camera.id), !rules.devices.contains(match)
            else { continue }
            rules.devices.append(match)
        }
        let loopback: String? =
            switch loopbackDevice {
            case .none: nil
            case .auto: fedDevice
            case .path(let path): path
            }
        if let node = loopback?.split(separator: "/").last,
            let label = content("/sys/class/video4linux/\(node)/name"), !label.isEmpty,
            !"~!".contains(label.prefix(1))
        {
            rules.loopbacks = [label]
        }
        return rules.devices.isEmpty && rules.loopbacks.isEmpty ? nil : rules
    }

    /// The identities and names of the devices that the daemon uses as cameras.
    private var camerasInUse: [(id: String, name: String)] {
        ((try? stream.get())?[\.devices] ?? []).compactMap { device in
            guard device["role"]?.string?.isEmpty == false, let id = device["id"]?.string else {
                return nil
            }
            return (id, device["name"]?.string ?? id)
        }
    }

    /// The cameras in use that cannot be hidden, as a part of a sentence; `nil` if all can be.
    var unhidableCameras: String? {
        let names = camerasInUse.filter { WirePlumberRules.match($0.id) == nil }.map(\.name)
        return names.isEmpty ? nil : names.joined(separator: " and ")
    }

    /// The reason why no camera can be hidden; `nil` if some can be.
    var hidingObstacle: String? {
        guard hidingRules == nil else { return nil }
        guard WirePlumberRules.Form.installed() != nil else {
            return "WirePlumber is not installed, so no rule hides a camera"
        }
        if case .failure(let failure) = stream {
            return "it is not known which cameras are in use: \(failure.message)"
        }
        return unhidableCameras.map { "WirePlumber has no permanent name for \($0)" }
            ?? "no camera is in use"
    }

    /// `true` if the user wants the cameras in use hidden; `nil` if the configuration, for its
    /// mistakes, does not say.
    var hidesCameras: Bool? {
        guard let reading = try? configuration.get(), reading.errors.isEmpty else { return nil }
        return reading.configuration.desktop.hidesCameras
    }

    /// The paths of the rules that doctor wrote, for whichever WirePlumber.
    var hidingRulesOfOurs: [String] {
        [WirePlumberRules.Form.lua, .json]
            .map { "\(desktop.configurationFolder)/wireplumber/\(WirePlumberRules(form: $0).file)" }
            .filter { wholeText(of: $0).contains(WirePlumberRules.signature) }
    }

    /// Checks if apps list the cameras in use besides DualCam, and if that is what the user wants.
    private var hidingFinding: Finding {
        let name = "hide-cameras"
        let fix = "dualcamctl doctor --fix hide-cameras"
        let (folder, installed) = (desktop.configurationFolder, WirePlumberRules.Form.installed())
        if hidesCameras == false, let path = hidingRulesOfOurs.first {
            let text = "\(path) hides cameras, but hide-cameras is false in your configuration"
            return .bad(name, text, mendedBy: fix)
        }
        guard let path = WirePlumberRules.written(in: folder, installed: installed) else {
            guard hidesCameras != true else { return missingRules(name, fix) }
            return .good(
                name,
                "apps may list the cameras that DualCam uses, too; --fix hide-cameras hides them"
            )
        }
        guard hidesCameras != false else {
            return .good(name, "\(path) was not written by DualCam, and stays as it is")
        }
        if let rules = hidingRules,
            path != "\(folder)/wireplumber/\(rules.file)" || wholeText(of: path) != rules.text
        {
            return .bad(name, "\(path) hides other cameras than those in use", mendedBy: fix)
        }
        if case .failure = stream {
            return .unknown(name, "\(path) hides cameras; which ones are in use is not known")
        }
        return .good(
            name,
            "apps that use PipeWire do not list the cameras that DualCam uses"
                + (unhidableCameras.map { ", except \($0)" } ?? "")
        )
    }

    /// The finding where the user wants cameras hidden, and no rules are there.
    private func missingRules(_ name: String, _ fix: String) -> Finding {
        let wish = "hide-cameras is true in your configuration"
        guard let obstacle = hidingObstacle else {
            return .bad(name, "\(wish), but apps list the cameras that DualCam uses", mendedBy: fix)
        }
        if case .failure = stream {
            return .unknown(name, "\(wish); which cameras are in use is not known")
        }
        guard WirePlumberRules.Form.installed() == nil || !camerasInUse.isEmpty else {
            return .good(name, "\(wish), and no camera is in use")
        }
        return .bad(name, "\(wish), but \(obstacle)")
    }

    // MARK: The daemon

    private var daemonFinding: Finding {
        let name = "daemon"
        switch stream {
        case .success(let stream):
            let version = stream[\.version] ?? ""
            guard version == DualCam.version else {
                return .bad(
                    name,
                    "dualcamd \(version) is running, but \(DualCam.version) is installed",
                    mendedBy: desktop.runsSystemd
                        ? "systemctl --user restart dualcamd"
                        : "pkill -x dualcamd; dualcamctl start"
                )
            }
            return .good(name, "dualcamd \(version) answers on the session bus")
        case .failure(let failure):
            return .bad(name, failure.message, mendedBy: start(after: failure))
        }
    }

    /// Returns the command that has the daemon answer, which has failed to.
    private func start(after failure: Failure) -> String {
        guard hasSessionBus else {
            return desktop.runsSystemd
                ? "systemctl --user start dbus.socket" : "exec dbus-run-session \"$SHELL\""
        }
        guard failure.status != .timedOut else {
            return desktop.runsSystemd
                ? "systemctl --user restart dualcamd"
                : "pkill -KILL -x dualcamd; dualcamctl start"
        }
        return desktop.runsSystemd
            ? "systemctl --user enable --now dualcamd" : "dualcamctl start"
    }

    /// The name of the camera that apps see; `nil` if there is none.
    var cameraName: String? {
        guard hasNode else { return nil }
        return ((try? configuration.get().configuration) ?? Configuration()).output.description
    }

    private var hasNode: Bool { (try? stream.get())?[\.active] ?? false }

    private var nodeFinding: Finding {
        let name = "node"
        guard let stream = try? stream.get() else {
            return .unknown(name, "there is none while dualcamd does not answer")
        }
        if hasNode, let node = stream[\.nodeID] {
            return .good(name, "apps see the camera as PipeWire node \(node)")
        }
        if stream[\.state] == "stopped" {
            return .bad(name, "the stream was stopped", mendedBy: "dualcamctl start")
        }
        return pipeWireFinding.outcome == .good
            ? .bad(name, problems.first(where: Self.isOfNode) ?? "the stream is not on PipeWire")
            : .unknown(name, "there is none without PipeWire")
    }

    private static func isOfNode(_ problem: String) -> Bool {
        problem.hasPrefix("The stream is not on PipeWire")
    }

    /// The problems that the daemon reports, one sentence each.
    private var problems: [String] {
        (try? stream.get())?[\.problems] ?? []
    }

    /// The problems reported by the daemon that no other finding covers.
    private var problemsFinding: Finding {
        let name = "stream"
        guard (try? stream.get()) != nil else {
            return .unknown(name, "there is none while dualcamd does not answer")
        }
        let reading = try? configuration.get()
        var reported = (reading?.warnings ?? []).map(\.description.sentence)
        reported += (reading?.errors ?? []).map(\.description.sentence)
        if camerasFindings.contains(where: { $0.outcome == .bad }) {
            reported.append("There is no camera.")
        }
        let others = problems.filter {
            !reported.contains($0.sentence) && !Self.isOfNode($0) && !Self.isOfLoopback($0)
                && !isOfAbsence($0)
        }
        return others.isEmpty
            ? .good(name, "dualcamd reports no \(problems.isEmpty ? "" : "other ")problem")
            : .bad(name, others.joined(separator: " "))
    }
}

extension Checkup {
    /// `true` if `problem` is what the daemon says of a camera whose source is a finding.
    private func isOfAbsence(_ problem: String) -> Bool {
        problem.contains("was not found")
            && absences.contains {
                $0.lens == nil && problem.hasPrefix("The \($0.role.rawValue) camera ")
            }
    }
}

extension String {
    /// The text as one word of a shell's command line.
    var quotedForShell: String {
        let isPlain = utf8.allSatisfy {
            switch $0 {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "/"), UInt8(ascii: "."),
                UInt8(ascii: "-"), UInt8(ascii: "_"):
                true
            default: false
            }
        }
        guard !isPlain || isEmpty else { return self }
        return "'"
            + split(separator: "'", omittingEmptySubsequences: false)
            .joined(separator: "'\\''") + "'"
    }
}
