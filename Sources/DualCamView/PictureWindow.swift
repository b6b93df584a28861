import Control
import DBusKit
import DualCamCore
import Frames
import GTK
import Glibc
import Platform
import ViewCore

/// The window: the picture, and all that is over it.
///
/// - Context: bound to GTK's thread, as everything in this module that does not say otherwise.
final class PictureWindow {
    let window: Window
    let application: Application
    let stage: Overlay
    let toast = Toast()
    let daemon: DaemonMirror?
    let bar: ControlBar
    let pro: ProPanel
    let strip: PictureStrip
    let count = SelfTimerCount()
    let page: PageEditor
    /// The seconds of the self timer before what is asked for here; 0 for none.
    var delay = 0
    let settings = SettingsFile()
    let feedback: Feedback?
    private(set) var keys: GlobalKeys?
    private var others: [SideWindow] = []
    var hand = Hand()
    /// The inset while it is carried, with what was the stream's when it was picked up.
    let carrier = Carrier()
    var lifted: PictureAreas?
    /// `true` while Ctrl lets it go anywhere.
    var carriesFreely = false
    var placement: WindowPlacement?

    let picture = Picture()
    var pressed = (x: 0.0, y: 0.0)
    var isMovingWindow = false
    /// The requests of the hand that the daemon may not have answered yet.
    var wantedSize: Double?
    var wantedPlace: NormalizedPoint?
    var zooms: [ObjectPath: ZoomView] = [:]
    var isZooming = false
    var wishing: MainLoop.Timer?
    private let sway: SwayWindow?
    private let pictures: StreamPictures
    private let note = SituationNote()
    private let recording = RecordingPill()
    private let whole = Button(icon: icon("fullscreen"), "Fullscreen")
    private let discs: Revealer
    /// `true` while sound belongs to recordings that begin here.
    var recordsSound = true
    /// `true` while it is hidden, and a recording goes on.
    private var isAway = false
    /// `true` once it may be closed while a recording goes on.
    private var mayClose = false
    private var probing: MainLoop.Timer?
    /// Ends a daemon that was asked to end, and does not.
    private var restarting: MainLoop.Timer?
    private var knowledge = Knowledge()
    private var told: Announced?
    /// The reason that was told why a recording has no sound.
    private var toldSilence = ""
    private var request = StreamPictures.Request()
    private(set) var newest: Pixels?
    private(set) var microphones: [StreamPictures.Microphone] = [] {
        didSet { for other in others { other.follow() } }
    }
    private var direct: DirectPicture?
    /// `true` while what is shown was put past GTK.
    private var isDirect = false
    private var leaving: MainLoop.Timer?
    private var lastPaint = Timestamp.zero
    /// `true` while other windows cover all of it, as far as the window system tells.
    var isCovered = false { didSet { if isCovered != oldValue { coverChanged() } } }
    private var covering: MainLoop.Timer?
    private var isStale = false
    private(set) var menu: ViewMenu?

    /// The time without painting after which the window counts as unseen, in seconds: a covered
    /// window is no longer painted.
    private static let patience = 0.8
    /// The time after which the controls leave, in seconds.
    private static let controlsStay = 3.0

