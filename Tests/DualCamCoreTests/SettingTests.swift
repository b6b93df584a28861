import Testing

@testable import DualCamCore

@Suite("The rows of settings") struct SettingTests {
    /// Returns the values of all stored properties of `value`, by their names.
    private func parts(_ value: Any, _ name: String = "") -> [String: String] {
        let children = Mirror(reflecting: value).children.filter { $0.label != nil }
        guard Mirror(reflecting: value).displayStyle == .struct, value as? Title == nil,
            value as? Perspective == nil, value as? NormalizedPoint == nil,
            value as? ControlLock == nil, !children.isEmpty
        else { return [name: "\(value)"] }
        return children.reduce(into: [:]) { all, child in
            all.merge(parts(child.value, "\(name).\(child.label ?? "")")) { $1 }
        }
    }

    /// Checks that each row sets one property, and returns those that are set.
    private func set<Owner>(
        _ rows: [Setting<Owner>],
        _ initial: Owner,
        _ values: [String: Plain]
    ) throws -> Set<String> {
        let before = parts(initial)
        return try rows.reduce(into: []) { all, row in
            var owner = initial
            try row.read(try #require(values[row.key], "\(row.key): a value here"), &owner)
            let changed = parts(owner).filter { before[$0.key] != $0.value }.map(\.key)
            #expect(changed.count == 1, "\(row.key) sets \(changed)")
            #expect(row.differs(initial, owner) && row.plain(owner) != row.plain(initial))
            var copied = initial
            row.copy(owner, &copied)
            #expect(!row.differs(owner, copied), "\(row.key)")
            all.formUnion(changed)
        }
    }

    @Test func eachSettingHasARowAndEachRowSetsIt() throws {
        let off = Plain.bool(false)
        let shared = try set(
            Settings.rows,
            Settings(),
            [
                "swapped": .bool(true), "main": .text("front"), "pro": .bool(true),
                "dial": .text("focus"), "orientation": .text("left-up"),
                "title": .list([.text("a")]), "title-corner": .text("top-left"),
                "privacy": .bool(true), "layout": .text("single"), "inset-visible": off,
                "inset-shape": .text("circle"), "inset-corner": .text("top-left"),
                "inset-position": .list([.int(1), .double(0.3)]), "inset-size": .double(0.3),
                "inset-margin": .int(0), "inset-border": .int(1), "inset-radius": .int(1),
                "gap": .int(1), "background": .text("crop"), "swap-duration-ms": .int(1),
                "swap-icon": off, "record-mark": off, "hud": .text("off"),
                "live-photo": .bool(true), "close-at-lock": off, "away": .text("/a.png"),
            ]
        )
        let all = parts(Settings()).keys.filter { !$0.hasPrefix(".cameras") }
        #expect(shared == Set(all), "add a row to Settings.rows")
        let corners = [[0.0, 0.1], [1, 0], [1, 1], [0, 1]].map {
            Plain.list($0.map { .double($0) })
        }
        let camera = try set(
            CameraSettings.rows,
            CameraSettings(),
            [
                "mirror": .bool(true), "rotation": .int(90), "perspective": .list(corners),
                "ink": .bool(true), "room": .text("blur"), "room-blur": .int(1), "zoom": .int(2),
                "framing": .text("calm"), "framing-tightness": .int(1), "metering": .text("face"),
                "zoom-at": .list([.int(0), .int(1)]),
                "iso": .int(100), "shutter": .int(100), "holds-shutter": .bool(true),
                "focus": .int(1), "white-balance": .text("shade"), "compensation": .int(1),
                "lock": .list([.text("wb")]),
            ].merging(ImageControl.allCases.map { ($0.rawValue, .int(1)) }) { $1 }
        )
        #expect(
            camera.union([".isZoomAsked"]) == Set(parts(CameraSettings()).keys),
            "add a row to CameraSettings.rows"
        )
    }

    @Test func keysOfAFileAreUnique() {
        for rows in [Settings.rows.map(\.key), Settings.scenes.map(\.key)] {
            #expect(Set(rows).count == rows.count)
        }
        let kept = CameraSettings.rows.filter { $0.keeping != nil }.map(\.key)
        #expect(Set(kept).count == kept.count)
    }

    @Test func aStepLeadsOnFromWhatThereIs() throws {
        var settings = Settings()
        func step(_ key: String, _ change: Double) throws -> (Plain?, Bool?) {
            let row = try #require(Settings.rows.first { $0.key == key })
            let isLimited = row.step(change, &settings)
            return (row.plain(settings), isLimited)
        }
        for layout in ["side-by-side", "stacked", "single", "pip"] {
            #expect(try step("layout", 1) == (.text(layout), false))
        }
        #expect(try step("layout", -1) == (.text("single"), false))
        #expect(try step("layout", 0.5) == (.text("single"), nil))
        for edge in ["normal", "left-up", "right-up", "bottom-up", "auto"] {
            #expect(try step("orientation", 1) == (.text(edge), false))
        }
        #expect(try step("orientation", -1) == (.text("bottom-up"), false))
        #expect(try step("inset-visible", 1) == (.bool(false), false))
        #expect(try step("inset-visible", 2) == (.bool(false), false))
        for size in [0.3, 0.35, 0.4] {
            #expect(try step("inset-size", 0.05) == (.double(size), false))
        }
        #expect(try step("inset-size", 1) == (.double(0.5), true))
        #expect(try step("title", 1) == (.list([]), nil))
        let rotation = try #require(CameraSettings.rows.first { $0.key == "rotation" })
        var camera = CameraSettings()
        for (change, angle) in [(-90.0, 270), (90, 0), (450, 90), (45, 90), (1e18, 90)] {
            _ = rotation.step(change, &camera)
            #expect(camera.rotation == angle)
        }
    }

    @Test func aPerspectiveTurnedBackIsTheSame() throws {
        let points = [(0.1, 0.3), (0.7, 0.2), (0.9, 0.8), (0.2, 0.9)]
        let page = try Perspective(points.map { NormalizedPoint(x: $0.0, y: $0.1) })
        for rotation in [0, 90, 180, 270] {
            var camera = CameraSettings(rotation: rotation)
            camera.perspective = page
            #expect(camera.perspective == page)
        }
    }
}
