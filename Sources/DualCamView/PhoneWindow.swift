import Control
import DBusKit
import DualCamCore
import Frames
import GTK
import ViewCore

/// The window that adds a phone: a code to scan, then its picture, and which one it is to be.
///
/// - Context: bound to GTK's thread.
final class PhoneWindow {
    let window: Window
    private unowned let owner: PictureWindow
    private let previews: PreviewPictures?
    private var url = ""
    private var code: [String] = []
    /// `true` once the daemon has begun to wait for the phone.
    private var hasBegun = false
    /// The reason that the phone cannot be added now, in words; and that it cannot be used.
    private var failure, refusal: String?
    /// The phone's last picture.
    private var newest: Paintable?
    private var following: MainLoop.Timer?
    private var patience: MainLoop.Timer?

    private let card = Overlay(room: Size(width: PhoneWindow.side, height: PhoneWindow.side))
    private let title = Label("", wraps: true).leads().style("title-2")
    private let words = Label("", wraps: true).leads().style("dim-label")
    private let help = PreferencesGroup("")
    private let address = Row("Or open this address")
    private let late = Row("No phone yet")
    private let tile = CameraTile(Size(width: 432, height: 243))
    private let main = Button("Main Picture").style("suggested-action")
    private let inset = Button("Inset")
    private let again = Button("New Code").place(.start, .center)
    private let uses: Box

    /// The side of the code in pixels: a multiple of the modules of one with its margin.
    private static let side = 41 * 5
    /// The name of the phone as a camera.
    private static let source = "phone"

    init(over owner: PictureWindow, closed: @escaping () -> Void) {
        self.owner = owner
        previews = owner.daemon.flatMap { try? PreviewPictures($0) }
        uses = Box(spacing: 12, [main, inset]).place(.center, .center)
        let text = Box(vertical: true, spacing: 8, [title, words, again])
        let head = Box(spacing: 24, [card, text.expand(true, false).place(.fill, .center)])
        help.append(Row("About the warning", PhoneWords.scan.dropFirst().joined(separator: " ")))
        help.append(address)
        help.append(late)
        let column = Box(vertical: true, spacing: 24, [head, tile.widget, uses, help])
        column.setMargins(24)
        let cancel = Button("Cancel")
        window = Window(
            owner.application,
            title: "Add Phone",
            size: Size(width: 480, height: 440),
            Box(vertical: true, [HeaderBar([cancel], []), column])
        )
        window.belongs(to: self)
        window.setParent(owner.window)
        let picture = DrawingArea { [unowned self] in draw(on: $0, $1) }
        card.style("card").clip().place(.center, .center).add(picture)
        picture.describe("Code with the address that the phone opens")
        window.onClose { [unowned self, unowned owner] in
            (following, patience) = (nil, nil)
            previews?.follow([])
            owner.daemon?.call(\PhoneInterface.cancel, ())
            closed()
            return false
        }
        cancel.onClick { [unowned self] in window.close() }
        again.onClick { [unowned self, unowned picture] in pair(picture) }
        main.onClick { [unowned self] in use(\SceneInterface.main) }
        inset.onClick { [unowned self] in use(\SceneInterface.inset) }
        window.closesOnKey()
        pair(picture)
        window.present()
        following = MainLoop.Timer(every: 0.1) { [unowned self] in follow() }
    }

    private func draw(on canvas: Canvas, _ size: Size) {
        canvas.fill(Rect(size), .white())
        // Whole pixels, with a margin of four modules.
        let step = Self.side / (code.count + 8)
        let start = (Self.side - step * code.count) / 2
        for (y, row) in code.enumerated() {
            for (x, module) in row.enumerated() where module == "1" {
                let (x, y) = (Double(start + x * step), Double(start + y * step))
                let side = Double(step)
                canvas.fill(Rect(x: x, y: y, width: side, height: side), .black(1))
            }
        }
    }

    private func pair(_ picture: DrawingArea) {
        (hasBegun, failure, late.isVisible) = (false, nil, false)
        owner.daemon?.call(\PhoneInterface.pair, ()) { [weak self, weak picture] answer in
            guard let self else { return }
            switch answer {
            case .success(let offer):
                (url, code) = offer
                address.words = url
                late.words = PhoneWords.nobody(url)
                patience = MainLoop.Timer(after: PhoneWords.patience) { [unowned self] in
                    late.isVisible = true
                }
            case .failure(let error): failure = PictureWindow.words(error)
            }
            picture?.redraw()
            follow()
        }
        follow()
    }

    private func follow() {
        let state = (owner.daemon?[\PhoneInterface.state])
            .flatMap { PhoneReport.State(rawValue: $0) }
        if state != nil { hasBegun = true } else if hasBegun { failure = "This code is used up." }
        let isPaired = failure == nil && owner.daemon?[\PhoneInterface.paired] == true
        let isThere = isPaired && [.live, .ready].contains(state)
        previews?.follow(isThere && window.isMapped ? [Self.source] : [])
        if let pixels = previews?.take(Self.source) { newest = pixels.texture(of: .unit) }
        if !isThere { newest = nil }
        tile.show("", newest, isWaiting: true)
        tile.widget.isVisible = isThere
        uses.isVisible = isThere
        card.isVisible = !isPaired && failure == nil
        help.isVisible = card.isVisible && state?.words == nil && !url.isEmpty
        again.isVisible = failure != nil
        title.text =
            failure != nil
            ? "No phone was added" : isThere ? "The phone is connected" : "Scan with your phone"
        words.text =
            failure ?? refusal ?? state?.words
            ?? (isThere
                ? "Use it as:" : "Its browser asks for the camera. Keep both on the same Wi-Fi.")
    }

    private func use(_ place: KeyPath<SceneInterface, PropertyMember<ObjectPath>>) {
        guard let path = owner.daemon?[place] else { return }
        owner.daemon?.call(\CameraInterface.use, at: path, Self.source) { [weak self] answer in
            switch answer {
            case .success: self?.window.close()
            case .failure(let error): self?.refusal = PictureWindow.words(error)
            }
        }
    }
}