    /// Creates the window and shows it. `closed` is called when it is closed.
    ///
    /// - Throws: `SystemError` when out of descriptors or threads.
    init(
        _ application: Application,
        _ loop: EventLoop,
        closed: @escaping () -> Void
    ) throws(SystemError) {
        self.application = application
        sway = SwayWindow()
        let inbox = Inbox(loop.mailbox)
        pictures = try StreamPictures(
            came: { inbox.post { $0.showNewest() } },
            isConnected: { isThere in inbox.post { $0.know { $0.hasPipeWire = isThere } } },
            heard: { all in inbox.post { $0.microphones = all } }
        )
        let connection = try? BusConnection(loop: loop)
        daemon = connection.map { DaemonMirror($0) }
        stage = Overlay(picture.expand())
        stage.style("stage").clip()
        let close = Button(icon: icon("close"), "Close")
        for disc in [close, whole] { disc.keepsFocus() }
        discs = Revealer(Box(spacing: 8, [close.style("disc"), whole.style("disc")]), seconds: 0.2)
        feedback = connection.map { Feedback($0) }
        feedback?.hasSound = settings.settings.hasSoundOfTicks
        pro = ProPanel(daemon, feedback)
        bar = ControlBar(daemon, values: pro.values)
        strip = PictureStrip(daemon)
        page = PageEditor(daemon)
        let width = WindowPlacement.Remembered.load()?.width ?? 480
        window = Window(
            application,
            title: "DualCam",
            size: Size(width: width, height: width * 9 / 16),
            stage
        )
        window.belongs(to: self)
        inbox.owner = self
        close.onClick { [unowned self] in window.close() }
        whole.onClick { [unowned self] in perform(.toggleFullscreen) }
        build(closed)
        connection?.onDisconnect = { [weak self] in self?.know { $0.hasBus = false } }
        know { $0.hasBus = daemon != nil }
        // Answers that are awaited keep it alive after the window.
        daemon?.onChange = { [weak self] in self?.follow() }
        daemon?.onSignal = { [weak self] in self?.take($0) }
        if let connection {
            keys = GlobalKeys(connection, wants: settings.settings.hasGlobalKeys) {
                [weak self] in self?.perform($0)
            }
        }
        settings.onFailure = { [weak self] in self?.toast.show($0) }
        if let failure = settings.failure { toast.show(failure) }
        picture.grabFocus()
        if let sway { sway.keepAbove { [weak self] in self?.arrive() } } else { arrive() }
    }

    /// Shows the window that `make` makes, or the one of that kind that there is.
    func show<Kind: SideWindow>(_ make: (PictureWindow) -> Kind) {
        if let other = others.first(where: { $0 is Kind }) { return other.window.present() }
        others.append(make(self))
    }

    func forget(_ window: SideWindow) { others.removeAll { $0 === window } }

    func end() {
        daemon?.isEnding = true
        putBack()
        application.withdrawNotice()
        for other in others { other.window.close() }
        placement?.save()
        pro.takeHud(false)
        strip.finish()
        if knowledge.hasBus { daemon?.connection.flush() }
        menu?.end()
        pictures.end()
    }

    func present() {
        window.present()
        guard isAway else { return }
        isAway = false
        application.withdrawNotice()
        placement?.restore()
    }

    private func askToClose() {
        window.ask(
            "Stop recording?",
            """
            If you keep it, it continues without the window. \
            Click the notification to bring the window back.
            """,
            ["Keep Recording", "Stop and Close"]
        ) { [weak self] answer in
            guard let self else { return }
            // It may have ended meanwhile.
            let isRecording = daemon?[\CaptureInterface.recording] ?? false
            switch answer {
            case 0 where isRecording:
                isAway = true
                window.hide()
                application.notify("DualCam is recording", "Click to show its window.")
            case 1 where isRecording:
                daemon?.call(\CaptureInterface.stopRecording, (), within: 60) {
                    [weak self] answer in
                    self?.report(answer.error)
                    if answer.error == nil { self?.close() }
                }
            case 1: close()
            default: break
            }
        }
    }

    private func close() {
        mayClose = true
        window.close()
    }

    // MARK: Building

