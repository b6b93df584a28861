import Control
import DBusKit
import DualCamCore
import Frames
import GTK
import ViewCore

extension PictureWindow {
    func perform(_ command: ViewCore.Command) {
        switch command {
        case .swap: call(\SceneInterface.swap)
        case .reset: call(\SceneInterface.reset)
        case .nextLayout: step(\SceneInterface.layout, "next")
        case .scene(let number): applyScene(number)
        case .nextScene: call(\ScenesInterface.next)
        case .saveScene:
            saveScene(over: window) { [weak self] name, error in
                if error == nil { self?.toast.show("Saved “\(name)”") }
                self?.report(error)
            }
        case .title: editTitle()
        case .toggleOther: toggle(\SceneInterface.insetVisible)
        case .photo: takePhoto()
        case .record: record()
        case .selfTimer(let seconds):
            delay = seconds
            follow()
        case .togglePro: toggle(\ProInterface.enabled)
        case .dial(let dial): pro.choose(dial)
        case .step(let steps): if pro.isOpen { pro.step(steps) }
        case .togglePrivacy: toggle(\PrivacyInterface.enabled)
        case .toggleTorch:
            if let main = mainFirst.first { toggle(\CameraInterface.torch, at: main) }
        case .toggleMirror:
            if let main = mainFirst.first { toggle(\CameraInterface.mirror, at: main) }
        case .toggleMicrophone:
            recordsSound.toggle()
            followMenu()
            toast.show(recordsSound ? "Recordings have sound" : "Recordings are silent")
        case .togglePictures:
            strip.isOpen.toggle()
            showControls()
        case .straighten:
            guard let main = mainFirst.first.flatMap({ Role($0) }) else { break }
            page.open(main)
            showControls(false)
        case .toggleFullscreen: window.isFullscreen.toggle()
        case .moveInset(let x, let y): moveInset(x: x, y: y)
        case .resizeInset(let steps): resizeInset(by: steps)
        case .resize(let steps): placement?.resize(by: steps)
        case .menu: menu?.show(at: opener(bar.openers.more))
        case .layouts: menu?.showLayouts(at: opener(bar.openers.layout))
        case .stop: call(\StreamInterface.stop)
        case .help: show(KeysWindow.init)
        case .about: window.showAbout(version: DualCam.version)
        case .preferences: show(PreferencesWindow.init)
        case .leave: leave()
        case .close: window.close()
        }
    }

    /// The place of a control that opens something; while it is not there, the bottom.
    private func opener(_ control: Widget) -> Rect {
        let size = stage.size
        let isThere = bar.isRevealed && control.isMapped
        let place =
            isThere
            ? control.place(in: stage)
            : Rect(x: Double(size.width) / 2, y: Double(size.height) - 20, width: 1, height: 1)
        return placement?.onScreen(place) ?? place
    }

    private func applyScene(_ number: Int) {
        guard let daemon, daemon.isPresent == true else { return }
        let names = daemon[\ScenesInterface.names] ?? []
        guard names.indices.contains(number - 1) else {
            return toast.show("There is no scene \(number).")
        }
        apply(names[number - 1])
    }

    /// Asks over `window` for a name for what is shown, and saves it as a scene. `done` gets the
    /// name, and what went wrong.
    func saveScene(over window: Window?, _ done: @escaping (String, DBusError?) -> Void) {
        guard let daemon, daemon.isPresent == true else { return }
        let names = Set(daemon[\ScenesInterface.names] ?? [])
        let shown = Picture()
        shown.request(width: 102, height: 58)
        shown.show(newest?.texture(of: .unit))
        window?.askName(
            "Save this picture as a scene",
            (1...).lazy.map { "Scene \($0)" }.first { !names.contains($0) } ?? "",
            answer: "Save",
            beside: shown.style("choice").clip()
        ) { name in
            daemon.call(\ScenesInterface.save, name) { done(name, $0.error) }
        }
    }

    private func editTitle() {
        guard let daemon, daemon.isPresent == true else { return }
        let lines = (daemon[\SceneInterface.title] ?? "").split(separator: "\n").map(String.init)
        let name = Entry(lines.first ?? "", "Name")
        let second = Entry(lines.dropFirst().first ?? "", "Second line")
        window.ask(
            "Title",
            "In a corner of the picture, for all who see it.",
            lines.isEmpty ? ["Cancel", "Show"] : ["Cancel", "Remove", "Show"],
            extra: Box(vertical: true, spacing: 8, [name, second])
        ) { [weak self] answer in
            guard let answer, answer > 0 else { return }
            let isRemoved = answer == 1 && !lines.isEmpty
            let words = [name.text, second.text].filter { !$0.isEmpty }.joined(separator: "\n")
            self?.set(\SceneInterface.title, to: isRemoved ? "" : words)
        }
    }

