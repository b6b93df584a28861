import Frames
import Glibc
import TOMLKit

/// A change of the scene while presets are applied: what moves together is collected here.
struct SceneChange {
    /// The look to change to.
    var style: SceneStyle
    /// `true` if front becomes the main picture.
    var isSwapped: Bool
    /// The time at which everything begins.
    let time: Timestamp
    /// `true` if nothing moves on its way.
    let isInstant: Bool
    /// The effects so far.
    var effects: [Effect] = []

    /// Begins with what `scene` shows.
    init(of scene: SceneState, at time: Timestamp, instantly isInstant: Bool) {
        (style, isSwapped) = (scene.style, scene.isSwapped)
        (self.time, self.isInstant) = (time, isInstant)
    }

    /// The seconds that movements take.
    var duration: Double { isInstant ? 0 : style.swapDuration }
}

/// One field of a preset: its key, how it is read and written, found in the state and applied. The
/// tables below are the only list of fields.
struct SceneField<Owner>: Sendable {
    let key: String
    let part: ScenePart
    /// Reads the field from a file.
    let read: @Sendable (any TOMLValueConvertible, inout Owner) throws(UnreadableValue) -> Void
    /// The value as TOML; `nil` if it is not set.
    let text: @Sendable (Owner) -> String?
    /// Takes the value over from the state; that of the camera of a role, for a camera's field.
    let capture: @Sendable (State, Role, inout Owner) -> Void
    /// Applies the value, if it is set and differs.
    let apply: @Sendable (Owner, inout State, Role, inout SceneChange) -> Void
    /// The command to a camera's controls that applies the value, if it is set and differs.
    let command: @Sendable (Owner, ManualControls) -> ControlCommand?
    /// Sets the value to the camera's choice, unless it is set.
    let automate: @Sendable (inout Owner) -> Void
    /// Unsets the value.
    let remove: @Sendable (inout Owner) -> Void

    /// A field that the state takes at once. `set` is called with values that differ.
    init<Value: Equatable & Sendable>(
        _ key: String,
        _ part: ScenePart,
        _ path: any WritableKeyPath<Owner, Value?> & Sendable,
        _ form: ValueForm<Value>,
        from current: @escaping @Sendable (State, Role) -> Value?,
        set: @escaping @Sendable (Value, inout State, Role, inout SceneChange) -> Void
    ) {
        (self.key, self.part) = (key, part)
        read = { node, owner throws(UnreadableValue) in
            owner[keyPath: path] = try form.read(node)
        }
        text = { $0[keyPath: path].map(form.text) }
        capture = { state, role, owner in owner[keyPath: path] = current(state, role) }
        apply = { owner, state, role, change in
            guard let value = owner[keyPath: path], value != current(state, role) else { return }
            set(value, &state, role, &change)
        }
        command = { _, _ in nil }
        automate = { _ in }
        remove = { $0[keyPath: path] = nil }
    }
}

extension SceneField where Owner == CameraPreset {
    /// A field that the camera itself takes: `command` sets it. A value that waits to be set is
    /// `waiting`. Pro mode that ends takes the value along if it `endsWithPro`.
    init<Value: Equatable & Sendable>(
        _ key: String,
        _ part: ScenePart,
        _ path: any WritableKeyPath<Owner, Value?> & Sendable,
        _ form: ValueForm<Value>,
        manual: @escaping @Sendable (ManualControls) -> Value,
        waiting: @escaping @Sendable (State, Role) -> Value? = { _, _ in nil },
        endsWithPro: Bool = true,
        command: @escaping @Sendable (Value) -> ControlCommand
    ) {
        (self.key, self.part) = (key, part)
        read = { node, owner throws(UnreadableValue) in
            owner[keyPath: path] = try form.read(node)
        }
        text = { $0[keyPath: path].map(form.text) }
        capture = { state, role, owner in
            owner[keyPath: path] =
                waiting(state, role) ?? manual(state.cameras[role].controls.manual)
        }
        apply = { _, _, _, _ in }
        self.command = { owner, now in
            guard let value = owner[keyPath: path], value != manual(now) else { return nil }
            return command(value)
        }
        automate = { owner in
            if endsWithPro, owner[keyPath: path] == nil {
                owner[keyPath: path] = manual(ManualControls())
            }
        }
        remove = { $0[keyPath: path] = nil }
    }
}

extension SceneField where Owner == ScenePreset {
    /// A field of the look.
    fileprivate static func style<Value: Equatable & Sendable>(
        _ key: String,
        _ part: ScenePart,
        _ path: any WritableKeyPath<Owner, Value?> & Sendable,
        _ form: ValueForm<Value>,
        _ style: any WritableKeyPath<SceneStyle, Value> & Sendable
    ) -> SceneField {
        SceneField(
            key,
            part,
            path,
            form,
            from: { state, _ in state.scene.style[keyPath: style] },
            set: { value, _, _, change in change.style[keyPath: style] = value }
        )
    }

