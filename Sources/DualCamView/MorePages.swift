import Control
import DBusKit
import DualCamCore
import Frames
import GTK
import Glibc
import Platform
import ViewCore

// The pages of which nearly all is one row each.

extension PreferenceRows {
    var recordingPage: PreferencesPage {
        let files = [
            folderRow("Photographs", "capture.photo-directory", .pictures),
            folderRow("Recordings", "capture.video-directory", .videos),
            row("Format", .key("capture.format"), names: ["MKV", "MP4"]),
        ]
        let what = [
            row(
                "Also each camera by itself",
                .key("capture.record-cameras"),
                words: "In files of their own"
            ),
            row(
                "Live photographs",
                .property(\CaptureInterface.livePhoto),
                words: "A short movie with each photo"
            ),
            row("Mirror photos", .key("capture.mirror-photos"), words: "As in the stream"),
            row("Allow swapping while recording", .key("capture.allow-swap-while-recording")),
            row(
                "Recording mark in the stream",
                .key("scene.record-mark"),
                words: "So that everyone knows"
            ),
        ]
        let sound = [row("Record sound", .key("capture.audio")), microphoneRow]
        let groups = [("Files", files), ("What is recorded", what), ("Sound", sound)]
        return PreferencesPage(
            "Recording",
            icon: icon("record"),
            groups.map { PreferencesGroup($0, $1) }
        )
    }

    private var microphoneRow: GTK.Row {
        choice("Microphone", .key("capture.microphone")) { [unowned self] in
            [(.text(""), "System default")] + owner.microphones.map { (.text($0.name), $0.title) }
        }
    }

    private func folderRow(_ title: String, _ key: String, _ usual: UserDirectory) -> GTK.Row {
        let open = Button("Show in Files").named("Show \(title) in Files")
        let choose = Button(icon: icon("folder"), "Choose the Folder of \(title)")
        let row = GTK.Row(title, "", after: [open, choose])
        var folder = ""
        bind(choose, .key(key)) { [unowned row] value in
            let configured = value.string.flatMap { $0.isEmpty ? nil : $0 }
            folder = usual.place(configured: configured) ?? ""
            let home = environmentVariable("HOME").map { "\($0)/" } ?? ""
            row.words = folder.hasPrefix(home) ? String(folder.dropFirst(home.count)) : folder
        }
        choose.onClick { [unowned self] in
            window?.choose(title, isFolder: true) { [weak self] in
                self?.set(.key(key), .string($0))
            }
        }
        open.onClick { [unowned self] in
            // Before the first picture there is none.
            try? makeDirectory(folder)
            owner.application.open(file: folder) { [weak self] in
                self?.toast.show("No app here can show folders")
            }
        }
        return row
    }

    // MARK: General

    var generalPage: PreferencesPage {
        let sizes = ["640 × 360", "1280 × 720", "1920 × 1080", "2560 × 1440", "3840 × 2160"]
        let rates = [15, 24, 25, 30, 50, 60]
        let stream = [
            // A mark keeps the width on the left where people read from the right.
            choice("Size", size) { sizes.map { (.text($0), "\u{200e}\($0)") } },
            choice("Frames per second", .key("output.frame-rate")) {
                rates.map { (.int($0), "\($0)") }
            },
            row("Close the cameras when the screen locks", .key("desktop.close-at-lock")),
        ]
        let stop = Button("")
        let reset = Button("Reset Everything…").style("destructive-action")
        stop.onClick { [unowned self] in
            let isActive = daemon?[\StreamInterface.active] ?? false
            let method = isActive ? \StreamInterface.stop : \StreamInterface.start
            daemon?.call(method, ()) { [weak self] in self?.done($0.error) }
        }
        reset.onClick { [unowned self] in askToReset() }
        bind { [unowned self, unowned stop, unowned reset] in
            let isActive = daemon?[\StreamInterface.active] ?? false
            stop.label = isActive ? "Stop the Stream" : "Start the Stream"
            for button in [stop, reset] { button.isSensitive = isPresent }
        }
        let groups: [(String, [Widget])] = [
            ("Stream", stream), ("Window", windowRows), ("Help", helpRows),
            ("", [Box(spacing: 8, [stop, reset])]),
        ]
        return PreferencesPage(
            "General",
            icon: icon("general"),
            groups.map { PreferencesGroup($0, $1) }
        )
    }

