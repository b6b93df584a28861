import Control
import DBusKit
import DualCamCore
import Frames
import GTK

/// A window that adds a camera, and makes it one of the two pictures.
///
/// - Context: bound to GTK's thread.
class NewCameraWindow: SideWindow {
    let words = Label("", wraps: true)
    /// The buttons that use the camera.
    let uses = Box(spacing: 12).place(.center, .center)
    /// The camera, by the word for `Camera.Use`, with its user and password.
    var camera: (device: String, login: Options<Control.Login>)?
    /// The words for what went wrong last.
    var trouble: String?

    /// Creates the window, with what is before and after its words.
    init(
        over owner: PictureWindow,
        _ title: String,
        _ size: Size,
        before: [Widget],
        after: [Widget] = []
    ) {
        let content = before + [words, uses] + after
        let column = Box(vertical: true, spacing: 16, content).place(.fill, .fill, margin: 24)
        let done = Button("Done")
        super.init(
            over: owner,
            Window(
                owner.application,
                title: title,
                size: size,
                Box(vertical: true, [HeaderBar([], [done]), column])
            )
        )
        done.onClick { [unowned self] in window.close() }
        let main = Button("Main Picture").style("suggested-action")
        uses.append(main.onClick { [unowned self] in use(\SceneInterface.main) })
        uses.append(Button("Inset").onClick { [unowned self] in use(\SceneInterface.inset) })
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
///
/// - Context: bound to GTK's thread.
final class NetworkWindow: NewCameraWindow {
    private let address = EntryRow("Address")
    private let user = EntryRow("User")
    private let password = EntryRow("Password", isSecret: true)
    private let tile = CameraTile(Size(width: 320, height: 180))
    private let previews: PreviewPictures?
    private var picture: Paintable?
    private var following: MainLoop.Timer?

    init(over owner: PictureWindow) {
        previews = owner.daemon.flatMap { try? PreviewPictures($0) }
        let attempt = Button("Try").place(.center, .center)
        super.init(
            over: owner,
            "Add Network Camera",
            Size(width: 420, height: 540),
            before: [PreferencesGroup("", [address, user, password]), attempt, tile.widget]
        )
        words.text = "As in “192.168.1.20:8080/video” or “rtsp://camera/live”"
        attempt.onClick { [unowned self] in begin() }
        for row in [address, user, password] { row.onReturn { [unowned self] in begin() } }
        previews?.onTrouble = { [unowned self] in
            // One that was tried before is just being closed.
            guard !$0.name.hasSuffix(".Busy") else { return }
            (trouble, camera) = (PictureWindow.words($0), nil)
        }
        window.present()
        address.grabFocus()
        following = MainLoop.Timer(every: 0.1) { [unowned self] in show() }
        show()
    }

    override func closed() {
        following = nil
        previews?.follow([])
    }

    /// Tries what people wrote.
    private func begin() {
        let text = address.text.filter { $0 != " " }
        guard !text.isEmpty else { return }
        let place = text.contains("://") ? text : "http://\(text)"
        var login = Options<Control.Login>()
        if !user.text.isEmpty { (login.user, login.password) = (user.text, password.text) }
        previews?.follow([])
        previews?.login = login
        camera = (place.hasPrefix("url:") ? place : "url:\(place)", login)
        (picture, trouble) = (nil, nil)
        show()
    }

    private func show() {
        let isSeen = window.isMapped && !window.isMinimized
        previews?.follow(isSeen ? [camera?.device].compactMap { $0 } : [])
        if let device = camera?.device {
            if let pixels = previews?.take(device) { picture = pixels.texture(of: .unit) }
            if previews?.isLive(device) != true { picture = nil }
            words.text = picture == nil ? "Connecting…" : "This is its picture. Use it as:"
        } else {
            picture = nil
        }
        if let trouble { words.text = trouble }
        tile.show("", picture, isWaiting: camera != nil)
        uses.isVisible = picture != nil
    }
}
