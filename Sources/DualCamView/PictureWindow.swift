import Control
import DBusKit
import DualCamCore
import Frames
import GTK
import Platform
import ViewCore

/// The window: the picture, and all that is over it.
///
/// - Context: bound to GTK's thread.
final class PictureWindow {
    let window: Window
    let application: Application
    /// All that is in the window, over one another.
    let stage: Overlay
    let toasts: ToastOverlay
    let daemon: DaemonMirror?
    let bar: ControlBar
    let pro: ProPanel
    let strip: PictureStrip
    let settings = SettingsFile()
    let feedback: Feedback?
    private(set) var keys: GlobalKeys?
    private var preferences: PreferencesWindow?
    private var keysWindow: KeysWindow?
    /// Windows of this one that were closed, as long as GTK may still tell them so.
    private var closing: [(window: AnyObject, timer: MainLoop.Timer)] = []
    var hand = Hand()
    /// The inset while it is carried, with what was the stream's when it was picked up.
    let carrier = Carrier()
    var placement: Placement?

    let picture = Picture()
    /// The place where the picture was pressed.
    var pressed = (x: 0.0, y: 0.0)
    var isMovingWindow = false
    /// The requests of the hand that the daemon may not have answered yet.
    var wantedSize: Double?
    var zooms: [ObjectPath: ZoomView] = [:]
    var isZooming = false
    var wishing: MainLoop.Timer?
    private let sway: SwayWindow?
    private let pictures: StreamPictures
    private let note = SituationNote()
    private let recording = RecordingPill()
    private let discs: Revealer
    private var knowledge = Knowledge()
    /// The words that screen readers got last.
    private var told: Announced?
    private var request = StreamPictures.Request()
    private(set) var newest: Pixels?
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