    func apply(_ name: String) {
        daemon?.call(\ScenesInterface.apply, name) { [weak self] answer in
            switch answer {
            case .success(let refused):
                self?.say("Scene \(name)")
                if let reason = refused.values.first?.string {
                    self?.toast.show("Part of “\(name)” could not be shown: \(reason)")
                }
            case .failure(let error): self?.report(error)
            }
        }
    }

    /// Leaves what is open, the innermost first.
    private func leave() {
        if count.isCounting {
            cancelSelfTimer()
        } else if page.isOpen {
            page.close()
        } else if window.isFullscreen {
            window.isFullscreen = false
        } else if strip.isOpen {
            strip.isOpen = false
        } else if hand.isCarrying {
            putBack()
        } else {
            showControls(false)
        }
    }

    func attachStrip() {
        strip.onCommand = { [unowned self] in perform($0) }
        strip.onTrouble = { [unowned self] in report($0) }
        strip.onOpen = { [unowned self] uri in
            application.open(uri) { [weak self] in self?.toast.show("No app here can open this") }
        }
        strip.onRemoval = { [unowned self] message, undo, finish in
            toast.show(message, button: "Undo", undo, dismissed: finish)
        }
    }

    func cancelSelfTimer() { call(\CaptureInterface.cancelSelfTimer) }

    private func takePhoto() {
        guard !count.isCounting else { return cancelSelfTimer() }
        var options = Options<CaptureInterface.Photo>()
        options.in = UInt32(delay)
        daemon?.call(
            \CaptureInterface.takePhoto,
            (),
            options: options,
            within: 30 + Double(delay)
        ) { [weak self] answer in
            guard let self else { return }
            switch answer {
            case .success(let photos):
                toast.show(photos.count == 1 ? "Photo saved" : "\(photos.count) photos saved")
            case .failure(let error): report(error)
            }
        }
    }

    private func record() {
        guard let daemon else { return }
        guard !count.isCounting else { return cancelSelfTimer() }
        if daemon[\CaptureInterface.recording] == true {
            daemon.call(\CaptureInterface.stopRecording, (), within: 60) { [weak self] answer in
                switch answer {
                case .success(let files):
                    let reason = files.lazy.compactMap { $0["reason"]?.string?.sentence }.first
                    self?.toast.show(reason ?? "Recording saved", button: "Show") {
                        if self?.strip.isOpen == false { self?.perform(.togglePictures) }
                    }
                case .failure(let error): self?.report(error)
                }
            }
        } else {
            var options = Options<CaptureInterface.Recording>()
            if !recordsSound { options.audio = false }
            options.in = UInt32(delay)
            daemon.call(
                \CaptureInterface.startRecording,
                (),
                options: options,
                within: 25 + Double(delay)
            ) { [weak self] in self?.report($0.error) }
        }
    }

    private func call<Members: InterfaceMembers, Known, Results>(
        _ method: KeyPath<Members, MethodMember<Void, Known, Results>>
    ) {
        daemon?.call(method, ()) { [weak self] in self?.report($0.error) }
    }

    func set<Members: InterfaceMembers, Content>(
        _ property: KeyPath<Members, PropertyMember<Content>>,
        at path: ObjectPath = DualCam.path,
        to value: Content
    ) {
        daemon?.set(property, at: path, to: value) { [weak self] error in
            guard let self, let error else { return }
            report(error)
            // What was turned shows again what is.
            bar.follow(isPresent: daemon?.isPresent == true, delay: delay)
            followMenu()
        }
    }

    private func toggle<Members: InterfaceMembers>(
        _ property: KeyPath<Members, PropertyMember<Bool>>,
        at path: ObjectPath = DualCam.path
    ) {
        step(property, "toggle", at: path)
    }

    /// Changes a property in the daemon from what it is, which the window may not know yet.
    private func step<Members: InterfaceMembers, Content>(
        _ property: KeyPath<Members, PropertyMember<Content>>,
        _ change: String,
        at path: ObjectPath = DualCam.path
    ) {
        guard let daemon, daemon.isPresent == true else { return }
        let name = Members.members[keyPath: property].name
        let step = (Members.name, name, Variant(.string(change)))
        daemon.call(\StepsInterface.step, at: path, step) { [weak self] in
            self?.report($0.error)
        }
    }
}
