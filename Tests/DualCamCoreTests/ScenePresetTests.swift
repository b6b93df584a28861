import Frames
import Testing

@testable import DualCamCore

@Suite("Saved scenes") struct ScenePresetTests: Reducing {
    var state = State.withTwoCameras()

    private func at(_ seconds: Double) -> Timestamp { Timestamp(seconds: seconds) }

    /// Has the camera of `role` come, and the stream watched.
    private mutating func come(_ role: Role, at seconds: Double = -9) {
        send(
            .assigned(role, role.rawValue),
            .stream(.start),
            .published,
            .consumed(true),
            .streaming(role),
            at: seconds
        )
    }

    /// Returns a preset from TOML: the lines of the whole, then those of the back camera.
    private func preset(_ lines: String, back: String = "") throws -> ScenePreset {
        let text = "[[scene]]\nname = \"x\"\n\(lines)\n[scene.back]\n\(back)\n"
        return try SceneBook(parsing: text).preset("x")
    }

    private mutating func apply(_ preset: ScenePreset, at seconds: Double = 0) -> [Effect] {
        send(.scenes(.apply(preset, as: "x", instantly: false)), at: seconds)
    }

    /// A value for each field, all others than those at the start.
    private static let whole = """
        main = "front"
        layout = "stacked"
        inset-visible = false
        inset-shape = "circle"
        inset-corner = "bottom-left"
        inset-position = [0.2, 0.9]
        inset-size = 0.3
        swap-icon = false
        background = "crop"
        hud = "always"
        pro = true
        title = ["Ada Lovelace", "Engines"]
        title-corner = "top-left"
        privacy = true
        """
    private static let camera = """
        rotation = 90
        mirror = true
        perspective = [[0.2, 0.1], [0.8, 0.15], [0.9, 0.9], [0.1, 0.85]]
        ink = true
        room = "blur"
        room-blur = 0.8
        framing = "calm"
        framing-tightness = 0.8
        metering = "face"
        zoom = 2.5
        zoom-at = [0.4, 0.6]
        iso = 400
        shutter = 4000
        focus = 0.3
        white-balance = "shade"
        compensation = -0.5
        lock = ["exposure", "wb"]
        """ + ImageControl.allCases.map { "\n\($0.rawValue) = 7" }.joined()

    // MARK: Fields