    private func build(_ closed: @escaping () -> Void) {
        window.style("dualcam")
        picture.named("The picture of your cameras")
        // The keyboard is here unless people move it: not on the first control, which closes.
        picture.isFocusable = true
        stage.add(carrier.widget)
        stage.add(pro.widget.place(.fill, .end))
        // In a small window it needs their room, and has the button that matters.
        stage.add(page.widget)
        stage.add(count.widget.place(.center, .center))
        stage.add(note.page.place(.center, .center, margin: SituationNote.margin))
        stage.add(strip.widget.place(.fill, .end, margin: 8))
        stage.add(discs.place(.start, .start, margin: 12))
        stage.add(bar.widget.place(.center, .end, margin: 12))
        for pill in [recording.widget, note.pill, toast.widget] {
            stage.add(pill.place(.center, .start))
        }
        attachStrip()
        let layouts = LayoutPicker(self)
        layouts.onOpen = { [unowned self] in bar.openers.layout.style("on", if: $0) }
        menu = ViewMenu(
            over: stage,
            layouts,
            scene: { [unowned self] in apply($0) },
            { [unowned self] in perform($0) }
        )
        bar.onCommand = { [unowned self] in perform($0) }
        menu?.onClose { [unowned self] in
            picture.grabFocus()
            showControls()
        }
        page.onTrouble = { [unowned self] in report($0) }
        page.onClose = { [unowned self] in
            picture.grabFocus()
            showControls()
        }
        count.onCancel = { [unowned self] in cancelSelfTimer() }
        recording.onStop = { [unowned self] in perform(.record) }
        note.onRemedy = { [unowned self] in mend($0) }
        pro.onTrouble = { [unowned self] in report($0) }
        window.onClose { [unowned self] in
            let isRecording = daemon?[\CaptureInterface.recording] ?? false
            if isRecording, knowledge.daemon == .present, !mayClose {
                askToClose()
                return true
            }
            closed()
            return false
        }
        window.onFullscreen { [unowned self] in
            whole.setIcon(icon(window.isFullscreen ? "restore" : "fullscreen"))
            whole.tooltip = window.isFullscreen ? "Leave Fullscreen" : "Fullscreen"
        }
        attachHands()
        window.onAnyKey { [unowned self] in if !hand.isCarrying { showControls() } }
        window.onKey { [unowned self] name in
            guard let command = Command(key: name), !page.isOpen || command.isForWindow else {
                return false
            }
            perform(command)
            return true
        }
    }

    /// Shows the window, and follows what is known of it once it is on the screen.
    private func arrive() {
        window.present()
        // GTK's objects may outlive this one.
        window.onState { [weak self] in self?.watchMore() }
        window.onFrames(
            begins: { [weak self] in self?.frameBegins() },
            painted: { [weak self] in self?.painted() }
        )
        direct = DirectPicture(in: window)
        probing = MainLoop.Timer(every: 0.5) { [unowned self] in
            if request.isWatched { daemon?.probe() }
        }
        Widget.onLook { [weak self] in self?.followLook() }
        followLook()
        stage.onFrame { [weak self] in
            guard let self else { return false }
            guard stage.size.area > 0 else { return true }
            follow()
            placement = WindowPlacement(self, sway)
            if placement?.isOurs == false, let connection = daemon?.connection {
                KWinScript.keepAbove(connection)
            }
            offerSetUp()
            return false
        }
    }

    /// Shows the set-up at the first start, once there are cameras to choose from.
    private func offerSetUp() {
        guard placement != nil, !settings.settings.isSetUp, daemon?.isPresent == true,
            !others.contains(where: { $0 is SetUpWindow })
        else { return }
        show(SetUpWindow.init)
    }

    private func followLook() {
        application.style(styleSheet(textScale))
        window.style("contrast", if: Widget.hasHighContrast)
        pro.redraw()
    }

    // MARK: Pictures

    var aspect: Double {
        Viewport.aspect(
            width: daemon?[\StreamInterface.width] ?? 0,
            height: daemon?[\StreamInterface.height] ?? 0
        )
    }

    var viewport: Viewport { Viewport(aspect: aspect, size: stage.size) }

    func putBack() { carryOut(hand.cancel()) }