    /// The fields of the whole picture.
    static let all: [SceneField] = [
        .init(
            "main",
            .main,
            \.main,
            .choice(),
            from: { state, _ in state.scene.isSwapped ? .front : .back },
            set: { role, _, _, change in change.isSwapped = role == .front }
        ),
        .style("layout", .layout, \.layout, .choice(), \.layout),
        .style("inset-visible", .inset, \.insetVisible, .boolean, \.insetVisible),
        .style("inset-corner", .inset, \.insetCorner, .choice(), \.insetCorner),
        .style("inset-size", .inset, \.insetSize, .rounded(SceneStyle.insetSizes), \.insetSize),
        .style("swap-icon", .inset, \.swapIcon, .boolean, \.swapIcon),
        .style("background", .crop, \.background, .choice(), \.background),
        .init(
            "hud",
            .hud,
            \.hud,
            .choice(),
            from: { state, _ in state.pro.hud },
            set: { mode, state, _, change in
                state.handle(ProEvent.setHud(mode), at: change.time)
            }
        ),
        .init(
            "pro",
            .pro,
            \.isPro,
            .boolean,
            from: { state, _ in state.pro.isEnabled },
            set: { isOn, state, _, change in
                state.handle(ProEvent.setEnabled(isOn), at: change.time)
            }
        ),
        .init(
            "title",
            .title,
            \.title,
            .title,
            from: { state, _ in .some(state.title) },
            set: { title, state, _, _ in state.title = title }
        ),
        .init(
            "title-corner",
            .title,
            \.titleCorner,
            .choice(),
            from: { state, _ in state.titleCorner },
            set: { corner, state, _, _ in state.titleCorner = corner }
        ),
        // The daemon applies it: it is stored, and answered once the cameras are closed.
        .init(
            "privacy",
            .privacy,
            \.isPrivate,
            .boolean,
            from: { state, _ in state.privacy.isWanted ? true : nil },
            set: { _, _, _, _ in }
        ),
    ]
}

extension SceneField where Owner == CameraPreset {
    /// The fields of each camera. What changes the picture's shape comes before what is a place in
    /// it.
    static let all: [SceneField] = [
        .init(
            "rotation",
            .rotation,
            \.rotation,
            .choice(of: [0, 90, 180, 270]),
            from: { state, role in state.cameras[role].rotation },
            set: { degrees, state, role, change in
                change.effects += state.handle(
                    CameraEvent.setRotation(degrees),
                    of: role,
                    at: change.time
                )
            }
        ),
        .init(
            "mirror",
            .mirror,
            \.mirror,
            .boolean,
            from: { state, role in state.cameras[role].mirror },
            set: { isOn, state, role, _ in state.cameras[role].mirror = isOn }
        ),
        .init(
            "perspective",
            .perspective,
            \.perspective,
            .roundedCorners,
            from: { state, role in .some(state.perspective(of: role)?.rounded) },
            set: { perspective, state, role, change in
                state.scene.perspectives[role].move(
                    to: perspective?.turned(by: state.cameras[role].mountingTransform.inverse),
                    at: change.time,
                    duration: change.duration
                )
            }
        ),
        .init(
            "ink",
            .ink,
            \.isInk,
            .boolean,
            from: { state, role in state.cameras[role].isInk },
            set: { isOn, state, role, change in
                change.effects += state.handle(
                    CameraEvent.setInk(isOn),
                    of: role,
                    at: change.time
                )
            }
        ),
        .init(
            "zoom",
            .zoom,
            \.zoom,
            .rounded(0.1...100),
            from: { state, role in rounded(state.cameras[role].lens.zoom) },
            set: { zoom, state, role, change in
                change.effects += state.handle(
                    LensEvent.setZoom(zoom, middle: nil, duration: change.duration),
                    of: role,
                    at: change.time
                )
            }
        ),
        .init(
            "zoom-at",
            .zoom,
            \.middle,
            .point,
            from: { state, role in state.cameras[role].lens.middle.rounded },
            set: { middle, state, role, change in
                state.cameras[role].lens.middle = middle
                state.cameras[role].lens.ramp = change.duration
            }
        ),
        .init(
            "iso",
            .pro,
            \.iso,
            .orAutomatic(.integer(1...1_000_000)),
            manual: { ManualSetting($0.iso) },
            command: { $0.value.map { .iso($0) } ?? .automatic([.iso]) }
        ),
        .init(
            "shutter",
            .pro,
            \.shutter,
            .orAutomatic(.integer(1...1 << 40)),
            manual: { ManualSetting($0.shutter) },
            command: { $0.value.map { .shutter($0) } ?? .automatic([.shutter]) }
        ),
        .init(
            "focus",
            .pro,
            \.focus,
            .orAutomatic(.rounded(0...1)),
            manual: { ManualSetting($0.focus.map(rounded)) },
            command: { $0.value.map { .focus($0) } ?? .automatic([.focus]) }
        ),
        .init(
            "white-balance",
            .pro,
            \.whiteBalance,
            .whiteBalance,
            manual: { $0.whiteBalance },
            command: { $0 == .auto ? .automatic([.whiteBalance]) : .whiteBalance($0) }
        ),
        .init(
            "compensation",
            .pro,
            \.compensation,
            .rounded(CameraControls.compensations),
            manual: { rounded($0.compensation) },
            command: { .compensation($0) }
        ),
        // After the others, since a dial that is turned ends what is held of its value.
        .init(
            CameraPreset.lockKey,
            .lock,
            \.lock,
            .subjects,
            manual: { Set($0.lock.subjects) },
            waiting: { state, role in state.scenes.locks[role] },
            endsWithPro: false,
            command: { .lockOnly($0) }
        ),
    ]
}