    @Test("what a scene sets is kept over a restart, unless it says otherwise here")
    mutating func everyFieldIsKept() throws {
        for role in Role.allCases { come(role) }
        let preset = try preset(Self.whole)
        _ = apply(preset)
        var later = State.withTwoCameras()
        try SavedState(parsing: SavedState(state).text).restore(&later)
        let kept = later.preset()
        // Privacy has a file of its own.
        for row in Settings.scenes where row.key != "privacy" {
            #expect(
                kept.values[row.key] == preset.values[row.key],
                "\(row.key): say in its row how it is kept, or name it here"
            )
        }
    }

    @Test mutating func everyFieldIsAppliedAndCaptured() throws {
        let preset = try preset(Self.whole, back: Self.camera)
        // The text above has them all.
        #expect(Set(preset.values.keys) == Set(Settings.scenes.map(\.key)))
        #expect(Set(preset.cameras.back.keys) == Set(CameraSettings.scenes.map(\.key)))
        #expect(preset.unreadKeys == [])

        for role in Role.allCases { come(role) }
        let before = state.preset()
        for (key, value) in preset.values { #expect(before.values[key] != value, "\(key)") }
        for (key, value) in preset.cameras.back {
            #expect(before.cameras.back[key] != value, "\(key)")
        }
        let commands = state.commands(of: preset, for: .back, at: at(0))
        #expect(commands.lock == nil && commands.now.last?.key == "back.lock", "after the dials")
        _ = apply(preset)
        // What the daemon and the controls' thread do.
        send(.privacy(.set(true)))
        var controls = state.cameras.back.controls
        for one in commands.now {
            switch one.command {
            case .iso(let iso): controls.manual.iso = iso
            case .shutter(let time): controls.manual.shutter = time
            case .focus(let focus): controls.manual.focus = focus
            case .whiteBalance(let balance): controls.manual.whiteBalance = balance
            case .compensation(let stops): controls.manual.compensation = stops
            case .image(let name, let value): controls.manual.image[name] = value
            case .lockOnly(let subjects):
                for subject in subjects { controls.manual.lock.values[subject] = [:] }
            default: Issue.record("\(one.command)")
            }
        }
        send(.controls(.back, .read(identity: "back", controls)))
        let after = state.preset()
        #expect(after.values == preset.values)
        #expect(after.cameras.back == preset.cameras.back)
        #expect(after.cameras.front == before.cameras.front)
        #expect(state.currentScene == "x")
        // Back to what was there, which is automatic.
        let automatic: [ControlCommand] =
            Dial.allCases.filter { $0 != .whiteBalance }.map { .automatic([$0]) }
            + [.automatic([.whiteBalance]), .compensation(0)]
        let image = ImageControl.allCases.map { ControlCommand.image($0, nil) }
        #expect(commandsNow(of: before) == image + automatic + [.lockOnly([])])
        // So it is where the preset only ends Pro mode, and nothing is done where nothing differs.
        let leaving = try self.preset("pro = false")
        #expect(commandsNow(of: leaving) == automatic, "what is held has nothing to do with Pro")
        #expect(commandsNow(of: preset).isEmpty)
        send(.pro(.setEnabled(false)))
        #expect(commandsNow(of: leaving).isEmpty)
    }

    private func commandsNow(of preset: ScenePreset) -> [ControlCommand] {
        state.commands(of: preset, for: .back, at: at(0)).now.map(\.command)
    }

    // MARK: Lock

    /// Has the back camera hold `subjects`, as its thread reports.
    private mutating func hold(_ subjects: ControlLock.Subject...) {
        var controls = state.cameras.back.controls
        controls.manual.lock = ControlLock()
        for subject in subjects { controls.manual.lock.values[subject] = [:] }
        send(.controls(.back, .read(identity: "back", controls)))
    }

    @Test mutating func aLockIsPartOfWhatIsShown() throws {
        come(.back)
        let open = state.preset()
        send(.scenes(.saved(open, as: "open")))
        #expect(state.currentScene == "open")
        hold(.exposure)
        #expect(state.currentScene == "", "it was saved without")
        #expect(commandsNow(of: open) == [.lockOnly([])])
        let held = state.preset()
        send(.scenes(.saved(held, as: "held")))
        #expect(
            held.cameras.back["lock"] == .list([.text("exposure")])
        )
        #expect(commandsNow(of: held).isEmpty)
        hold(.exposure, .focus)
        #expect(commandsNow(of: held) == [.lockOnly([.exposure])])
        hold()
        #expect(state.currentScene == "" && commandsNow(of: held) == [.lockOnly([.exposure])])
        // One that says nothing of it leaves it.
        #expect(commandsNow(of: try preset("")).isEmpty)
    }

    @Test mutating func aDialThatEndsALockComesBeforeIt() throws {
        come(.back)
        hold(.exposure)
        let both = try preset("", back: "iso = 400\nlock = [\"exposure\"]")
        #expect(commandsNow(of: both) == [.iso(400), .lockOnly([.exposure])])
    }

    @Test mutating func whatIsHeldWaitsUntilTheAutomaticHasFoundIt() throws {
        come(.back, at: -1)
        let held = try preset("", back: "lock = [\"wb\"]")
        let commands = state.commands(of: held, for: .back, at: at(0))
        #expect(commands.now.isEmpty && commands.lock == [.whiteBalance])
        _ = apply(held)
        #expect(
            send(.scenes(.lockLater(.back, [.whiteBalance]))) == [.startSettling(.back, seconds: 2)]
        )
        #expect(
            state.currentScene == "x" && state.preset().cameras.back["lock"] == .list([.text("wb")])
        )
        // A camera that closes meanwhile gets the time anew.
        send(.interrupted(.back, .stalled), at: 1)
        #expect(send(.scenes(.settled(.back)), at: 2).isEmpty)
        #expect(send(.streaming(.back), at: 3).contains(.startSettling(.back, seconds: 2)))
        let command = SceneCommand(key: "back.lock", command: .lockOnly([.whiteBalance]))
        send(.scenes(.chosen("x")), at: 4)
        #expect(send(.scenes(.settled(.back)), at: 5) == [.setControls(.back, [command], of: "x")])
        #expect(send(.scenes(.settled(.back)), at: 6).isEmpty, "once")
        // So it does after values that become automatic.
        hold()
        var controls = state.cameras.back.controls
        controls.manual.iso = 400
        send(.controls(.back, .read(identity: "back", controls)), at: 7)
        let automatic = try preset("", back: "iso = \"auto\"\nlock = [\"exposure\"]")
        let later = state.commands(of: automatic, for: .back, at: at(9))
        #expect(later.now.map(\.command) == [.automatic([.iso])] && later.lock == [.exposure])
        // What the user says meanwhile counts, and so does another scene.
        send(.scenes(.lockLater(.back, [.exposure])), at: 9)
        send(.scenes(.lockChosen(.back)), at: 10)
        #expect(send(.scenes(.settled(.back)), at: 11).isEmpty)
        send(.scenes(.lockLater(.back, [.exposure])), at: 12)
        _ = apply(try preset("", back: "lock = []"), at: 13)
        #expect(send(.scenes(.settled(.back)), at: 14).isEmpty)
    }

    // MARK: Later refusals

    @Test mutating func whatACameraRefusesLaterIsToldAndNoPartOfTheSceneAnyMore() throws {
        come(.front)
        send(.scenes(.chosen("x")))
        _ = apply(try preset("", back: "mirror = true\niso = 400\nzoom = 20"))
        come(.back, at: 1)
        // A zoom out of range is known at once, the rest when the camera answers.
        #expect(state.scenes.lateRefusals.keys.sorted() == ["back.zoom"])
        #expect(state.currentScene == "", "the ISO is not what the scene says")
        send(.scenes(.refusedLate(["back.iso": "No ISO."], of: "x")), at: 2)
        #expect(state.scenes.lateRefusals["back.iso"] == "No ISO.")
        #expect(state.currentScene == "x")
        // Until another scene is chosen; then nothing of an older one is told.
        send(.scenes(.chosen("y")), at: 3)
        #expect(state.scenes.lateRefusals.isEmpty)
        send(.scenes(.refusedLate(["back.focus": "No focus."], of: "x")), at: 4)
        #expect(state.scenes.lateRefusals.isEmpty)
    }

    @Test(arguments: ScenePart.allCases)
    func aPartLeavesTheOthersAlone(_ part: ScenePart) throws {
        let whole = try preset(Self.whole, back: Self.camera)
        let limited = whole.limited(to: [part])
        let keys = Set(limited.values.keys).union(limited.cameras.back.keys)
        let wanted =
            Settings.scenes.filter { $0.part == part }.map(\.key)
            + CameraSettings.scenes.filter { $0.part == part }.map(\.key)
        #expect(keys == Set(wanted) && !keys.isEmpty)
        #expect(whole.limited(to: Set(ScenePart.allCases)) == whole)
    }

    @Test mutating func whatACameraCannotTakeIsSaidAndTheRestHolds() throws {
        come(.back)
        var preset = try preset(
            "layout = \"single\"\nglow = 3\n",
            back: "zoom = 20\nmirror = true\nhue = \"x\"\n"
        )
        let refusals = state.refusals(of: preset, by: Configuration.Capture())
        #expect(refusals.keys.sorted() == ["back.hue", "back.zoom", "glow"])
        #expect(refusals["back.zoom"] == "The back camera zooms from 1.0× to 8.0×, not 20.0×.")
        preset.remove(refusals.keys)
        _ = apply(preset)
        #expect(state.scene.style.layout == .single && state.cameras.back.mirror)
        #expect(state.cameras.back.lens.zoom == 1)
        #expect(state.currentScene == "x")
        // So does a control that its camera refused.
        send(.scenes(.refused(["back.mirror"], of: "x")), .set(\.cameras.back.mirror, false))
        #expect(state.currentScene == "x")
    }

    @Test mutating func whatBelongsToACameraThatIsAwayIsAppliedWhenItComes() throws {
        come(.front)
        let preset = try preset("layout = \"single\"\n", back: Self.camera)
        #expect(state.refusals(of: preset, by: Configuration.Capture()).isEmpty)
        #expect(commandsNow(of: preset).isEmpty)
        _ = apply(preset)
        #expect(state.cameras.back.rotation == 0 && state.currentScene == "x")
        // A part of another scene leaves it waiting.
        let other = try self.preset("layout = \"single\"\n").limited(to: [.layout])
        send(.scenes(.apply(other, as: nil, instantly: false)))
        // A scene that is saved meanwhile has it, too.
        #expect(state.preset().cameras.back == preset.cameras.back)
        let effects = send(.assigned(.back, "Desk"), at: 1)
        #expect(state.cameras.back.rotation == 90 && state.cameras.back.mirror)
        #expect(state.cameras.back.lens.zoom == 2.5)
        #expect(state.scene.perspectives.back.goal != nil)
        let commands = [
            SceneCommand(key: "back.iso", command: .iso(400)),
            SceneCommand(key: "back.shutter", command: .shutter(4000)),
            SceneCommand(key: "back.focus", command: .focus(0.3)),
            SceneCommand(key: "back.white-balance", command: .whiteBalance(.preset(.shade))),
            SceneCommand(key: "back.compensation", command: .compensation(-0.5)),
        ]
        let image = ImageControl.allCases.map {
            SceneCommand(key: "back.\($0.rawValue)", command: .image($0, 7))
        }
        #expect(effects.contains(.setControls(.back, image + commands, of: "")))
        // It has found nothing to hold yet.
        #expect(state.scenes.locks.back == [.exposure, .whiteBalance])
        // Once.
        #expect(send(.set(\.cameras.back.mirror, false), at: 2).isEmpty)
        #expect(!state.cameras.back.mirror)
    }

    @Test mutating func anUnpluggedCameraGetsItOnItsReturn() throws {
        for role in Role.allCases { come(role) }
        send(.interrupted(.back, .unplugged))
        _ = apply(try preset("", back: "zoom = 3"), at: 1)
        #expect(state.cameras.back.lens.zoom == 1)
        send(.streaming(.back), at: 5)
        #expect(state.cameras.back.lens.zoom == 3)
    }

    @Test mutating func aSceneIsTheCurrentOneUntilSomethingChanges() throws {
        for role in Role.allCases { come(role) }
        let here = state.preset()
        send(.scenes(.saved(here, as: "here")))
        let changes: [Event] = [
            .scene(.swap(instantly: true)), .set(\.cameras.back.mirror, true),
            .set(\.cameras.back.rotation, 180), .set(\.scene.hud, .off), .pro(.setEnabled(true)),
            .lens(.back, .setZoom(1.5, middle: nil, duration: 0)),
            .set(\.cameras.back.isInk, true), .set(\.cameras.back.room, .blur),
            .set(\.cameras.back.perspective, Perspective.none.magnified(by: 0.5)),
            .set(\.title, try Title("x")), .set(\.titleCorner, .topLeft),
        ]
        let start = state
        for change in changes {
            state = start
            #expect(state.currentScene == "here")
            send(change)
            #expect(state.currentScene == "", "\(change)")
            send(.scenes(.apply(here, as: "here", instantly: true)), at: 1)
            #expect(state.currentScene == "here", "\(change)")
        }
        send(.scenes(.renamed("here", to: "there")))
        #expect(state.currentScene == "there")
        send(.scenes(.renamed("there", to: nil)))
        #expect(state.currentScene == "")
    }

    @Test mutating func privacyOfASceneIsNotThatOfTheUser() {
        send(.privacy(.set(true)))
        #expect(!state.scenes.hasPrivacy)
        send(.scenes(.tookPrivacy))
        #expect(state.scenes.hasPrivacy && state.preset().isPrivate == true)
        send(.privacy(.set(true)))
        #expect(!state.scenes.hasPrivacy)
        // A scene that was saved without privacy does not end the user's.
        send(.privacy(.set(false)))
        #expect(state.preset().isPrivate == nil)
    }

    @Test mutating func `a scene with a corner alone ends a free place near that corner`() throws {
        send(.set(\.scene.style.insetPosition, NormalizedPoint(x: 0.9, y: 0.1)))
        #expect(state.scene.style.insetCorner == .topRight)
        _ = apply(try preset("inset-corner = \"top-right\""))
        #expect(state.scene.style.insetPosition == nil)
    }

    // MARK: Movement

    /// Looks with either main picture.
    private static let looks: [String] = [Role.back, .front].flatMap { main in
        [
            ("pip", true, "top-right", 0.25), ("pip", false, "top-right", 0.25),
            ("pip", true, "bottom-left", 0.4), ("single", true, "top-right", 0.25),
            ("side-by-side", true, "top-right", 0.25), ("stacked", true, "top-left", 0.25),
        ].map { layout, isVisible, corner, size in
            """
            main = "\(main.rawValue)"
            layout = "\(layout)"
            inset-visible = \(isVisible)
            inset-corner = "\(corner)"
            inset-size = \(size)
            """
        }
    }

    private func isClose(_ a: Layer, _ b: Layer, within limit: Double) -> Bool {
        a.role == b.role && abs(a.opacity - b.opacity) < limit / 100
            && abs(a.rect.x - b.rect.x) < limit && abs(a.rect.y - b.rect.y) < limit
            && abs(a.rect.width - b.rect.width) < limit
            && abs(a.rect.height - b.rect.height) < limit
            && abs(a.source.part.x - b.source.part.x) < limit / 1000
            && abs(a.source.part.width - b.source.part.width) < limit / 1000
    }

    @Test(arguments: looks, looks)
    mutating func nothingJumpsAndTheWayBackIsTheSame(_ from: String, _ to: String) throws {
        for role in Role.allCases { come(role) }
        let (first, second) = (
            try preset(from, back: "zoom = 1\nzoom-at = [0.5, 0.5]"),
            try preset(to, back: "zoom = 2\nzoom-at = [0.3, 0.5]")
        )
        _ = apply(first, at: -5)
        let before = layers(at: 0)
        _ = apply(second, at: 0)
        // All that was seen is still seen at the beginning, and it ends in time.
        for layer in before where layer.opacity > 0.01 {
            #expect(layers(at: 0).contains { isClose($0, layer, within: 0.01) }, "\(layer.role)")
        }
        let end = layers(at: 0.301)
        #expect(layers(at: 5).count == end.count)
        for (now, late) in zip(end, layers(at: 5)) { #expect(isClose(now, late, within: 0.5)) }
        // It runs back as it came.
        let way = (1...11).map { layers(at: 0.02 * Double($0)) }
        _ = apply(first, at: 0.22)
        for (step, layers) in way.enumerated() {
            let back = self.layers(at: 0.22 + 0.02 * Double(10 - step))
            for layer in layers where layer.opacity > 0.02 {
                let all = back.map { "\($0.role) \($0.rect) \($0.opacity)" }
                #expect(
                    back.contains { isClose($0, layer, within: 1) },
                    "\(step): \(layer.role) \(layer.rect) \(layer.opacity) in \(all) \(layer.source.part)"
                )
            }
        }
        let rest = self.layers(at: 9)
        #expect(rest.count == before.count)
        for (now, then) in zip(rest, before) { #expect(isClose(now, then, within: 0.01)) }
        #expect(state.currentScene == "x")
    }

    @Test mutating func turnedRoundTwiceItGoesOn() throws {
        for role in Role.allCases { come(role) }
        let first = try preset(Self.looks[0], back: "zoom = 1")
        let second = try preset(Self.looks[10], back: "zoom = 2")
        _ = apply(second, at: 0)
        let way = (0...15).map { layers(at: 0.02 * Double($0)) }
        _ = apply(first, at: 0.2)
        _ = apply(second, at: 0.3)
        // 0.2 s forth and 0.1 s back: as at 0.1 s.
        for step in 5...15 {
            for layer in way[step] where layer.opacity > 0.02 {
                let now = layers(at: 0.3 + 0.02 * Double(step - 5))
                #expect(now.contains { isClose($0, layer, within: 1) }, "\(step)")
            }
        }
    }

    /// The looks that are no place: turned round half-way, each is back as it was.
    @Test(arguments: ["rotation = 90", "mirror = true", "ink = true", "background = \"black\""])
    mutating func whatFadesRunsBackToo(_ line: String) throws {
        come(.back)
        func preset(_ line: String) throws -> ScenePreset {
            let isWhole = line.hasPrefix("background")
            return try self.preset(isWhole ? line : "", back: isWhole ? "" : line)
        }
        let first = try preset(
            [
                "rotation": "rotation = 0", "mirror": "mirror = false", "ink": "ink = false",
                "background": "background = \"blur\"",
            ][line.prefix { $0 != " " }.description] ?? ""
        )
        _ = apply(first, at: -5)
        func share(_ seconds: Double, _ wanted: Transform) -> Double {
            let shown = layers(at: seconds)
            switch line.prefix(2) {
            case "in": return shown[0].ink
            case "ba": return 1 - shown[0].blur
            default:
                let top = shown.last { $0.opacity > 0 }
                guard let top, shown.count > 1 || top.opacity < 1 else {
                    return shown[0].transform == wanted ? 1 : 0
                }
                return top.transform == wanted ? top.opacity : 1 - top.opacity
            }
        }
        _ = apply(try preset(line), at: 0)
        let wanted = state.scene.transforms.back
        let way = (0...14).map { share(0.01 * Double($0), wanted) }
        #expect(way[0] < 0.01 && way[14] > 0.2 && way[14] < 0.6, "\(way)")
        _ = apply(first, at: 0.14)
        for step in 0...14 {
            let now = share(0.14 + 0.01 * Double(step), wanted)
            #expect(abs(now - way[14 - step]) < 0.02, "\(step): \(now), not \(way[14 - step])")
        }
        #expect(share(1, wanted) == 0)
    }

    @Test mutating func allThatChangesIsInOneFrame() throws {
        come(.back)
        let before = state.scene
        let preset = try preset(
            "background = \"black\"\nlayout = \"single\"",
            back: "mirror = true\nink = true\nzoom = 2\nperspective = "
                + "[[0.2, 0.1], [0.8, 0.15], [0.9, 0.9], [0.1, 0.85]]"
        )
        _ = apply(preset)
        // One value goes to the composite thread, and in each frame all of it is on its way.
        #expect(state.scene != before)
        for seconds in [0.05, 0.15, 0.25] {
            let (old, now) = (before.scene(at: at(seconds))[0], layers(at: seconds))
            #expect(now.count == 2, "the turned picture crosses over the other")
            for layer in now {
                #expect(layer.ink > 0 && layer.ink < 1 && layer.blur > 0 && layer.blur < 1)
                #expect(layer.source.part.width < old.source.part.width)
                #expect(layer.source.part.width > 0.5)
                let perspective = try #require(layer.source.perspective)
                #expect(perspective.topLeft.x > 0 && perspective.topLeft.x != 0.2)
            }
            #expect(now[1].opacity > 0 && now[1].opacity < 1)
        }
    }

    @Test mutating func aMovementWithoutTimeIsACut() throws {
        for role in Role.allCases { come(role) }
        let preset = try preset(Self.whole, back: Self.camera)
        send(.scenes(.apply(preset, as: nil, instantly: true)))
        #expect(!state.scene.isMoving(at: at(0)))
        #expect(!state.scene.framings.back.isMoving(at: at(0)))
        #expect(state.scenes.last == "")
    }

    @Test mutating func theNextSceneComesAfterTheLastOneEvenIfThatWasAppliedInPart() throws {
        let book = SceneBook()
        send(.scenes(.chosen("talk")))
        send(.scenes(.apply(try book.preset("talk"), as: "talk", instantly: true)))
        for name in ["desk", "presenter", "demo"] {
            #expect(book.next(after: state.scenes.last) == name)
            send(.scenes(.chosen(name)))
            let part = try book.preset(name).limited(to: [.layout])
            send(.scenes(.apply(part, as: nil, instantly: true)))
        }
        send(.scenes(.renamed("demo", to: "show")))
        #expect(state.scenes.last == "show")
        send(.scenes(.renamed("show", to: nil)))
        #expect(state.scenes.last == "")
    }

    @Test mutating func aTitleStaysWhereASceneHasNone() throws {
        let ada = try Title(lines: ["Ada"])
        send(.set(\.title, ada))
        _ = apply(try SceneBook().preset("talk"))
        #expect(state.title == ada)
        _ = apply(try preset("title = [\"Bob\"]"))
        #expect(state.title?.text == "Bob")
        _ = apply(try SceneBook().preset("desk"))
        #expect(state.title == ada, "what a scene began it ends")
        _ = apply(try preset("title = [\"Bob\"]"))
        let eve = try Title(lines: ["Eve"])
        send(.set(\.title, eve))
        _ = apply(try SceneBook().preset("desk"))
        #expect(state.title == eve, "the user's own stays")
    }

    @Test mutating func theTitleOfTheSceneThatClosedTheCamerasEndsWithPrivacy() throws {
        let ada = try Title(lines: ["Ada"])
        send(.set(\.title, ada))
        _ = apply(try SceneBook().preset("away"))
        send(.privacy(.set(true)))
        send(.scenes(.tookPrivacy))
        #expect(state.title?.text == "Back soon")
        send(.privacy(.set(false)))
        #expect(state.title == ada)
    }

    /// The daemon may end before it has stored what followed the end of privacy.
    @Test(arguments: [true, false])
    mutating func overARestartToo(_ isPrivate: Bool) throws {
        let ada = try Title(lines: ["Ada"])
        send(.set(\.title, ada))
        _ = apply(try SceneBook().preset("away"))
        send(.privacy(.set(true)), .scenes(.tookPrivacy))
        let text = SavedState(state).text
        state = State.withTwoCameras()
        send(.privacy(.reading))
        try SavedState(parsing: text).restore(&state)
        send(.privacy(.read(isPrivate)))
        #expect(state.scenes.hasPrivacy == isPrivate)
        if isPrivate {
            #expect(SavedState(state).text == text && state.title?.text == "Back soon")
            send(.privacy(.set(false)))
        }
        #expect(state.title == ada)
        #expect(try SavedState(parsing: SavedState(state).text) == SavedState(state))
    }
}