    private func showNewest() {
        guard let pixels = pictures.take() else { return }
        newest = pixels
        defer {
            if !knowledge.hasPicture { know { $0.hasPicture = true } }
            adjustSize()
        }
        isDirect = isBare && direct?.put(pixels, at: stage) == true
        if isDirect { return painted() }
        let paintable = picture.paintable(of: pixels)
        picture.show(paintable)
        strip.show(paintable)
        let now = MonotonicClock.now
        if !isStale {
            isStale = true
            lastPaint = max(lastPaint, now - Timestamp(seconds: 0.1))
        } else if (now - lastPaint).seconds > Self.patience {
            // It was covered: what is shown is not painted.
            watch(false)
        }
    }

    /// `true` while nothing is shown but the picture.
    private var isBare: Bool {
        knowledge.hasPicture && knowledge.situation == nil && !window.isMinimized
            && stage.shows(only: picture)
    }

    /// Gives GTK the picture that was put past it, before it paints.
    private func frameBegins() {
        guard isDirect, let newest else { return }
        isDirect = false
        picture.show(picture.paintable(of: newest))
    }

    private func painted() {
        isStale = false
        lastPaint = MonotonicClock.now
        if !request.isWatched, !isCovered { watchMore() }
    }

    /// Another window may be moved over this one for a moment.
    private func coverChanged() {
        covering = nil
        guard isCovered else { return watchMore() }
        covering = MainLoop.Timer(after: Self.patience) { [unowned self] in watchMore() }
    }

    /// Updates whether the window may be visible.
    private func watchMore() {
        let isHidden = isCovered && covering?.isOver == true
        let isShown = window.isMapped && !window.isMinimized && !isHidden
        if isShown { lastPaint = MonotonicClock.now }
        watch(isShown)
    }

    private func watch(_ isWatched: Bool) {
        guard request.isWatched != isWatched else { return }
        request.isWatched = isWatched
        pictures.request(request)
        pro.isShown = isWatched
        recording.follow(daemon, isSeen: isWatched)
        // Painted as soon as it can be seen again.
        if !isWatched { picture.redraw() }
    }

    private func adjustSize() {
        guard stage.size.area > 0 else { return }
        strip.fit(stage.size.width)
        note.fit(stage.size)
        page.fit(stage.size)
        let viewport = viewport
        let shown = viewport.shown
        if picture.covers != viewport.covers { picture.covers = viewport.covers }
        let scale = Double(stage.scaleFactor)
        let size = Size(
            width: max(2, Int((shown.width * scale).rounded())),
            height: max(2, Int((shown.height * scale).rounded()))
        )
        let id = daemon?[\StreamInterface.nodeID]
        let node = id == .max ? nil : id
        guard size != request.size || node != request.node else { return }
        request.size = size
        request.node = node
        pictures.request(request)
    }

    var areas: PictureAreas {
        func numbers(_ name: String) -> [Double] {
            let fields = daemon?.value(name, of: SceneInterface.name)?.structure ?? []
            return fields.compactMap(\.double)
        }
        return PictureAreas(
            main: numbers("MainRectangle"),
            other: numbers("InsetRectangle"),
            room: numbers("InsetRoom")
        ) ?? look.areas(aspect: aspect)
    }

    var insetShape: InsetShape { daemon?.insetShape ?? .rectangle }

    // MARK: What is known

