import Frames
import TOMLKit

/// The settings of the scene that are kept, where they are not as configured. Each has an entry in
/// `SavedSetting.all`.
package struct SavedScene: Hashable, Sendable {
    /// The layout of the pictures.
    package var layout: Layout?
    /// `true` if the inset is shown.
    package var insetVisible: Bool?
    /// The corner of the inset.
    package var insetCorner: Corner?
    /// The inset's width, as a fraction of the canvas's.
    package var insetSize: Double?
    /// `true` if the inset carries the swap icon.
    package var swapIcon: Bool?
    /// The treatment of a picture of another shape than its frame.
    package var background: Background?
    /// The setting for when the HUD is shown.
    package var hud: HudMode?
    /// `true` if photographs come with a short movie.
    package var takesLivePhotos: Bool?

    /// Nothing.
    package init() {}

    /// The settings in `table`; those that are missing or invalid are `nil`.
    init(_ table: TOMLTable) {
        for setting in SavedSetting.all { setting.read(table, &self) }
    }

    /// The lines of TOML that `init(_:)` reads.
    var lines: [String] { SavedSetting.all.compactMap { $0.line(self) } }
}

/// One setting of the scene that is kept over a restart: its key in the file, and its places in the
/// state and in the configured values. The table below is the only list of them.
struct SavedSetting: Sendable {
    /// Takes over the value of the state, and the configured one, if they differ.
    let keep: @Sendable (State, inout SavedState) -> Void
    /// Gives the state the value that was kept; the configured one if that has changed since.
    let restore: @Sendable (SavedState, inout State) -> Void
    /// The line of the file; `nil` if nothing is kept.
    let line: @Sendable (SavedScene) -> String?
    /// Reads the value from the file; an invalid one is left out.
    let read: @Sendable (TOMLTable, inout SavedScene) -> Void

    private init<Value: Equatable & Sendable>(
        _ key: String,
        _ path: any WritableKeyPath<SavedScene, Value?> & Sendable,
        _ form: ValueForm<Value>,
        configured: @escaping @Sendable (ConfiguredSettings) -> Value,
        from current: @escaping @Sendable (State) -> Value,
        set: @escaping @Sendable (Value, inout State) -> Void
    ) {
        keep = { state, saved in
            let (value, before) = (current(state), configured(state.configured))
            guard value != before else { return }
            saved.scene[keyPath: path] = value
            saved.configured[keyPath: path] = before
        }
        restore = { saved, state in
            let (before, now) = (saved.configured[keyPath: path], configured(state.configured))
            let isNewer = before != nil && before != now
            set(isNewer ? now : saved.scene[keyPath: path] ?? now, &state)
        }
        line = { scene in scene[keyPath: path].map { "\(key) = \(form.text($0))" } }
        read = { table, scene in
            scene[keyPath: path] = table[key].flatMap { try? form.read($0) }
        }
    }

    /// A setting of the look.
    private static func style<Value: Equatable & Sendable>(
        _ key: String,
        _ path: any WritableKeyPath<SavedScene, Value?> & Sendable,
        _ form: ValueForm<Value>,
        _ part: any WritableKeyPath<SceneStyle, Value> & Sendable
    ) -> SavedSetting {
        SavedSetting(
            key,
            path,
            form,
            configured: { $0.style[keyPath: part] },
            from: { $0.scene.style[keyPath: part] },
            set: { value, state in
                var style = state.scene.style
                style[keyPath: part] = value
                state.scene.setStyle(style, at: .zero, instantly: true)
            }
        )
    }

    /// The settings, in the order in which they are written.
    static let all: [SavedSetting] = [
        .style("layout", \.layout, .choice(), \.layout),
        .style("inset-visible", \.insetVisible, .boolean, \.insetVisible),
        .style("inset-corner", \.insetCorner, .choice(), \.insetCorner),
        .style("inset-size", \.insetSize, .number(SceneStyle.insetSizes), \.insetSize),
        .style("swap-icon", \.swapIcon, .boolean, \.swapIcon),
        .style("background", \.background, .choice(), \.background),
        .init(
            "hud",
            \.hud,
            .choice(),
            configured: { $0.hud },
            from: { $0.pro.hud },
            set: { mode, state in state.pro.hud = mode }
        ),
        .init(
            "live-photo",
            \.takesLivePhotos,
            .boolean,
            configured: { $0.takesLivePhotos },
            from: { $0.takesLivePhotos },
            set: { isOn, state in state.takesLivePhotos = isOn }
        ),
    ]
}