    /// The time without painting after which nobody looks, in seconds: a window that is covered
    /// is no longer painted.
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
        sway = SwayWindow(loop.mailbox)
        let inbox = Inbox(loop.mailbox)
        pictures = try StreamPictures(
            came: { inbox.post { $0.showNewest() } },
            isConnected: { isThere in inbox.post { $0.know { $0.hasPipeWire = isThere } } }
        )
        let connection = try? BusConnection(loop: loop)
        daemon = connection.map { DaemonMirror($0) }
        stage = Overlay(picture.expand())
        stage.style("stage").clip()
        toasts = ToastOverlay(stage)
        let close = Button(icon: "window-close-symbolic", "Close")
        let whole = Button(icon: "view-fullscreen-symbolic", "Fullscreen")
        for disc in [close, whole] { disc.keepsFocus() }
        discs = Revealer(
            Box(spacing: 8, [close.style("disc"), whole.style("disc")]),
            seconds: 0.2
        )
        bar = ControlBar(daemon)
        feedback = connection.map { Feedback($0) }
        feedback?.hasSound = settings.settings.hasSoundOfTicks
        pro = ProPanel(daemon, feedback)
        strip = PictureStrip(daemon)
        let width = Placement.Remembered.load()?.width ?? 480
        window = Window(
            application,
            title: "DualCam",
            size: Size(width: width, height: width * 9 / 16),
            toasts
        )
        inbox.owner = self
        close.onClick { [unowned self] in window.close() }
        whole.onClick { [unowned self] in perform(.toggleFullscreen) }
        build(closed)
        connection?.onDisconnect = { [unowned self] in know { $0.hasBus = false } }
        know { $0.hasBus = daemon != nil }
        daemon?.onChange = { [unowned self] in follow() }
        daemon?.onSignal = { [unowned self] in take($0) }
        if let connection {
            keys = GlobalKeys(connection, wants: settings.settings.hasGlobalKeys) {
                [unowned self] in performGlobal($0)
            }
        }
        picture.grabFocus()
        if let sway { sway.keepAbove { [weak self] in self?.arrive() } } else { arrive() }
    }

    /// Shows the preferences; `isFirst` as the set-up.
    func showPreferences(isFirst: Bool = false) {
        if let preferences { return preferences.window.present() }
        preferences = PreferencesWindow(over: self, isFirst: isFirst) { [unowned self] in
            guard let window = preferences else { return }
            preferences = nil
            letGo(window)
        }
    }

    /// Shows the list of keys.
    func showKeys() {
        if let keysWindow { return keysWindow.window.present() }
        keysWindow = KeysWindow(over: self) { [unowned self] in
            guard let window = keysWindow else { return }
            keysWindow = nil
            letGo(window)
        }
    }

    /// Lets go of a window that is to be closed. GTK hides and ends it after this.
    private func letGo(_ window: AnyObject) {
        closing.append((window, MainLoop.Timer(after: 0) { [unowned self] in closing = [] }))
    }

    /// Ends the pictures' thread.
    func end() {
        preferences?.window.close()
        keysWindow?.window.close()
        placement?.save()
        pro.giveHudBack()
        strip.finish()
        if knowledge.hasBus { daemon?.connection.flush() }
        menu?.end()
        pictures.end()
    }

    func present() { window.present() }

    // MARK: Building

    private func build(_ closed: @escaping () -> Void) {
        window.style("dualcam")
        picture.named("The picture of your cameras")
        // The keyboard is here unless people move it: not on the first control, which closes.
        picture.isFocusable = true
        stage.add(carrier.widget)
        stage.add(recording.widget.place(.center, .start, margin: 12))
        stage.add(pro.widget.place(.fill, .end))
        stage.add(discs.place(.start, .start, margin: 10))
        stage.add(bar.widget.place(.center, .end, margin: 14))
        // In a small window it needs their room, and has the button that matters.
        stage.add(note.widget.place(.center, .center, margin: SituationNote.margin))
        stage.add(strip.widget.place(.fill, .end))
        attachStrip()
        menu = ViewMenu(
            over: stage,
            layout: { [unowned self] in set(\SceneInterface.layout, to: $0.rawValue) },
            scene: { [unowned self] in apply($0) },
            { [unowned self] in perform($0) }
        )
        bar.onCommand = { [unowned self] in perform($0) }
        note.onRemedy = { [unowned self] in mend($0) }
        pro.onTrouble = { [unowned self] in report($0) }
        window.onClose {
            closed()
            return false
        }
        attachHands()
        window.onAnyKey { [unowned self] in if !hand.isCarrying { showControls() } }
        window.onKey { [unowned self] name in
            guard let command = Command(key: name) else { return false }
            perform(command)
            return true
        }
    }

    /// Shows the window, and follows what is known of it once it is on the screen.
    private func arrive() {
        window.present()
        // GTK's objects may outlive this one.
        window.onState { [weak self] in self?.watchMore() }
        window.onMap { [weak self] in self?.watchMore() }
        window.onUnmap { [weak self] in self?.watchMore() }
        window.onPaint { [weak self] in self?.painted() }
        window.onFrameBegin { [weak self] in self?.frameBegins() }
        direct = DirectPicture(in: window)
        Widget.onLook { [weak self] in self?.followLook() }
        followLook()
        stage.onFrame { [weak self] in
            guard let self else { return false }
            guard stage.size.area > 0 else { return true }
            follow()
            placement = Placement(self, sway)
            if placement?.isOurs == false, let connection = daemon?.connection {
                KWinScript.keepAbove(connection)
            }
            if !settings.settings.isSetUp { showPreferences(isFirst: true) }
            return false
        }
    }

    /// Takes over how people want to see it.
    private func followLook() {
        window.style("contrast", if: Widget.hasHighContrast)
        pro.redraw()
    }

    // MARK: Pictures

    /// The shape of the stream.
    var aspect: Double {
        let width = daemon?[\StreamInterface.width] ?? 0
        let height = daemon?[\StreamInterface.height] ?? 0
        return width > 0 && height > 0 ? Double(width) / Double(height) : 16.0 / 9
    }

    var viewport: Viewport { Viewport(aspect: aspect, size: stage.size) }

    /// Puts the inset back where it was picked up.
    func putBack() {
        if !hand.cancel().isEmpty, let other = areas.other {
            carrier.settle(at: viewport.place(other))
        }
    }

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
        carrier.show(pixels)
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
            && stage.shows(only: picture) && toasts.shows(only: stage)
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

    /// Looks if somebody may see the window.
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

    /// Asks for pictures of the size that is shown.
    private func adjustSize() {
        guard stage.size.area > 0 else { return }
        strip.fit(stage.size.width)
        note.fit(stage.size)
        let shown = viewport.shown
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

    /// The stream's newest picture of `area`, of which the carried inset shows a copy.
    var areas: PictureAreas {
        func area(_ name: String) -> Rect? {
            daemon?.value(name, of: SceneInterface.name)?.structure.flatMap { fields in
                let numbers = fields.compactMap(\.double)
                guard numbers.count == 4, numbers.allSatisfy({ $0.isFinite }) else { return nil }
                return Rect(x: numbers[0], y: numbers[1], width: numbers[2], height: numbers[3])
            }
        }
        if let main = area("MainRectangle"), let other = area("InsetRectangle") {
            return PictureAreas(main: main, other: other.width > 0 ? other : nil)
        }
        return PictureAreas(
            layout: daemon?[\SceneInterface.layout].flatMap(Layout.init) ?? .pip,
            corner: daemon?[\SceneInterface.insetCorner].flatMap(Corner.init) ?? .topRight,
            size: daemon?[\SceneInterface.insetSize] ?? 0.25,
            isVisible: daemon?[\SceneInterface.insetVisible] ?? true,
            aspect: aspect
        )
    }

    // MARK: What is known

    /// Takes over what the daemon tells.
    private func follow() {
        know { knowledge in
            switch daemon?.isPresent {
            case true?: knowledge.daemon = .present
            case false?:
                if [.present, .unknown, .silent].contains(knowledge.daemon) {
                    knowledge.daemon = .absent
                }
            case nil: break
            }
            if daemon?.isSilent == true { knowledge.daemon = .silent }
            knowledge.isActive = daemon?[\StreamInterface.active] ?? true
            knowledge.isPossible = daemon?[\StreamInterface.possible] ?? true
            knowledge.isPrivate = daemon?[\PrivacyInterface.enabled] ?? false
            knowledge.cameras = mainFirst.map { path in
                Knowledge.Camera(
                    state: daemon?[\CameraInterface.state, at: path] ?? "",
                    interruption: daemon?[\CameraInterface.interruption, at: path] ?? "none",
                    name: daemon?[\CameraInterface.name, at: path] ?? "",
                    holder: daemon?[\CameraInterface.holder, at: path] ?? "",
                    source: daemon?[\CameraInterface.source, at: path] ?? ""
                )
            }
        }
        if knowledge.daemon != .present { newest = nil }
        adjustSize()
        let isPresent = knowledge.daemon == .present
        bar.follow(isPresent: isPresent)
        pro.follow(isPresent: isPresent)
        if pro.isOpen {
            bar.isRevealed = false
            avoidInset()
        }
        followMenu()
        announceChanges()
        recording.follow(isPresent ? daemon : nil, isSeen: request.isWatched)
        preferences?.follow()
    }

    /// Makes the menu show the present state.
    func followMenu() {
        menu?.follow(
            daemon,
            isPresent: knowledge.daemon == .present,
            recordsSound: bar.recordsSound
        )
    }

    // MARK: Words for screen readers

    /// Announces changes to people who do not see the window.
    private func announceChanges() {
        guard knowledge.daemon == .present else { return told = nil }
        let main = daemon?[\SceneInterface.main] ?? DualCam.backPath
        let name = daemon?[\CameraInterface.name, at: main] ?? ""
        let news = Announced(
            main: main == DualCam.backPath ? "back" : "front",
            camera: name,
            isPrivate: knowledge.isPrivate,
            isRecording: daemon?[\CaptureInterface.recording] ?? false,
            situation: knowledge.situation?.title ?? ""
        )
        for sentence in news.sentences(since: told) { say(sentence) }
        told = news
    }

    /// Says `words` to people who use a screen reader.
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
        if !knowledge.hasPipeWire || knowledge.daemon != .present { knowledge.hasPicture = false }
        let situation = knowledge.situation
        if situation != before || situation != note.situation {
            note.show(situation)
            if situation == nil, before != nil { picture.grabFocus() }
        }
        if situation != nil, situation?.hasPicture == false {
            isDirect = false
            picture.show(nil)
        }
    }

    private func take(_ signal: Signal) {
        switch signal.member {
        case "RestoreRequested": present()
        case "SoundLevel": recording.show(level: signal.arguments.first?.double)
        case "Changed": strip.load()
        case "LimitReached": pro.limitReached(signal)
        case "RecordingFailed":
            let reason = signal.arguments.first?.string ?? ""
            toasts.show("The recording ended: \(Self.words(reason))")
        default: break
        }
    }

    /// Tells what went wrong.
    func report(_ error: DBusError) { toasts.show(Self.words(error)) }

    private func mend(_ remedy: Situation.Remedy) {
        switch remedy {
        case .endPrivacy:
            daemon?.set(\PrivacyInterface.enabled, to: false) { [weak self] in
                if let error = $0 { self?.report(error) }
            }
        case .start:
            know { if $0.daemon != .present { $0.daemon = .starting } }
            daemon?.call(\StreamInterface.start, (), startsService: true) { [weak self] answer in
                guard case .failure(let error) = answer else { return }
                let reason =
                    error.name.hasSuffix(".ServiceUnknown")
                    ? "It is not installed for this session. Run dualcamd, or install DualCam."
                    : Self.words(error)
                self?.know { $0.daemon = .failed(reason) }
            }
        }
    }

    // MARK: Controls

    /// Shows the controls for a while.
    func showControls(_ isShown: Bool = true) {
        discs.isRevealed = isShown
        bar.isRevealed = isShown && !pro.isOpen && !strip.isOpen
        avoidInset()
        leaving = nil
        guard isShown else { return }
        leaving = MainLoop.Timer(after: Self.controlsStay) { [unowned self] in
            showControls(false)
        }
    }

    /// Moves the controls to where the inset is not.
    private func avoidInset() {
        let size = stage.size
        var room = size.width - 28
        // The picture has a left and a right wherever words begin.
        let (left, right): (Widget.Align, Widget.Align) =
            Widget.isRightToLeft ? (.end, .start) : (.start, .end)
        var (discSide, barSide) = (Widget.Align.start, Widget.Align.center)
        if areas.hasInset, let other = areas.other.map({ viewport.place($0) }) {
            let isLeft = other.midX < Double(size.width) / 2
            if other.y < 48 { discSide = isLeft ? right : left }
            if other.maxY > Double(size.height) - 64 {
                barSide = isLeft ? right : left
                room = Int(isLeft ? Double(size.width) - other.maxX : other.x) - 24
            }
        }
        discs.place(discSide, .start)
        let corner = Size(width: discs.size.width + 8, height: discs.size.height + 10)
        pro.leave(corner, atStart: discSide == .start, of: size)
        bar.widget.place(barSide, .end)
        bar.fit(room)
    }

    /// Returns an error in words.
    static func words(_ error: DBusError) -> String {
        switch error.name {
        case let name where name.hasSuffix(".ServiceUnknown") || name.hasSuffix(".NameHasNoOwner"):
            "DualCam is not running."
        case let name where name.hasSuffix(".NoReply"): "DualCam does not answer."
        default: words(error.message)
        }
    }

    private static func words(_ reason: String) -> String {
        switch RecordingFailure(word: reason) {
        case .noSpace: "the disk is full."
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