    func follow() {
        know { knowledge in
            switch daemon?.isPresent {
            case true?: knowledge.daemon = .present
            case false?:
                if [.present, .unknown, .silent].contains(knowledge.daemon) {
                    knowledge.daemon = .absent
                }
            case nil: break
            }
            if daemon?.isSilent == true, restarting == nil { knowledge.daemon = .silent }
            knowledge.isActive = daemon?[\StreamInterface.active] ?? true
            knowledge.isPossible = daemon?[\StreamInterface.possible] ?? true
            knowledge.isPrivate = daemon?[\PrivacyInterface.enabled] ?? false
            knowledge.cameras = mainFirst.map { path in
                Knowledge.Camera(
                    state: daemon?[\CameraInterface.state, at: path] ?? "",
                    interruption: daemon?[\CameraInterface.interruption, at: path] ?? "none",
                    name: daemon?[\CameraInterface.name, at: path] ?? "",
                    holder: daemon?[\CameraInterface.holder, at: path] ?? ""
                )
            }
        }
        if ![.present, .silent].contains(knowledge.daemon) { newest = nil }
        if restarting != nil, daemon?.isPresent == false {
            restarting = nil
            mend(.start)
        }
        adjustSize()
        let isPresent = knowledge.daemon == .present
        if !isPresent { page.close() }
        pro.follow(isPresent: isPresent)
        bar.follow(isPresent: isPresent, delay: delay)
        if let words = count.follow(isPresent ? daemon : nil) { say(words) }
        followMenu()
        announceChanges()
        recording.follow(isPresent ? daemon : nil, isSeen: request.isWatched)
        for other in others { other.follow() }
        if !isPresent || pro.isOpen { bar.isRevealed = pro.isOpen && isPictureFree }
        arrange()
        if isAway, isPresent, daemon?[\CaptureInterface.recording] == false { close() }
        // The recording has ended with the daemon.
        if isAway, daemon?.isPresent == false { present() }
        if isPresent { offerSetUp() }
    }

    func followMenu() {
        menu?.follow(
            daemon,
            isPresent: knowledge.daemon == .present,
            recordsSound: recordsSound,
            delay: delay,
            isShort: bar.isShort
        )
    }

    // MARK: Words for screen readers

    private func announceChanges() {
        guard knowledge.daemon == .present else { return told = nil }
        let main = daemon?[\SceneInterface.main] ?? DualCam.backPath
        let name = daemon?[\CameraInterface.name, at: main] ?? ""
        var news = Announced(main: main == DualCam.backPath ? "back" : "front", camera: name)
        news.isPrivate = knowledge.isPrivate
        news.isRecording = daemon?[\CaptureInterface.recording] ?? false
        news.isPaused = daemon?[\CaptureInterface.recordingPaused] ?? false
        news.situation = knowledge.situation?.title ?? ""
        for sentence in news.sentences(since: told) { say(sentence) }
        told = news
        let silence = daemon?[\CaptureInterface.recordingSilence] ?? ""
        if !silence.isEmpty, silence != toldSilence {
            toast.show("Recording without sound: \(silence)")
        }
        toldSilence = silence
    }

    func say(_ words: String) { stage.say(words) }

    /// The cameras' objects, that of the main picture first.
    var mainFirst: [ObjectPath] {
        guard let daemon, daemon.isPresent == true else { return [] }
        let main = daemon[\SceneInterface.main] ?? DualCam.backPath
        return [main, main == DualCam.backPath ? DualCam.frontPath : DualCam.backPath]
    }

    private func know(_ change: (inout Knowledge) -> Void) {
        let before = knowledge.situation
        change(&knowledge)
        if !knowledge.hasPipeWire || ![.present, .silent].contains(knowledge.daemon) {
            knowledge.hasPicture = false
        }
        let situation = knowledge.situation
        if situation != before || situation != note.situation {
            note.show(situation)
            arrange()
            if situation == nil, before != nil { picture.grabFocus() }
        }
        stage.style("still", if: situation?.ground == .still)
        if situation?.ground == Situation.Ground.none {
            isDirect = false
            picture.show(nil)
        }
    }

    private func take(_ signal: Signal) {
        switch signal.member {
        case "RestoreRequested": present()
        case "SoundLevel": recording.take(level: signal.arguments.first?.double)
        case "Changed": strip.load()
        case "LimitReached": pro.limitReached(signal)
        case "RecordingFailed":
            let words = Self.words(signal.arguments.first?.string ?? "")
            toast.show("The recording ended: \(words)")
            if isAway { present() }
        default: break
        }
    }

