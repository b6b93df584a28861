import Control
import DBusKit
import DualCamCore
import Frames
import GTK
import ViewCore

/// The window that adds a phone: a code to scan, how it goes, and which picture the phone is to be.
///
/// - Context: bound to GTK's thread.
final class PhoneWindow: NewCameraWindow {
    private var url = ""
    /// `true` once the daemon has begun to wait for the phone.
    private var hasBegun = false
    private var isOver = false
    private var following: MainLoop.Timer?
    private var patience: MainLoop.Timer?
    private let picture: DrawingArea
    private let address = Label().shortens()
    private let again = Button("New Code")

    /// The side of the code in pixels: a multiple of the modules of one with its margin.
    private static let side = 41 * 6

    init(over owner: PictureWindow) {
        let shown = Shown()
        picture = DrawingArea { canvas, size in Self.draw(shown.code, on: canvas, size) }
        picture.request(width: Self.side, height: Self.side)
        picture.place(.center, .center)
        super.init(
            over: owner,
            "Add Phone",
            Size(width: 400, height: 480),
            before: [picture, address.style("numeric")],
            after: [again.place(.center, .center)]
        )
        camera = ("phone", Options())
        again.onClick { [unowned self] in pair(shown) }
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
}
