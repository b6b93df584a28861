import Glibc

/// The magnification of a lens on its button: ".5", "1", "3.5".
package enum LensFactor {
    /// Returns the text for a magnification.
    package static func text(_ factor: Double) -> String {
        let shown = (factor * 10).rounded() / 10
        let text = Int(exactly: shown).map { "\($0)" } ?? "\(shown)"
        return text.hasPrefix("0.") ? String(text.dropFirst()) : text
    }
}

/// The part of a camera's picture that is shown, as far as the window has chosen it.
package struct ZoomView: Hashable, Sendable {
    package private(set) var zoom: Double
    /// The middle of what is shown, in fractions of the whole picture.
    package private(set) var x = 0.5
    /// The middle of what is shown, from the top.
    package private(set) var y = 0.5

    /// Creates a view of a picture at this magnification, about its middle.
    package init(zoom: Double) { self.zoom = max(zoom, 0.01) }

    /// Changes the magnification so that what is shown at a point, in fractions of what is shown,
    /// stays there as far as the picture's edges allow.
    package mutating func magnify(to wanted: Double, atX pointX: Double, y pointY: Double) {
        let wanted = max(wanted, 0.01)
        x = Self.middle(x, pointX, zoom, wanted)
        y = Self.middle(y, pointY, zoom, wanted)
        zoom = wanted
    }

    private static func middle(
        _ middle: Double,
        _ point: Double,
        _ zoom: Double,
        _ wanted: Double
    ) -> Double {
        guard wanted > 1 else { return 0.5 }
        let offset = min(max(point, 0), 1) - 0.5
        let fixed = middle + offset / max(zoom, 1)
        return min(max(fixed - offset / wanted, 0.5 / wanted), 1 - 0.5 / wanted)
    }
}