    func report(_ error: DBusError?) {
        // That is said already, or known to who did it.
        guard let error, knowledge.daemon != .silent, !error.name.hasSuffix(".Cancelled") else {
            return
        }
        toast.show(Self.words(error))
    }

    private func mend(_ remedy: Situation.Remedy) {
        switch remedy {
        case .endPrivacy:
            daemon?.set(\PrivacyInterface.enabled, to: false) { [weak self] in self?.report($0) }
        case .choose, .explain: show(PreferencesWindow.init)
        case .addPhone: show(PhoneWindow.init)
        case .restart: restart()
        case .start:
            know { if $0.daemon != .present { $0.daemon = .starting } }
            daemon?.call(\StreamInterface.start, (), startsService: true) { [weak self] answer in
                guard case .failure(let error) = answer else { return }
                let reason =
                    error.name.hasSuffix(".ServiceUnknown")
                    ? "It is not installed for your session. Install it, or run dualcamd yourself."
                    : Self.words(error)
                self?.know { $0.daemon = .failed(reason) }
            }
        }
    }

    /// Ends the daemon, which hangs; it is started once it is gone.
    private func restart() {
        guard let connection = daemon?.connection else { return }
        know { $0.daemon = .starting }
        let question = MethodCall.bus("GetConnectionUnixProcessID", [.string(DualCam.busName)])
        connection.ask(question) { [weak self] answer in
            guard let self else { return }
            guard let process = (try? answer.get())?.first?.integer, process > 1 else {
                return endRestart()
            }
            kill(pid_t(process), SIGTERM)
            // It has two seconds to finish its files. One that is stopped does not even notice.
            restarting = MainLoop.Timer(after: 3) { [unowned self] in
                kill(pid_t(process), SIGKILL)
                // Not even that ends one that waits for a driver.
                restarting = MainLoop.Timer(after: 5) { [unowned self] in endRestart() }
            }
        }
    }

    /// Shows again what is known of the daemon, which was not restarted.
    private func endRestart() {
        restarting = nil
        know { $0.daemon = .unknown }
        follow()
    }

    // MARK: Controls

    /// `true` unless something else has the place of the bar.
    private var isPictureFree: Bool { !strip.isOpen && !page.isOpen }

    /// Shows the controls for a while.
    func showControls(_ isShown: Bool = true) {
        // What has the keyboard, or is below an open menu, stays.
        let isHeld = bar.widget.showsFocus || discs.showsFocus || menu?.isOpen == true
        let isShown = (isShown || isHeld) && !page.isOpen
        discs.isRevealed = isShown
        bar.isRevealed = (isShown && knowledge.daemon == .present || pro.isOpen) && isPictureFree
        if isShown { pro.wake() }
        arrange()
        leaving = nil
        guard isShown else { return }
        leaving = MainLoop.Timer(after: Self.controlsStay) { [unowned self] in
            showControls(false)
        }
    }