@Suite("The user's scenes") struct SceneBookTests {
    private let single = "[[scene]]\nname = \"a\"\nlayout = \"single\"\n"

    @Test func fiveComeWithTheProgram() throws {
        let book = SceneBook()
        #expect(book.names == ["talk", "desk", "presenter", "demo", "away"])
        for name in book.names { #expect(try book.preset(name).unreadKeys == []) }
        #expect(try book.preset("away").isPrivate == true)
        #expect(book.next(after: "talk") == "desk" && book.next(after: "away") == "talk")
        #expect(book.next(after: "demo") == "talk", "the cameras stay on")
        #expect(book.next(after: "gone") == "talk")
        // As text they are the same.
        var other = SceneBook()
        #expect(try other.add(book.exported(book.names), replacing: false) == book.names)
        for name in book.names { #expect(try other.preset(name) == book.preset(name)) }
        #expect(other == book, "they are no user's")
        // Each once, however often it is named.
        let many = (0..<5_000).map { book.names[$0 % 5] }
        #expect(try book.exported(many) == book.exported(book.names))
    }

    @Test func scenesAreSavedRenamedAndRemoved() throws {
        var book = SceneBook()
        let preset = try SceneBook(parsing: single).preset("a")
        try book.save(preset, as: "Ünder »1«")
        try book.save(preset, as: "desk")
        #expect(book.names == ["talk", "desk", "presenter", "demo", "away", "Ünder »1«"])
        #expect(try SceneBook(parsing: book.text) == book)
        try book.rename("Ünder »1«", to: "b")
        #expect(throws: SceneBook.Refusal.taken("desk")) { try book.rename("b", to: "desk") }
        try book.remove("desk")
        #expect(try book.preset("desk") == SceneBook().preset("desk"))
        try book.remove("desk")
        #expect(book.names == ["talk", "presenter", "demo", "away", "b"])
        try book.rename("talk", to: "speak")
        #expect(book.names == ["presenter", "demo", "away", "b", "speak"])
        #expect(try SceneBook(parsing: book.text) == book)
        #expect(throws: SceneBook.Refusal.self) { try book.remove("desk") }
        // Who wants it back, saves one of that name and removes that.
        var returning = book
        try returning.save(ScenePreset(), as: "desk")
        try returning.remove("desk")
        #expect(try returning.preset("desk") == SceneBook().preset("desk"))
        // So does who gives another one its name.
        returning = book
        try returning.rename("b", to: "desk")
        #expect(try returning.preset("desk") == preset)
        try returning.remove("desk")
        #expect(try returning.preset("desk") == SceneBook().preset("desk"))
        for name in book.names { try book.remove(name) }
        #expect(book.names == [] && book.next(after: "") == nil)
        try book.save(preset, as: "talk")
        #expect(book.names == ["talk"])
    }

    @Test func whatALaterVersionWroteIsKept() throws {
        let text = """
            format = 2
            [later]
            when = 2026-11-22T10:00:00Z
            [[scene]]
            name = "a"
            layout = "grid"
            inset-size = 0.3
            glow = { of = ["x", 1, 2.5, true], "odd key" = "\\u0007" }
            side = "not a table"
            [scene.back]
            zoom = 2
            hue = -inf
            [scene.third]
            zoom = 1
            """
        var book = try SceneBook(parsing: text)
        #expect(book.names.last == "a")
        let preset = try book.preset("a")
        #expect(preset.values.unreadKeys == ["glow", "layout", "side", "third"])
        #expect(preset.cameras.back["hue"] == .other("-inf"))
        let again = try SceneBook(parsing: book.text)
        #expect(again == book)
        #expect(again.text == book.text)
        #expect(book.text.contains("2026-11-22") && book.text.contains("format = 2"))
        // What this version does not know stays when it saves, and what it knows is replaced.
        try book.save(SceneBook(parsing: single).preset("a"), as: "a")
        let saved = try book.preset("a")
        #expect(saved.values.unreadKeys == ["glow", "side", "third"])
        #expect(saved.values["layout"] == .text("single"))
        #expect(saved.cameras.back["hue"] == .other("-inf"))
    }

    @Test(arguments: [
        "layout = 3", "inset-size = nan", "inset-size = inf", "inset-size = -1",
        "inset-size = 1e300", "title = [\"a\", \"b\", \"c\"]", "title = [1]",
        "title = \"\\u202Eevil\"", "title = \"\\u001b[2J\"", "hud = true", "privacy = 1",
        "title = \"\(String(repeating: "x", count: 61))\"", "main = \"side\"",
    ])
    func aValueThatIsNoneHasNoEffect(_ line: String) throws {
        let book = try SceneBook(parsing: "[[scene]]\nname = \"a\"\n\(line)\n")
        let key = String(line.prefix { $0 != " " })
        #expect(try book.preset("a").unreadKeys == [key])
        #expect(try SceneBook(parsing: book.text).names == book.names)
    }

    @Test(arguments: [
        "zoom = nan", "zoom = 0", "zoom = 1e9", "zoom = \"2\"", "zoom-at = [0.5]",
        "zoom-at = [0.5, inf]", "rotation = 45", "rotation = -90",
        "perspective = [[0,0],[1,0],[1,1]]", "perspective = [[0,0],[0,1],[1,1],[1,0]]",
        "iso = 0", "iso = -9223372036854775808", "iso = 1.5", "shutter = 9223372036854775807",
        "focus = 2", "focus = nan", "white-balance = 100", "white-balance = \"moon\"",
        "compensation = 9", "mirror = \"yes\"", "lock = \"wb\"", "lock = [\"hue\"]",
        "lock = [\"wb\", \"wb\", \"wb\", \"wb\"]",
    ])
    func norDoesOneOfACamera(_ line: String) throws {
        let book = try SceneBook(parsing: "[[scene]]\nname = \"a\"\n[scene.back]\n\(line)\n")
        let key = String(line.prefix { $0 != " " })
        #expect(try book.preset("a").unreadKeys == ["back.\(key)"])
        #expect(try SceneBook(parsing: book.text).names == book.names)
    }

    @Test(arguments: [
        "[[scene]]\n", "[[scene]]\nname = 3\n", "[[scene]]\nname = \"\"\n", "scene = 3\n",
        "[[scene]]\nname = \"a\\u202Eb\"\n", "[[scene]]\nname = \"-x\"\n",
        "[[scene]]\nname = \"a\"\n[[scene]]\nname = \"a\"\n", "a = \n",
        "[[scene]]\nname = \"a\"\nx = [[[[[[[[[[[1]]]]]]]]]]]\n",
        String(repeating: "[[scene]]\nname = \"a\"\n", count: 101),
    ])
    func aDamagedFileIsAnError(_ text: String) {
        #expect(throws: ConfigurationError.self) { try SceneBook(parsing: text) }
    }

    @Test(arguments: [
        "", " a", "a ", "-a", "a\nb", "a\u{7}", "a\u{202E}b", "a\u{2028}", "\u{FFFD}",
        String(repeating: "x", count: 41), String(repeating: "👨‍👩‍👧‍👦", count: 30),
    ])
    func aNameIsCheckedAtTheEdge(_ name: String) throws {
        var book = SceneBook()
        #expect(throws: SceneBook.Refusal.self) { try book.save(ScenePreset(), as: name) }
        #expect(throws: SceneBook.Refusal.self) { try book.rename("talk", to: name) }
        #expect(book == SceneBook())
    }

    @Test func thereAreAtMostAHundred() throws {
        var book = SceneBook()
        for number in 1...100 { try book.save(ScenePreset(), as: "\(number)") }
        #expect(throws: SceneBook.Refusal.full) { try book.save(ScenePreset(), as: "101") }
        try book.save(ScenePreset(), as: "100")
        #expect(throws: SceneBook.Refusal.full) { try book.add(single, replacing: true) }
        #expect(try SceneBook(parsing: book.text) == book)
    }

    @Test func whatIsSavedOverAnOddSceneCanBeReadAgain() throws {
        var book = try SceneBook(parsing: "[[scene]]\nname = \"a\"\nback = 3\nfront = 4\n")
        var preset = ScenePreset()
        preset.cameras.back["zoom"] = .double(2)
        try book.save(preset, as: "a")
        #expect(try SceneBook(parsing: book.text) == book)
        #expect(try book.preset("a").cameras.back["zoom"] == .double(2))
        #expect(try book.preset("a").unreadKeys == ["front"])
    }

    @Test func anImportReplacesOnlyIfAsked() throws {
        var book = SceneBook()
        #expect(try book.add(single, replacing: false) == ["a"])
        #expect(try book.add(single, replacing: false) == ["a"], "it is there")
        let text = single + "hud = \"off\"\n"
        #expect(throws: SceneBook.Refusal.taken("a")) { try book.add(text, replacing: false) }
        #expect(try book.add(text, replacing: true) == ["a"])
        #expect(try book.preset("a") == SceneBook(parsing: text).preset("a"))
        // One of the program's keeps its privacy.
        let away = "[[scene]]\nname = \"away\"\nlayout = \"single\"\n"
        #expect(throws: SceneBook.Refusal.taken("away")) { try book.add(away, replacing: false) }
        #expect(try book.preset("away").isPrivate == true)
        #expect(try book.add(away, replacing: true) == ["away"])
        #expect(try book.preset("away").isPrivate == nil)
        #expect(throws: SceneBook.Refusal.self) { try book.add("", replacing: true) }
        #expect(
            throws: SceneBook.Refusal.unreadable(
                "Line 1 of these scenes cannot be read: write a heading in brackets, as in "
                    + "[[scene]]."
            )
        ) { try book.add("[[scene", replacing: true) }
    }
}

@Suite("A title") struct TitleTests {
    private func at(_ seconds: Double) -> Timestamp { Timestamp(seconds: 50 + seconds) }

