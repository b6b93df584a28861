import Control
import DBusKit
import DualCamCore
import Frames
import GTK
import ViewCore

/// The live picture of each camera: its preview or, as long as there is none, its part of the
/// stream.
final class CameraPictures {
    private unowned let owner: PictureWindow
    private let previews: PreviewPictures?
    private var newest: [String: Paintable] = [:]
    /// The previews of the roles.
    private(set) var pixels = PerRole<Pixels?>(back: nil, front: nil)
    /// The parts of the stream.
    private(set) var parts = PerRole<Paintable?>(back: nil, front: nil)
    /// The cameras of the roles, as the daemon lists them.
    private var own = PerRole<String?>(back: nil, front: nil)

    init(_ owner: PictureWindow) {
        self.owner = owner
        previews = owner.daemon.flatMap { try? PreviewPictures($0) }
    }

    /// Takes what the cameras of both roles, and `others`, see now; no camera opens for that
    /// unless it `isWatched`.
    func update(isWatched: Bool, others: [String] = []) {
        let isWatched = isWatched && owner.daemon?.isPresent == true
        own = PerRole { owner.choice(of: $0).chosen.device }
        let devices = Role.allCases.map(\.rawValue) + others
        previews?.follow(isWatched ? devices : [])
        for device in devices {
            if let pixels = previews?.take(device) {
                newest[device] = pixels.texture(of: .unit)
                if let role = Role(rawValue: device) { self.pixels[role] = pixels }
            } else if previews?.isLive(device) != true {
                // What stayed would pass for live, also while privacy is on.
                newest[device] = nil
                if let role = Role(rawValue: device) { pixels[role] = nil }
            }
        }
        let (areas, main) = (owner.areas, owner.main)
        for role in Role.allCases {
            let part = role == main ? areas.main : areas.other
            parts[role] = part.flatMap { owner.newest?.texture(of: $0) }
        }
    }

    /// The picture of a role's camera.
    subscript(_ role: Role) -> Paintable? { newest[role.rawValue] ?? parts[role] }

    /// The picture of the camera that is called `device` in the list of cameras.
    subscript(_ device: String) -> Paintable? {
        Role.allCases.first { own[$0] == device }.map { self[$0] } ?? newest[device]
    }
}

/// A camera's live picture with a word in its corner, and what belongs to it on it.
final class CameraTile {
    let widget: Overlay
    let picture = Picture()
    private let badge = Label()
    private let waiting = Spinner()

    init(_ size: Size, _ controls: [Widget] = []) {
        widget = Overlay(room: size)
        widget.style("tile-picture").clip().place(.center, .start)
        widget.add(picture)
        widget.add(waiting.place(.center, .center))
        widget.add(badge.style("badge").place(.start, .start, margin: 8))
        if !controls.isEmpty {
            controls.forEach { $0.style("disc") }
            widget.add(Box(spacing: 4, controls).place(.end, .start, margin: 8))
        }
    }

    /// Shows `words` over `paintable`; without one it waits, if it `isWaiting`.
    func show(_ words: String, _ paintable: Paintable?, isWaiting: Bool) {
        badge.text = words
        badge.isVisible = !words.isEmpty
        picture.show(paintable)
        waiting.isSpinning = isWaiting && paintable == nil
    }
}

/// A scene, small: the cameras' pictures composed as the stream would be.
final class Miniature {
    let widget: Overlay
    private let size: Size
    private let place = Fixed()
    private let (main, other) = (Picture(), Picture())
    private let words = Label("", wraps: true)

    init(_ size: Size) {
        self.size = size
        main.style("empty")
        other.style("inset").clip()
        place.add(main)
        place.add(other)
        widget = Overlay(room: size)
        widget.add(place)
        widget.style("miniature").clip().place(.center, .center)
        widget.add(words.place(.fill, .center, margin: 4))
    }

    func show(_ look: SceneLook, _ pictures: CameraPictures) {
        let areas = look.areas(aspect: Double(size.width) / Double(size.height))
        words.text = look.settings.title?.text ?? ""
        for (picture, area, role) in [
            (main, areas.main, look.main), (other, areas.other, look.main.other),
        ] {
            picture.isVisible = area != nil && !look.isPrivate
            guard let area, picture.isVisible else { continue }
            let place = Rect(size).part(area)
            picture.request(width: Int(place.width), height: Int(place.height))
            self.place.move(picture, x: place.x, y: place.y)
            picture.show(pictures[role])
        }
        let shape = look.settings.scene.style.insetShape
        other.style("round", if: areas.hasInset && shape == .circle)
        other.style("bordered", if: areas.hasInset && shape != .person)
    }
}
