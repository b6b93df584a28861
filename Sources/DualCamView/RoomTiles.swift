import Control
import DualCamCore
import Frames
import GTK
import Imaging
import Platform

/// The choice of what a camera's picture shows behind a person, as small live pictures.
final class RoomTiles {
    let group: PreferencesGroup
    private let role: Role
    private unowned let rows: PreferenceRows
    private let tiles: [CameraTile]
    /// The ways, by the word for `Room`; that of a picture, which people choose, is empty.
    private let ways: ToggleGroup<String>
    private lazy var filter = RoomFilter()
    private let converter = ScreenPicture()
    /// The preview that was blurred last.
    private var shown: Pixels?

    init(_ role: Role, _ rows: PreferenceRows) {
        (self.role, self.rows) = (role, rows)
        let words = [(Room.asIs.description, "As it is"), (Room.blur.description, "Blurred")]
        let tiles = (0...words.count).map { _ in CameraTile(Size(width: 144, height: 81)) }
        self.tiles = tiles
        ways = ToggleGroup(
            zip(words + [("", "Picture…")], tiles).map { way, tile in
                let column = Box(vertical: true, spacing: 4, [tile.widget, Label(way.1)])
                return (way.0, ToggleButton(column, way.1).style("flat", "pick-tile"))
            }
        )
        let box = FlowBox(most: 3, spacing: 8)
        let title = role == .front ? "The room behind you" : "The room in your view"
        group = PreferencesGroup(title, [box])
        for (_, button) in ways.buttons { box.append(button) }
        ways.onChoice { [unowned self] word in
            if word.isEmpty { choose() } else { set(word) }
            // The present one stays marked.
            follow()
        }
        rows.bind { [unowned self] in follow() }
    }

    private var present: String? { rows.daemon?[\CameraInterface.room, at: role.path] }

    private var isPicture: Bool { present.map { $0.contains("/") } ?? false }

    private func set(_ room: String) {
        guard room != present else { return }
        rows.daemon?.set(\CameraInterface.room, at: role.path, to: room, rows.answered)
    }

    private func choose() {
        rows.window?.choose("A Picture Behind You", isFolder: false) { [weak self] in
            self?.set($0)
        }
    }

    private func follow() {
        ways.chosen = isPicture ? "" : present
        for (_, button) in ways.buttons { button.isSensitive = rows.isPresent }
    }

    func show() {
        tiles[0].show("", rows.pictures[role], isWaiting: false)
        // The stream shows the picture that was chosen.
        tiles[2].show("", isPicture ? rows.pictures.parts[role] : nil, isWaiting: false)
        guard let preview = rows.pictures.pixels[role], preview !== shown else { return }
        shown = preview
        let blurred = Pixels(preview.size)
        let isBlurred = converter.hideRoom(
            in: preview.memory.assumingMemoryBound(to: UInt8.self),
            stride: preview.stride,
            preview.size,
            at: MonotonicClock.now,
            with: filter,
            to: blurred.memory.assumingMemoryBound(to: UInt8.self)
        )
        tiles[1].show("", isBlurred ? blurred.texture(of: .unit) : nil, isWaiting: false)
    }
}