    @Test func hasOneOrTwoLines() throws {
        #expect(try Title("Ada")?.lines == ["Ada"])
        #expect(try Title("Ada\nEngines")?.lines == ["Ada", "Engines"])
        #expect(try Title("\nEngines")?.lines == ["Engines"])
        #expect(try Title("") == nil)
        #expect(try Title(" \n ") == nil)
        // The joiners are part of words.
        #expect(try Title("می\u{200C}خواهم")?.name == "می\u{200C}خواهم")
    }

    @Test(arguments: [
        "a\nb\nc", "a\tb", "\u{1b}[2J", "\u{202E}evil", "a\u{2066}b", "a\u{2029}",
        String(repeating: "x", count: 61), "a\n" + String(repeating: "ü", count: 61),
        String(repeating: "e\u{301}\u{302}\u{303}\u{304}", count: 60),
        String(repeating: "\u{1100}", count: 78) + "ab",
        String(repeating: "👩\u{200D}", count: 30) + "ab",
    ])
    func nothingThatControlsTextIsOne(_ text: String) {
        #expect(throws: UnreadableValue.self) { try Title(text) }
    }

    @Test func itFadesInAndOutAndRunsBack() throws {
        let first = ShownTitle(title: try #require(try Title("a")), corner: .topLeft)
        let second = ShownTitle(title: try #require(try Title("b")), corner: .topLeft)
        var state = TitleState()
        state.show(first, at: at(0))
        #expect(state.opacities(at: at(0)).wanted == 0)
        #expect(abs(state.opacities(at: at(0.15)).wanted - 0.5) < 1e-6)
        #expect(state.opacities(at: at(0.3)).wanted == 1)
        state.show(second, at: at(1))
        #expect(state.opacities(at: at(1)) == (0, 1))
        state.show(first, at: at(1.15))
        #expect(abs(state.opacities(at: at(1.15)).wanted - 0.5) < 1e-6)
        #expect(abs(state.opacities(at: at(1.15)).former - 0.5) < 1e-6)
        state.show(nil, at: at(2))
        #expect(state.opacities(at: at(2)) == (0, 1))
        #expect(state.opacities(at: at(2.3)) == (0, 0))
    }

    @Test func itStandsBesideAnInsetInItsCorner() throws {
        var state = State.withTwoCameras()
        for role in Role.allCases { _ = reduce(&state, .assigned(role, "x"), at: at(0)) }
        let title = try Title("a")
        _ = reduce(&state, .set(\.title, title), at: at(0))
        #expect(state.scene.title.wanted?.corner == .bottomLeft)
        _ = reduce(&state, .set(\.titleCorner, .topRight), at: at(0))
        #expect(state.scene.title.wanted?.corner == .topLeft)
        var style = state.scene.style
        style.insetVisible = false
        _ = reduce(&state, .set(\.scene.style, style), at: at(1))
        #expect(state.scene.title.wanted?.corner == .topRight)
        _ = reduce(&state, .reset, at: at(2))
        #expect(state.scene.title.wanted == nil)
    }
}
