import Control
import DualCamCore
import Frames
import GTK
import Imaging
import Platform

/// The choice of what a camera's picture shows behind a person, as small live pictures.
///
/// - Context: bound to GTK's thread.
final class RoomTiles {
    let group: PreferencesGroup
    private let role: Role
    private unowned let rows: PreferenceRows
    private let tiles: [(room: Room?, button: ToggleButton, tile: CameraTile)]
    private lazy var filter = RoomFilter()
    private let converter = ScreenPicture()
    /// The preview that was blurred last.
    private var shown: Pixels?

    /// The ways; the last one is a picture, which people choose.
    private static let ways: [(room: Room?, words: String)] = [
        (.asIs, "As it is"), (.blur, "Blurred"), (nil, "Picture…"),
    ]

    init(_ role: Role, _ rows: PreferenceRows) {
        (self.role, self.rows) = (role, rows)
        tiles = Self.ways.map { room, words in
            let tile = CameraTile(Size(width: 144, height: 81))
            let column = Box(vertical: true, spacing: 4, [tile.widget, Label(words)])
            return (room, ToggleButton(column, words).style("flat", "pick-tile"), tile)
        }
        let box = FlowBox(most: 3, spacing: 8)
        let title = role == .front ? "The room behind you" : "The room in your view"
        group = PreferencesGroup(title, [box])
        for (room, button, _) in tiles {
            box.append(button)
            button.onToggle { [unowned self] _ in
                if let room { set(room.description) } else { choose() }
                // The present one stays marked.
                follow()
            }
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
        for (room, button, _) in tiles {
            button.isOn = room.map { $0.description == present } ?? isPicture
            button.isSensitive = rows.isPresent
        }
    }

    /// Shows what the camera sees now.
    func show() {
        tiles[0].tile.show("", rows.pictures[role], isWaiting: false)
        // The stream shows the picture that was chosen.
        tiles[2].tile.show("", isPicture ? rows.pictures.parts[role] : nil, isWaiting: false)
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
        tiles[1].tile.show("", isBlurred ? blurred.texture(of: .unit) : nil, isWaiting: false)
    }
}
