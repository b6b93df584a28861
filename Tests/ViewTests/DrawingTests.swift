import Control
import DBusKit
import Foundation
import Frames
import TestSupport
import Testing

/// The drawing of the window without a GPU.
@Suite(.serialized) struct DrawingTests {
    @Test func `A picture that is put past GTK is the one that GTK draws`() throws {
        try ShownWindow.with { window in
            // A picture that stands still, and nothing over it.
            try window.desktop.hand("mousemove 5 5")
            try window.daemon.scene.set(\.layout, "single")
            try window.daemon.back.set(\.frozen, true)
            // The left of the picture, with controls at its top and its bottom.
            let left = PixelRect(
                x: window.place.x,
                y: window.place.y,
                width: 120,
                height: window.size.height
            )
            var alone: [[Int]] = []
            try eventually("a picture that stands still", within: 15) {
                let before = alone
                alone = try window.desktop.colors(left)
                return alone == before
            }
            // Between the controls.
            let rows = (60 * left.width)..<(190 * left.width)
            try window.hand(at: 100, 100, "mousemove_relative 3 3")
            try eventually("controls, and nothing else that changed", within: 15) {
                let colors = try window.desktop.colors(left)
                return colors != alone && colors[rows] == alone[rows]
            }
            try window.desktop.hand("mousemove 5 5")
            try eventually("the picture alone", within: 15) {
                try window.desktop.colors(left) == alone
            }
        }
    }

    @Test func `Without a GPU nothing of OpenGL's drivers is loaded`() throws {
        try ShownWindow.with { window in
            let maps = try window.desktop.run("cat", "/proc/\(window.program.id)/maps")
            #expect(maps.contains("libgtk-4"))
            for driver in ["libLLVM", "swrast", "libgallium"] {
                #expect(!maps.contains(driver), "\(driver)")
            }
        }
    }
}
