import Control
import DBusKit
package import DualCamCore
import Frames
import Glibc
import Platform

/// Checks all that the camera needs, from the devices up to the stream. Each check is a property of
/// its own; a new one is added to `findings`.
package struct Checkup {
    private let cameras = AttachedCamera.all()
    /// The checks of all between the stream and the apps.
    package let desktop = DesktopCheckup()
    private let client: Client?
    /// The properties of the stream, or the reason why the daemon does not give them.
    private let answer: Result<PropertyValues<StreamInterface>, Failure>
    private let configuration: Result<ConfigurationReading, Failure>
    /// The sources in the configuration that are not there.
    private let absences: [SourceCheck.Absence]

    package init() {
        let bus = Result { () throws(Failure) in try Client() }
        client = try? bus.get()
        answer = bus.flatMap { client in
            Result { () throws(Failure) in
                try client.getAll(of: StreamInterface.self, startsService: false)
            }
        }
        let named = (try? answer.get())?[\.configurationFile]
        configuration = Result { () throws(Failure) in
            try ConfigurationReading(named.flatMap { $0.isEmpty ? nil : $0 })
        }
        absences = (try? configuration.get().configuration).map(SourceCheck.absences) ?? []
    }

    private var stream: PropertyValues<StreamInterface>? { try? answer.get() }

    private var reading: ConfigurationReading? { try? configuration.get() }

    /// The settings in force; those of the file as far as it can be read.
    private var settings: Configuration { reading?.configuration ?? Configuration() }

    /// Returns the findings in the order of their dependencies: each problem is in one of them.
    package func findings() -> [Finding] {
        let system = [
            ("configuration", [configurationFinding]), ("cameras", camerasFindings),
            ("device", (stream?[\.devices] ?? []).map { .good(Self.line(of: $0)) }),
            ("mirror", mirrorFindings), ("permissions", [permissionsFinding]),
            ("in-use", [holdersFinding]), ("usb", [bandwidthFinding]),
            ("pipewire", [pipeWireFinding]), ("wireplumber", [sessionManagerFinding]),
            ("unit", [desktop.unitFinding]), ("daemon", [daemonFinding]), ("node", [nodeFinding]),
            ("portal", [desktop.portalFinding(hasNode: hasNode)]),
            ("refusals", [desktop.refusalFinding]), ("access", [desktop.accessFinding]),
        ]
        let rest = [
            ("hide-cameras", hidingFinding), ("loopback", loopbackFinding),
            ("stream", problemsFinding),
        ]
        let phones = PhoneCheck.findings(client, settings).map { $0.named("phone") }
        return system.flatMap { name, findings in findings.map { $0.named(name) } }
            + desktop.browserFindings() + phones + rest.map { $1.named($0) }
    }

    // MARK: Configuration

    private var configurationFinding: Finding {
        if case .failure(let failure) = configuration { return .bad(failure.message) }
        guard let reading, let path = reading.path else {
            return .good("there is no file; every value is the default")
        }
        let mistakes =
            reading.errors.map { ("\($0)", $0.line) } + reading.warnings.map { ("\($0)", $0.line) }
        return mistakes.first.map { .bad($0, edit(path, at: $1)) } ?? .good("\(path) is valid")
    }

    private func edit(_ path: String, at line: Int? = nil) -> String {
        "${EDITOR:-editor} \(line.map { "+\($0) " } ?? "")\(path.quotedForShell)"
    }

    // MARK: Devices

    /// A finding for each source that is not there, or else one on all cameras.
    private var camerasFindings: [Finding] {
        let missing = absences.map { absence -> Finding in
            // The device of a lens is chosen in the file alone.
            let path = absence.lens == nil ? nil : reading?.path
            let command = path.map { edit($0) } ?? "dualcamctl use \(absence.role.rawValue) auto"
            return .bad(absence.text, command)
        }
        return missing.isEmpty ? [attachedFinding] : missing
    }

    private var attachedFinding: Finding {
        guard cameras.isEmpty else {
            return .good(cameras.map(\.description).joined(separator: ", "))
        }
        let role = Role.allCases.first {
            switch settings.cameras[$0].source {
            case .auto, .v4l2: true
            default: false
            }
        }
        guard let role else {
            return .good("none is attached, and the configuration asks for none")
        }
        return AttachedCamera.isWaitingForDriver()
            ? .bad(
                "a USB camera is attached, but its driver is not loaded",
                "sudo modprobe uvcvideo"
            )
            : .bad(
                "none is attached; plug one in, or try a test picture",
                "dualcamctl use \(role.rawValue) test"
            )
    }

    /// Returns "Desk Cam (/dev/video0): infrared camera" of a device as the daemon lists it.
    private static func line(of device: [String: Value]) -> String {
        func text(_ key: String) -> String { device[key]?.string?.printable ?? "" }
        let place = text("path").isEmpty ? text("id") : text("path")
        return "\(text("name")) (\(place)): \(text("reason"))"
    }

    private func property<Content>(
        _ property: KeyPath<CameraInterface, PropertyMember<Content>>,
        of role: Role
    ) -> Content? { try? client?.get(property, at: role.path, startsService: false) }

    /// The cameras whose pictures are mirrored; `nil` if the daemon does not say.
    package var mirrored: [Role]? {
        stream == nil ? nil : Role.allCases.filter { property(\.mirror, of: $0) ?? false }
    }

    /// Tells if writing reads backwards, which is no problem where a face is shown.
    private var mirrorFindings: [Finding] {
        guard let mirrored else { return [] }
        guard let first = mirrored.first else {
            return [.good("no camera is mirrored, so writing reads the right way round")]
        }
        let cameras = mirrored.count > 1 ? "both cameras are" : "the \(first.rawValue) camera is"
        let rest = "mirrored, so others see writing backwards; --fix mirror turns it off"
        return [.good("\(cameras) \(rest)")]
    }

    private var permissionsFinding: Finding {
        let denied = cameras.filter { !$0.mayBeOpened }.map(\.path)
        guard let first = denied.first else {
            return .good(cameras.isEmpty ? "nothing to open" : "the cameras may be opened")
        }
        return Self.denied(
            denied.joined(separator: ", "),
            seat: SeatAccess.current,
            group: AttachedCamera.group(of: first)
        )
    }

    /// Returns the finding that this user may not open the cameras at `paths`, and what gives
    /// access. Who is at the seat has it from udev. A group, here `group`, goes around that: its
    /// members may look through the cameras while others sit there.
    static func denied(_ paths: String, seat: SeatAccess, group: String) -> Finding {
        let what = "\(paths) may not be opened"
        return switch seat {
        case .active:
            .bad(
                "\(what), although you are logged in at this computer's screen",
                "sudo udevadm trigger --subsystem-match=video4linux"
            )
        case .inactive: .bad("\(what) while the screen shows another session; switch to yours")
        case .elsewhere:
            .bad("\(what), because you are not logged in at this computer's screen; log in there")
        case .none:
            .bad(
                "\(what), and this computer has no seat (loginctl list-seats); members of the "
                    + "group \(group) may, from their next login on",
                "sudo usermod -aG \(group) \"$USER\""
            )
        }
    }

    private var holdersFinding: Finding {
        guard !cameras.isEmpty else { return .good("no camera is attached") }
        // These may have a camera open without being in the way.
        let ours = ["dualcamd", "pipewire", "wireplumber"]
        for camera in cameras {
            guard let holder = holders(of: camera.path).first(where: { !ours.contains($0.name) })
            else { continue }
            return .bad("\(camera) is in use by \(holder)", "kill \(holder.process)")
        }
        return .good("no other program of yours has a camera open")
    }

    private var bandwidthFinding: Finding {
        for camera in cameras {
            let sharing = cameras.filter { $0.bus == camera.bus }
            guard let bus = camera.bus, bus.megabits <= 480, sharing.count > 1 else { continue }
            let paths = sharing.map(\.path).joined(separator: " and ")
            let text = "\(paths) share USB bus \(bus.number) (\(bus.megabits) Mb/s)"
            let isShort = Role.allCases.contains { property(\.interruption, of: $0) == "bandwidth" }
            return isShort
                ? .bad("\(text): plug \(camera.name) in elsewhere, or make both send MJPG")
                : .good("\(text), which is enough for them")
        }
        return .good("no two cameras share a slow bus")
    }

    // MARK: Loopback

    var loopbackDevice: Configuration.LoopbackDevice { settings.loopback }

    /// The path of the configuration file in use; `nil` if there is none.
    var configurationPath: String? { reading?.path }

    /// The loopback device that the daemon feeds; `nil` without one, or without a daemon.
    private var fedDevice: String? {
        stream?[\.loopbackDevice].flatMap { $0.isEmpty ? nil : $0 }
    }

    /// The check of the device on which V4L2 programs find the stream.
    private var loopbackFinding: Finding {
        let devices = LoopbackModule.devices()
        let path: String?
        switch loopbackDevice {
        case .none:
            return .good(
                "none is configured; --fix loopback sets one up, for apps that need a V4L2 camera"
            )
        case .auto: path = fedDevice ?? devices.first
        case .path(let configured): path = isThere(configured) ? configured : nil
        }
        guard let path else {
            return .bad(
                "there is no v4l2loopback device",
                "sudo apt install v4l2loopback-dkms && "
                    + "sudo modprobe v4l2loopback exclusive_caps=1 card_label=DualCam"
            )
        }
        guard devices.contains(path) else {
            let others = devices.isEmpty ? "" : "; \(devices.joined(separator: ", ")) is"
            return .bad("\(path) is not a v4l2loopback device\(others)")
        }
        guard access(path, R_OK | W_OK) == 0 else {
            let group = AttachedCamera.group(of: path)
            return Self.denied(path, seat: SeatAccess.current, group: group)
        }
        // The daemon has tried to use the device, and knows more.
        return problems.first { $0.hasPrefix(Self.loopbackProblem) }.map { .bad($0) }
            ?? .good("the stream is copied to \(path) while a program reads it")
    }

    // MARK: PipeWire

    private var pipeWireFinding: Finding {
        guard let socket = pipeWireSocketPath() else {
            return .bad(
                "there is no runtime directory: XDG_RUNTIME_DIR is not set",
                "export XDG_RUNTIME_DIR=/run/user/$(id -u)"
            )
        }
        if accepts(socket) { return .good("it answers at \(socket)") }
        return .bad(
            "nothing answers at \(socket)",
            systemctl("enable --now pipewire.socket", or: "pipewire &")
        )
    }

    private var sessionManagerFinding: Finding {
        // A program that runs may belong to another session.
        guard pipeWireFinding.outcome == .good else {
            return .unknown("cannot be checked without PipeWire")
        }
        for process in ownProcesses() {
            // The kernel keeps 15 bytes of a name.
            guard let name = content("/proc/\(process)/comm"),
                ["wireplumber", "pipewire-media-session"].contains(where: {
                    $0.utf8.prefix(15).elementsEqual(name.utf8)
                }), isOfThisSession(process)
            else { continue }
            let versions = loadedVersions(of: process).joined(separator: ", ")
            return .good(
                "\(name) (\(process)) connects apps to cameras"
                    + (versions.isEmpty ? "" : "; \(versions)")
            )
        }
        return .bad(
            "no session manager runs, so apps get no camera",
            systemctl("enable --now wireplumber.service", or: "wireplumber &")
        )
    }

    /// Returns `true` if `process` has its PipeWire where this one has it: a user may have several.
    private func isOfThisSession(_ process: String) -> Bool {
        let variables = wholeText(of: "/proc/\(process)/environ").split(separator: "\0")
        return ["PIPEWIRE_RUNTIME_DIR", "XDG_RUNTIME_DIR"].contains { name in
            environmentVariable(name).map { variables.contains("\(name)=\($0)") } ?? false
        }
    }

    /// Returns for example "PipeWire 0.3.65" and "WirePlumber 0.4.13", from the files of the
    /// libraries that a process has mapped, as far as they show a version.
    private func loadedVersions(of process: String) -> [String] {
        let maps = wholeText(of: "/proc/\(process)/maps")
        // The version of PipeWire's library is 0 and one number: 365 is 0.3.65, 1004 is 1.0.4.
        let pipeWire = maps.firstMatch(of: /\/libpipewire-0\.3\.so\.0\.(\d{1,9})\./).flatMap {
            Int($0.1).map { "PipeWire \($0 / 1000).\($0 % 1000 / 100).\($0 % 100)" }
        }
        let manager = maps.firstMatch(of: /\/libwireplumber-[^\n]*?\.so\.([^\n]*)/).map {
            "WirePlumber \($0.1)"
        }
        return [pipeWire, manager].compactMap { $0 }
    }

    // MARK: Hidden cameras

    /// The identities and names of the devices that the daemon uses as cameras.
    private var camerasInUse: [(id: String, name: String)] {
        (stream?[\.devices] ?? []).compactMap { device in
            guard device["role"]?.string?.isEmpty == false, let id = device["id"]?.string else {
                return nil
            }
            return (id, device["name"]?.string ?? id)
        }
    }

    /// The rules with which WirePlumber hides the cameras in use; `nil` if no WirePlumber is
    /// installed, or it is not known which cameras these are.
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
        if let loopback,
            let label = content("/sys/class/video4linux/\(fileName(of: loopback))/name"),
            !label.isEmpty, !"~!".contains(label.prefix(1))
        {
            rules.loopbacks = [label]
        }
        return rules.devices.isEmpty && rules.loopbacks.isEmpty ? nil : rules
    }

    /// The cameras in use that cannot be hidden, as a part of a sentence; `nil` if all can be.
    var unhidableCameras: String? {
        let names = camerasInUse.filter { WirePlumberRules.match($0.id) == nil }.map(\.name)
        return names.isEmpty ? nil : names.joined(separator: " and ")
    }

    /// The reason why no camera can be hidden; `nil` if some can be.
    private var hidingObstacle: String? {
        guard hidingRules == nil else { return nil }
        guard WirePlumberRules.Form.installed() != nil else {
            return "WirePlumber is not installed, so no rule hides a camera"
        }
        if case .failure(let failure) = answer {
            return "it is not known which cameras are in use: \(failure.message)"
        }
        return unhidableCameras.map { "WirePlumber has no permanent name for \($0)" }
            ?? "no camera that apps list is in use"
    }

    /// Returns the reason why the fix `name` cannot be done; `nil` if none is known.
    package func obstacle(to name: String) -> String? {
        switch name {
        case "hide-cameras": hidingObstacle
        case "loopback": loopbackObstacle
        default: nil
        }
    }

    /// `true` if the user wants cameras hidden; `nil` if a faulty configuration does not say.
    var hidesCameras: Bool? {
        guard let reading, reading.errors.isEmpty else { return nil }
        return reading.configuration.hidesCameras
    }

    /// The paths of the rules that doctor wrote, for whichever WirePlumber.
    var hidingRulesOfOurs: [String] {
        WirePlumberRules.paths(in: desktop.configurationFolder)
            .filter { wholeText(of: $0).contains(WirePlumberRules.signature) }
    }

    /// Checks if apps list the cameras in use besides DualCam, and if that is what the user wants.
    private var hidingFinding: Finding {
        let fix = "dualcamctl doctor --fix hide-cameras"
        let wish = "hide-cameras is true in your configuration"
        let folder = desktop.configurationFolder
        let written = WirePlumberRules.written(in: folder, installed: .installed())
        switch (hidesCameras, written) {
        case (false, let path?):
            return hidingRulesOfOurs.first.map {
                .bad("\($0) hides cameras, but hide-cameras is false in your configuration", fix)
            } ?? .good("\(path) was not written by DualCam, and stays as it is")
        case (_, let path?):
            if let rules = hidingRules,
                path != "\(folder)/wireplumber/\(rules.file)" || wholeText(of: path) != rules.text
            {
                return .bad("\(path) hides other cameras than those in use", fix)
            }
            guard stream != nil else {
                return .unknown("\(path) hides cameras; which ones are in use is not known")
            }
            let exception = unhidableCameras.map { ", except \($0)" } ?? ""
            return .good(
                "apps that use PipeWire do not list the cameras that DualCam uses\(exception)"
            )
        case (true, nil):
            guard let obstacle = hidingObstacle else {
                return .bad("\(wish), but apps list the cameras that DualCam uses", fix)
            }
            guard stream != nil else {
                return .unknown("\(wish); which cameras are in use is not known")
            }
            return WirePlumberRules.Form.installed() != nil && camerasInUse.isEmpty
                ? .good("\(wish), and no camera is in use") : .bad("\(wish), but \(obstacle)")
        case (_, nil):
            return .good(
                "apps may list the cameras that DualCam uses, too; --fix hide-cameras hides them"
            )
        }
    }

    // MARK: The daemon

    private var daemonFinding: Finding {
        let failure: Failure
        switch answer {
        case .success(let stream):
            let version = stream[\.version] ?? ""
            return version == DualCam.version
                ? .good("dualcamd \(version) answers on the session bus")
                : .bad(
                    "dualcamd \(version) is running, but \(DualCam.version) is installed",
                    systemctl("restart dualcamd", or: "pkill -x dualcamd; dualcamctl start")
                )
        case .failure(let error): failure = error
        }
        let command =
            client == nil
            ? systemctl("start dbus.socket", or: "exec dbus-run-session \"$SHELL\"")
            : failure.status == .timedOut
                ? systemctl("restart dualcamd", or: "pkill -KILL -x dualcamd; dualcamctl start")
                : systemctl("enable --now dualcamd", or: "dualcamctl start")
        return .bad(failure.message, command)
    }

    /// The name of the camera that apps see; `nil` if there is none.
    package var cameraName: String? { hasNode ? settings.output.description : nil }

    private var hasNode: Bool { stream?[\.active] ?? false }

    private var nodeFinding: Finding {
        guard let stream else { return .unknown("there is none while dualcamd does not answer") }
        if hasNode, let node = stream[\.nodeID] {
            return .good("apps see the camera as PipeWire node \(node)")
        }
        if stream[\.state] == "stopped" {
            return .bad("the stream was stopped", "dualcamctl start")
        }
        guard pipeWireFinding.outcome == .good else {
            return .unknown("there is none without PipeWire")
        }
        let problem = problems.first { $0.hasPrefix(Self.nodeProblem) }
        return .bad(problem ?? "the stream is not on PipeWire")
    }

    private static let nodeProblem = "The stream is not on PipeWire"
    private static let loopbackProblem = "The stream is not on a loopback device"

    /// The problems that the daemon reports, one sentence each.
    private var problems: [String] { stream?[\.problems] ?? [] }

    /// The problems reported by the daemon that no other finding covers.
    private var problemsFinding: Finding {
        guard stream != nil else {
            return .unknown("there is none while dualcamd does not answer")
        }
        var reported = (reading?.warnings ?? []).map(\.description.sentence)
        reported += (reading?.errors ?? []).map(\.description.sentence)
        if camerasFindings.contains(where: { $0.outcome == .bad }) {
            reported.append("There is no camera.")
        }
        let others = problems.filter { problem in
            !reported.contains(problem.sentence) && !problem.hasPrefix(Self.nodeProblem)
                && !problem.hasPrefix(Self.loopbackProblem)
                && !absences.contains {
                    $0.lens == nil && problem.hasPrefix("The \($0.role.rawValue) camera ")
                        && problem.contains("was not found")
                }
        }
        return others.isEmpty
            ? .good("dualcamd reports no \(problems.isEmpty ? "" : "other ")problem")
            : .bad(others.joined(separator: " "))
    }
}

/// Returns the command of systemctl(1) for the user's units, or `other` where there is no systemd.
private func systemctl(_ words: String, or other: String) -> String {
    runsUsersSystemd ? "systemctl --user \(words)" : other
}

/// Returns `true` if a process accepts connections at the socket `path`.
private func accepts(_ path: String) -> Bool {
    let flags = SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue
    let number = socket(AF_UNIX, CInt(flags), 0)
    guard number >= 0 else { return false }
    let socket = Descriptor(owning: number)
    return withSocketAddress(path) { connect(socket.number, $0, $1) } == 0
}