    /// The size of the stream, "1280 × 720": two keys that change together.
    private var size: ValuePlace {
        ValuePlace("size") { daemon in
            let numbers = [daemon[\StreamInterface.width], daemon[\StreamInterface.height]]
            return .string(numbers.map { "\($0 ?? 0)" }.joined(separator: " × "))
        } set: { daemon, value, done in
            let numbers = (value.string ?? "").split(separator: " × ").compactMap { UInt32($0) }
            let names = ["output.width", "output.height"]
            let values = zip(names, numbers).map { ($0, Value.uint32($1)) }
            let both = Dictionary(uniqueKeysWithValues: values)
            daemon.call(\ConfigurationInterface.set, both) { done($0.error) }
        }
    }

    private var windowRows: [GTK.Row] {
        let opening = SwitchRow("Start at login")
        let tray = SwitchRow("Icon in the panel", "From the next login on")
        for (row, entry) in [(opening, Autostart.window), (tray, Autostart.tray)] {
            row.isOn = entry?.isOn ?? false
            row.onToggle { [unowned self, unowned row] isOn in
                do throws(SystemError) { try entry?.set(isOn) } catch {
                    toast.show("\(error)")
                    row.isOn = !isOn
                }
            }
        }
        let ticks = SwitchRow("Sound of dials")
        ticks.isOn = owner.settings.settings.hasSoundOfTicks
        ticks.onToggle { [unowned self] isOn in
            owner.settings.settings.hasSoundOfTicks = isOn
            owner.feedback?.hasSound = isOn
        }
        return [opening, tray, ticks, keysRow]
    }

    private var keysRow: GTK.Row {
        let choose = Button("")
        let row = GTK.Row("Keys in other programs", "", after: [choose])
        bind { [unowned self, unowned row, unowned choose] in
            (row.words, choose.label) =
                switch owner.keys?.state {
                case .on(let shown)?:
                    (
                        shown.isEmpty ? "No key was chosen" : shown.joined(separator: "\n"),
                        "Turn Off"
                    )
                case .off?: ("Swap, privacy, photo, record, next scene", "Choose Keys…")
                case .refused?: ("The desktop did not allow it", "Try Again")
                case .impossible?, .unknown?, nil:
                    ("The desktop’s own settings can give DualCam keys", "Examples")
                }
        }
        choose.onClick { [unowned self] in pressKeys() }
        owner.keys?.onChange = { [weak self] in self?.follow() }
        return row
    }

    private func pressKeys() {
        switch owner.keys?.state {
        case .impossible?, .unknown?, nil:
            owner.application.open("file:///usr/share/doc/dualcam/examples") { [weak self] in
                self?.toast.show("The examples are not installed")
            }
        case .on?:
            owner.settings.settings.hasGlobalKeys = false
            owner.keys?.end()
        case .off?, .refused?:
            owner.settings.settings.hasGlobalKeys = true
            owner.keys?.bind()
        }
    }

    private var helpRows: [GTK.Row] {
        let all: [(String, (PreferenceRows) -> Void)] = [
            ("Keyboard Shortcuts", { $0.owner.show(KeysWindow.init) }),
            ("Report a Problem…", { $0.owner.show(ReportWindow.init) }),
            ("Set Up Again…", { $0.owner.show(SetUpWindow.init) }),
            ("About DualCam", { $0.window?.showAbout(version: DualCam.version) }),
        ]
        return all.map { title, act in
            let row = GTK.Row(title)
            row.onClick { [unowned self] in act(self) }
            return row
        }
    }

    private func askToReset() {
        window?.ask(
            "Reset everything?",
            """
            All settings of the picture, the cameras and recordings return to their defaults. \
            Your choice of cameras, scenes and files stays.
            """,
            ["Cancel", "Reset"],
            isDestructive: true
        ) { [weak self] answer in
            guard answer == 1, let self, let daemon else { return }
            let present = daemon[\ConfigurationInterface.values] ?? [:]
            let differing = Configuration().plain.filter { key, value in
                !Self.kept.contains(where: key.hasSuffix) && present[key].map(Plain.init) != value
            }
            let values = Dictionary(
                uniqueKeysWithValues: differing.map { ($0.key, Value($0.value)) }
            )
            daemon.call(\ConfigurationInterface.set, values) { [weak self] answer in
                guard answer.error == nil else { return self?.done(answer.error) ?? () }
                daemon.call(\StreamInterface.reset, ()) { self?.done($0.error) }
            }
        }
    }

    /// The keys that choose cameras, and what others have made for DualCam.
    private static let kept = [".source", ".credentials", "loopback.device", "hide-cameras"]
}