    /// Puts the controls where the inset is not, and what is said between them.
    private func arrange() {
        let (size, scale) = (stage.size, textScale)
        guard size.area > 0 else { return }
        let margin = size.width >= 720 ? 16 : 12
        let whole = Rect(size)
        // The picture has a left and a right wherever words begin.
        let (left, right): (Widget.Align, Widget.Align) =
            Widget.isRightToLeft ? (.end, .start) : (.start, .end)
        var (discSide, barSide) = (Widget.Align.start, Widget.Align.center)
        var room = size.width - 2 * margin
        let inset = areas.hasInset ? areas.other.map { viewport.place($0) } : nil
        let isLeft = inset.map { $0.midX < whole.midX } ?? false
        let reach = Double(margin) + 48 * scale
        if let inset {
            if inset.y < reach { discSide = isLeft ? right : left }
            // One as large as a person who stands in the picture leaves too little room beside it.
            if inset.maxY > whole.maxY - reach, inset.width <= whole.width / 2, !pro.isOpen {
                barSide = isLeft ? right : left
                room = Int(isLeft ? whole.maxX - inset.maxX : inset.x) - 2 * margin
            }
        }
        self.whole.isVisible = size.width >= 280
        discs.isVisible = size.width >= 240
        let wasShort = bar.isShort
        bar.fit(room, scale: scale)
        if bar.isShort != wasShort { followMenu() }
        bar.widget.place(barSide, .end, margin: margin)
        let bottom = margin + Int(bar.height * scale) + (size.height < 160 ? 4 : 8)
        pro.widget.setMargins(bottom: bottom)
        var corner = Size(width: discs.size.width + margin, height: discs.size.height + margin)
        pro.leave(
            corner,
            atStart: discSide == .start,
            of: Size(width: size.width, height: size.height - bottom)
        )
        recording.fit(size)
        // Over the stream's own mark, so that it is shown once.
        recording.widget.place(discSide, .start, margin: 8)
        var side = margin
        if recording.widget.isVisible {
            // With what is left free beside its words.
            side = recording.widget.size.width + Int(24 * scale) + 16
            corner.width += side - margin
        }
        discs.place(discSide, .start)
        discs.setMargins(
            start: discSide == .start ? side : margin,
            end: discSide == .end ? side : margin,
            top: margin
        )
        arrangeWords(inset, isLeft, isDiscLeft: discSide == left, margin, corner)
    }

    /// Puts what is said at the top, between the discs and the inset, each below the one before.
    private func arrangeWords(
        _ inset: Rect?,
        _ isLeft: Bool,
        isDiscLeft: Bool,
        _ margin: Int,
        _ corner: Size
    ) {
        var (left, right, top) = (margin, margin, margin)
        let width = stage.size.width
        if discs.isVisible {
            if isDiscLeft { left = corner.width + 8 } else { right = corner.width + 8 }
        }
        if let inset, inset.y < Double(corner.height) {
            if isLeft {
                left = max(left, Int(inset.maxX) + 8)
            } else {
                right = max(right, width - Int(inset.x) + 8)
            }
        }
        if width - left - right < Int(160 * textScale) {
            // Too narrow: below them.
            (left, right) = (margin, margin)
            top = max(corner.height, inset.map { $0.y < 48 ? Int($0.maxY) : 0 } ?? 0) + 8
        }
        stage.style("rtl", if: Widget.isRightToLeft)
        let (start, end) = Widget.isRightToLeft ? (right, left) : (left, right)
        for pill in [note.pill, toast.widget] {
            pill.setMargins(start: start, end: end, top: top)
            if pill.isVisible { top += Int(32 * textScale) + 8 }
        }
    }

    static func words(_ error: DBusError) -> String {
        switch error.name {
        case let name where name.hasSuffix(".ServiceUnknown") || name.hasSuffix(".NameHasNoOwner"):
            "DualCam is not running."
        case let name where name.hasSuffix(".NoReply"): "DualCam does not answer."
        default: words(error.message.withoutCommands)
        }
    }

    private static func words(_ reason: String) -> String {
        switch RecordingFailure(word: reason) {
        case .noSpace(let reason): "\(reason)."
        case .denied: "the folder is not writable."
        case .other(let reason): reason.isEmpty ? "That did not work." : reason
        }
    }
}

/// The results of other threads for the window, which may be gone by then.
private final class Inbox: Sendable {
    private let mailbox: EventLoop.Mailbox
    // Unsafe: set and read on GTK's thread alone.
    nonisolated(unsafe) weak var owner: PictureWindow?

    init(_ mailbox: EventLoop.Mailbox) { self.mailbox = mailbox }

    func post(_ work: @escaping @Sendable (PictureWindow) -> Void) {
        mailbox.post { [self] in if let owner { work(owner) } }
    }
}

extension DaemonMirror {
    var insetShape: InsetShape {
        self[\SceneInterface.insetShape].flatMap(InsetShape.init) ?? .rectangle
    }
}