// MARK: - Forms

/// Returns `number` with at most six decimals, so that what was computed back and forth is equal.
private func rounded(_ number: Double) -> Double { (number * 1e6).rounded() / 1e6 }

extension NormalizedPoint {
    fileprivate var rounded: NormalizedPoint {
        NormalizedPoint(x: DualCamCore.rounded(x), y: DualCamCore.rounded(y))
    }
}

extension Perspective {
    fileprivate var rounded: Perspective {
        Perspective(
            topLeft: topLeft.rounded,
            topRight: topRight.rounded,
            bottomRight: bottomRight.rounded,
            bottomLeft: bottomLeft.rounded
        )
    }
}

extension ValueForm where Value == Double {
    /// A number with at most six decimals.
    fileprivate static func rounded(_ range: ClosedRange<Double>) -> ValueForm {
        let form = number(range)
        return ValueForm(
            read: { node throws(UnreadableValue) in DualCamCore.rounded(try form.read(node)) },
            text: { form.text(DualCamCore.rounded($0)) }
        )
    }
}

extension ValueForm where Value == NormalizedPoint {
    /// Two numbers; with a lens wider than "wide" they may lie outside of 0 … 1.
    fileprivate static let point = {
        let form = ValueForm<Double>.rounded(-10...10)
        return ValueForm(
            expected: "two numbers from -10 to 10",
            text: { "[\(form.text($0.x)), \(form.text($0.y))]" },
            convert: { node in
                guard let pair = node.array, pair.count == 2, let x = try? form.read(pair[0]),
                    let y = try? form.read(pair[1])
                else { return nil }
                return NormalizedPoint(x: x, y: y)
            }
        )
    }()
}

extension ValueForm where Value == Perspective? {
    fileprivate static let roundedCorners = ValueForm(
        read: { node throws(UnreadableValue) in try corners.read(node)?.rounded },
        text: { corners.text($0?.rounded) }
    )
}

extension ValueForm where Value == WhiteBalance {
    fileprivate static let whiteBalance = ValueForm(
        expected: "\(WhiteBalance.words.joined(separator: ", ")), or a number of kelvins from "
            + "\(Stops.kelvin.lowerBound) to \(Stops.kelvin.upperBound)",
        text: { balance in
            if case .kelvin(let kelvin) = balance { "\(kelvin)" } else { quoted(balance.word) }
        },
        convert: { node in
            if let kelvin = node.int {
                return Stops.kelvin.contains(kelvin) ? .kelvin(kelvin) : nil
            }
            return node.string.flatMap(WhiteBalance.init(word:))
        }
    )
}

extension ValueForm where Value == Set<ControlLock.Subject> {
    /// Parts of the automatic; none is [].
    fileprivate static let subjects = {
        let form = ValueForm<ControlLock.Subject>.choice()
        let all = ControlLock.Subject.allCases
        return ValueForm(
            expected: "any of \(all.map(form.text).joined(separator: ", ")) in []",
            text: { subjects in
                "[\(all.filter(subjects.contains).map(form.text).joined(separator: ", "))]"
            },
            convert: { node in
                guard let array = node.array, array.count <= all.count else { return nil }
                var subjects: Set<ControlLock.Subject> = []
                for element in array {
                    guard let subject = try? form.read(element) else { return nil }
                    subjects.insert(subject)
                }
                return subjects
            }
        )
    }()
}

extension ValueForm where Value == Title? {
    /// One or two lines, or none.
    static let title = ValueForm(
        read: { node throws(UnreadableValue) in
            if let line = node.string { return try Title(lines: [line]) }
            guard let array = node.array, array.count <= 2 else {
                throw UnreadableValue(excerpt(of: node), expected: "one or two lines in []")
            }
            var lines: [String] = []
            for element in array {
                guard let line = element.string else {
                    throw UnreadableValue(excerpt(of: node), expected: "one or two lines in []")
                }
                lines.append(line)
            }
            return try Title(lines: lines)
        },
        text: { "[\(($0?.lines ?? []).map { quoted($0) }.joined(separator: ", "))]" }
    )
}

extension ValueForm {
    /// The same form, or "auto".
    fileprivate static func orAutomatic<Manual>(_ form: ValueForm<Manual>) -> ValueForm
    where Value == ManualSetting<Manual> {
        ValueForm(
            read: { node throws(UnreadableValue) in
                if node.string == "auto" { return .automatic }
                do throws(UnreadableValue) { return .manual(try form.read(node)) } catch {
                    throw UnreadableValue(error.value, expected: "auto, or \(error.expected)")
                }
            },
            text: { $0.value.map(form.text) ?? quoted("auto") }
        )
    }
}
