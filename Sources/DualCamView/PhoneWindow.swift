import Control
import DBusKit
import DualCamCore
import Frames
import GTK
import ViewCore

/// The window that adds a phone: a code to scan, then its picture, and which one it is to be.
final class PhoneWindow: NewCameraWindow {
    private var url = ""
    private var code: [String] = []
    /// `true` once the daemon has begun to wait for the phone.
    private var hasBegun = false
    /// `true` if the phone cannot be added by this code.
    private var isOver = false
    private var patience: MainLoop.Timer?

    private let card = Overlay(room: Size(width: PhoneWindow.side, height: PhoneWindow.side))
    private let title = Label("").style("title-2")
    private let help = PreferencesGroup("")
    private let address = Row("Or open this address")
    private let late = Row("No phone yet")
    private let again = Button("New Code").place(.center, .center)

    /// The side of the code in pixels: a multiple of the modules of one with its margin.
    private static let side = 41 * 5

    init(over owner: PictureWindow) {
        help.append(Row("About the warning", PhoneWords.scan.dropFirst().joined(separator: " ")))
        help.append(address)
        help.append(late)
        super.init(over: owner, "Add Phone", before: [card, title], after: [again, help])
        camera = ("phone", Options())
        let picture = DrawingArea()
        picture.onDraw { [unowned self] in draw(on: $0, $1) }
        card.style("card").clip().place(.center, .center).add(picture)
        picture.describe("Code with the address that the phone opens")
        again.onClick { [unowned self, unowned picture] in pair(picture) }
        pair(picture)
        present()
    }

    override func closed() {
        super.closed()
        patience = nil
        owner.daemon?.call(\PhoneInterface.cancel, ())
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
        (hasBegun, isOver, trouble, late.isVisible, patience) = (false, false, nil, false, nil)
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
            case .failure(let error): (isOver, trouble) = (true, PictureWindow.words(error))
            }
            picture?.redraw()
            show()
        }
    }

    override func show() {
        let state = (owner.daemon?[\PhoneInterface.state])
            .flatMap { PhoneReport.State(rawValue: $0) }
        if state != nil {
            hasBegun = true
        } else if hasBegun, !isOver {
            (isOver, trouble) = (true, "This code is used up.")
        }
        let isPaired = !isOver && owner.daemon?[\PhoneInterface.paired] == true
        let isThere = isPaired && [.live, .ready].contains(state)
        showPicture(isThere)
        tile.widget.isVisible = isThere
        uses.isVisible = isThere
        card.isVisible = !isPaired && !isOver
        help.isVisible = card.isVisible && state?.words == nil && !url.isEmpty
        again.isVisible = isOver
        title.text =
            isOver
            ? "No phone was added" : isThere ? "The phone is connected" : "Scan with your phone"
        words.text =
            trouble ?? state?.words
            ?? (isThere
                ? "Use it as:" : "Its browser asks for the camera. Keep both on the same Wi-Fi.")
    }
}
