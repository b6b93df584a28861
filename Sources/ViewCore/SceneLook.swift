package import DualCamCore
import Frames

/// The arrangement of the cameras' pictures in a scene, as far as a small picture shows it.
package struct SceneLook: Hashable, Sendable {
    package var main = Role.back
    package var layout = Layout.pip
    package var corner = Corner.topRight
    /// The place of the inset in its room, where that is none of its corners.
    package var place: NormalizedPoint?
    package var size = 0.25
    package var shape = InsetShape.rectangle
    package var isInsetVisible = true
    /// `true` if the cameras are off.
    package var isPrivate = false
    /// The title; empty for none.
    package var words = ""

    package init() {}

    /// Returns the look after a scene with these `values` was chosen; what they do not name stays.
    package func applying(_ values: [String: Plain]) -> SceneLook {
        func text(_ key: String) -> String? { values[key]?.text }
        var look = self
        look.main = text("main").flatMap(Role.init(rawValue:)) ?? main
        look.layout = text("layout").flatMap(Layout.init(rawValue:)) ?? layout
        look.corner = text("inset-corner").flatMap(Corner.init(rawValue:)) ?? corner
        if let numbers = values["inset-position"]?.list?.compactMap(\.number) {
            look.place = NormalizedPoint(numbers)
        } else if values["inset-corner"] != nil {
            look.place = nil
        }
        look.shape = text("inset-shape").flatMap(InsetShape.init(rawValue:)) ?? shape
        look.size = values["inset-size"]?.number ?? size
        look.isInsetVisible = values["inset-visible"]?.bool ?? isInsetVisible
        look.isPrivate = values["privacy"]?.bool ?? false
        look.words =
            (values["title"]?.list ?? []).compactMap(\.text).joined(separator: "\n")
        return look
    }

    /// Returns the places of the pictures in a stream of this shape.
    package func areas(aspect: Double) -> PictureAreas {
        var areas = PictureAreas(
            layout: layout,
            corner: corner,
            size: size,
            isVisible: isInsetVisible,
            aspect: aspect,
            shape: shape
        )
        if shape == .circle, areas.hasInset, let other = areas.other {
            // As high as the rectangle would be, and at its corner.
            let width = other.height / aspect
            let isLeft = corner == .topLeft || corner == .bottomLeft
            areas.other = Rect(
                x: isLeft ? other.x : other.maxX - width,
                y: other.y,
                width: width,
                height: other.height
            )
        }
        if let place, areas.hasInset { areas.other = areas.inset(at: place) }
        return areas
    }
}
