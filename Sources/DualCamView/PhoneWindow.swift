import Control
import DBusKit
import DualCamCore
import Frames
import GTK
import ViewCore

/// The window that adds a phone: a code to scan, how it goes, and which picture the phone is to be.
///
/// - Context: bound to GTK's thread.
final class PhoneWindow: SideWindow {
    private var url = ""
    /// `true` once the daemon has begun to wait for the phone.
    private var hasBegun = false
    private var isOver = false
    /// The words for what went wrong last.
    private var trouble: String?
    private var following: MainLoop.Timer?
    private var patience: MainLoop.Timer?
    private let picture: DrawingArea
    private let address = Label().shortens()
    private let words = Label(PhoneWords.scan.joined(separator: " "), wraps: true)
    private let main = Button("Main Picture")
    private let inset = Button("Inset")
    private let again = Button("New Code")
    private let uses: Box

    /// The side of the code in pixels: a multiple of the modules of one with its margin.
    private static let side = 41 * 6

    init(over owner: PictureWindow) {
        let shown = Shown()
        picture = DrawingArea { canvas, size in Self.draw(shown.code, on: canvas, size) }
        picture.request(width: Self.side, height: Self.side)
        picture.place(.center, .center)
        uses = Box(spacing: 12, [main.style("suggested-action"), inset]).place(.center, .center)
        let done = Button("Done")
        let content = [
            picture, address.style("numeric"), words, uses, again.place(.center, .center),
        ]
        let column = Box(vertical: true, spacing: 16, content).place(.fill, .fill, margin: 24)
        super.init(
            over: owner,
            Window(
                owner.application,
                title: "Add Phone",
                size: Size(width: 400, height: 480),
                Box(vertical: true, [HeaderBar([], [done]), column])
            )
        )
        done.onClick { [unowned self] in window.close() }
        again.onClick { [unowned self] in pair(shown) }
        main.onClick { [unowned self] in use(\SceneInterface.main) }
        inset.onClick { [unowned self] in use(\SceneInterface.inset) }
        pair(shown)
        window.present()
        following = MainLoop.Timer(every: 0.25) { [unowned self] in show() }
    }

    override func closed() {
        (following, patience) = (nil, nil)
        owner.daemon?.call(\PhoneInterface.cancel, ())
    }

    /// The code that is drawn.
    private final class Shown {
        var code: [String] = []
    }

    private static func draw(_ code: [String], on canvas: Canvas, _ size: Size) {
        guard !code.isEmpty else { return }
        let white = Color.white()
        canvas.fill(Rect(x: 0, y: 0, width: Double(size.width), height: Double(size.height)), white)
        // Whole pixels, with a margin of four modules.
        let step = min(size.width, size.height) / (code.count + 8)
        let start = (min(size.width, size.height) - step * code.count) / 2
        for (y, row) in code.enumerated() {
            for (x, module) in row.enumerated() where module == "1" {
                canvas.fill(
                    Rect(
                        x: Double(start + x * step),
                        y: Double(start + y * step),
                        width: Double(step),
                        height: Double(step)
                    ),
                    .black(1)
                )
            }
        }
    }

    private func pair(_ shown: Shown) {
        (hasBegun, isOver, trouble) = (false, false, nil)
        words.text = PhoneWords.scan.joined(separator: " ")
        owner.daemon?.call(\PhoneInterface.pair, ()) { [weak self] answer in
            guard let self else { return }
            switch answer {
            case .success(let (url, code)):
                (shown.code, self.url) = (code, url)
                address.text = url
                picture.describe("Code with the address \(url)")
                patience = MainLoop.Timer(after: PhoneWords.patience) { [unowned self] in help() }
            case .failure(let error):
                shown.code = []
                (isOver, trouble) = (true, PictureWindow.words(error))
            }
            picture.redraw()
            show()
        }
    }

    private var state: PhoneReport.State? {
        (owner.daemon?[\PhoneInterface.state]).flatMap { PhoneReport.State(rawValue: $0) }
    }

    private func help() {
        let port = url.split(separator: ":").last?.prefix { $0 != "/" } ?? ""
        if state == .waiting { words.text = PhoneWords.nobody(port: port) }
    }

    private func show() {
        if state != nil {
            hasBegun = true
        } else if hasBegun, !isOver {
            (isOver, trouble) = (true, "This code is no longer valid.")
        }
        let isPaired = owner.daemon?[\PhoneInterface.paired] == true
        let isThere = isPaired && [.live, .ready].contains(state)
        uses.isVisible = isThere && !isOver
        picture.isVisible = !isPaired && !isOver
        address.isVisible = picture.isVisible
        again.isVisible = isOver
        if isThere { words.text = "The phone is connected. Use it as:" }
        if let text = trouble ?? state?.words { words.text = text }
    }

    private func use(_ place: KeyPath<SceneInterface, PropertyMember<ObjectPath>>) {
        guard let path = owner.daemon?[place] else { return }
        trouble = nil
        owner.daemon?.call(\CameraInterface.use, at: path, "phone") { [weak self] answer in
            switch answer {
            case .success: self?.window.close()
            case .failure(let error): self?.trouble = PictureWindow.words(error)
            }
        }
    }
}
