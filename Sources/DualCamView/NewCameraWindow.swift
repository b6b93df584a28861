import Control
import DBusKit
import DualCamCore
import Frames
import GTK
import Platform

/// A window that adds a camera, whose live picture it shows, and makes it one of the two pictures.
class NewCameraWindow: SideWindow {
    let tile = CameraTile(Size(width: 384, height: 216))
    let words = Label("", wraps: true).breaksWords()
    let uses = Box(spacing: 12).place(.center, .center)
    let previews: PreviewPictures?
    /// The camera, by the word for `Camera.Use`, with its user and password.
    var camera: (device: String, login: Options<Control.Login>)?
    var trouble: String?
    private(set) var picture: Paintable?
    private var following: MainLoop.Timer?

    init(over owner: PictureWindow, _ title: String, before: [Widget], after: [Widget] = []) {
        previews = owner.daemon.flatMap { try? PreviewPictures($0) }
        let content = before + [tile.widget, words, uses] + after
        let column = Box(vertical: true, spacing: 16, content).place(.fill, .fill, margin: 24)
        let done = Button("Done")
        super.init(
            over: owner,
            Window(
                owner.application,
                title: title,
                size: Size(width: 440, height: 540),
                Box(vertical: true, [HeaderBar([], [done]), column])
            )
        )
        done.onClick { [unowned self] in window.close() }
        let main = Button("Main Picture").style("suggested-action")
        uses.append(main.onClick { [unowned self] in use(\SceneInterface.main) })
        uses.append(Button("Inset").onClick { [unowned self] in use(\SceneInterface.inset) })
    }

    override func closed() {
        following = nil
        previews?.follow([])
    }

    func present() {
        window.present()
        following = MainLoop.Timer(every: 0.1) { [unowned self] in show() }
        show()
    }

    func show() {}

    /// Shows what the camera sees, while that is wanted.
    func showPicture(_ isWanted: Bool) {
        let device = isWanted ? camera?.device : nil
        let isSeen = window.isMapped && !window.isMinimized
        previews?.follow(isSeen ? [device].compactMap { $0 } : [])
        if let device, let pixels = previews?.take(device) { picture = pixels.texture(of: .unit) }
        if device.map({ previews?.isLive($0) == true }) != true { picture = nil }
        tile.show("", picture, isWaiting: isWanted)
    }

    private func use(_ place: KeyPath<SceneInterface, PropertyMember<ObjectPath>>) {
        guard let camera, let path = owner.daemon?[place] else { return }
        trouble = nil
        let (device, login) = camera
        owner.daemon?.call(\CameraInterface.use, at: path, device, options: login) {
            [weak self] in
            self?.trouble = $0.error.map(PictureWindow.words)
            if $0.error == nil { self?.window.close() }
        }
    }
}

/// The window that adds a camera on the network: its live picture is the trial of its address and
/// password, and nothing is stored before.
final class NetworkWindow: NewCameraWindow {
    private let address = EntryRow("Address")
    private let user = EntryRow("User")
    private let password = EntryRow("Password", isSecret: true)
    /// Until then the camera that was tried before may still be being closed.
    private var patience = MonotonicClock.now

    init(over owner: PictureWindow) {
        let attempt = Button("Try").place(.center, .center)
        let login = PreferencesGroup("", [address, user, password])
        super.init(over: owner, "Add Network Camera", before: [login, attempt])
        words.text = "As in “192.168.1.20:8080/video” or “rtsp://camera/live”"
        attempt.onClick { [unowned self] in begin() }
        for row in [address, user, password] { row.onReturn { [unowned self] in begin() } }
        previews?.onTrouble = { [unowned self] in
            guard MonotonicClock.now > patience || !$0.name.hasSuffix(".Busy") else { return }
            (trouble, camera) = (PictureWindow.words($0), nil)
        }
        present()
        address.grabFocus()
    }

    private func begin() {
        let text = address.text.filter { $0 != " " }
        guard !text.isEmpty else { return }
        let place = text.contains("://") ? text : "http://\(text)"
        var login = Options<Control.Login>()
        if !user.text.isEmpty { (login.user, login.password) = (user.text, password.text) }
        (camera, trouble) = (nil, nil)
        patience = MonotonicClock.now + Timestamp(seconds: 5)
        showPicture(false)
        previews?.login = login
        camera = (place.hasPrefix("url:") ? place : "url:\(place)", login)
        show()
    }

    override func show() {
        showPicture(camera != nil)
        if camera != nil {
            words.text = picture == nil ? "Connecting…" : "This is its picture. Use it as:"
        }
        if let trouble { words.text = trouble }
        uses.isVisible = picture != nil
    }
}
