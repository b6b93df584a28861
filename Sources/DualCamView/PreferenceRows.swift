import Control
import DBusKit
import DualCamCore
import Frames
import GTK
import ViewCore

/// The place of a value that people change: how it is read, and how it is set.
struct ValuePlace {
    let name: String
    let get: (DaemonMirror) -> Value?
    let set: (DaemonMirror, Value, @escaping (DBusError?) -> Void) -> Void
    /// The form of the setting; `nil` if it has none of its own.
    var facts: SettingFacts?

    init(
        _ name: String,
        get: @escaping (DaemonMirror) -> Value?,
        set: @escaping (DaemonMirror, Value, @escaping (DBusError?) -> Void) -> Void
    ) {
        (self.name, self.get, self.set) = (name, get, set)
    }

    static func property<Members: InterfaceMembers, Content>(
        _ property: KeyPath<Members, PropertyMember<Content>>,
        at path: ObjectPath = DualCam.path
    ) -> Self {
        let name = Members.members[keyPath: property].name
        var place = Self("\(path) \(name)") {
            $0.value(name, of: Members.name, at: path)
        } set: { daemon, value, done in
            daemon.set(name, of: Members.name, at: path, to: value, done)
        }
        place.facts = SettingFacts(Settings.rows.first { $0.busName == name }, Settings())
        return place
    }

    static func key(_ key: String) -> Self {
        var place = Self(key) {
            $0[\ConfigurationInterface.values]?[key]
        } set: { daemon, value, done in
            daemon.call(\ConfigurationInterface.set, [key: value]) { done($0.error) }
        }
        place.facts = Configuration.facts(of: key)
        return place
    }
}

extension Result {
    var error: Failure? { if case .failure(let error) = self { error } else { nil } }
}

/// The part that the pages of preferences share: rows that show what the daemon has, and change it,
/// the cameras' pictures, and a place for what goes wrong.
///
/// A preference is one row, whose control follows from the form of the setting.
final class PreferenceRows {
    unowned let owner: PictureWindow
    let pictures: CameraPictures
    let toast = Toast()
    /// The window, once it is there.
    weak var window: Window?
    private var followers: [(widget: Widget?, show: () -> Void)] = []
    /// The values that are on their way, by the name of their place, and the next for there.
    private var sending: [String: Value?] = [:]

    init(_ owner: PictureWindow) {
        self.owner = owner
        pictures = CameraPictures(owner)
    }

    var daemon: DaemonMirror? { owner.daemon }

    var isPresent: Bool { daemon?.isPresent == true }

    func done(_ error: DBusError?) {
        if let error { toast.show(PictureWindow.words(error)) }
        follow()
    }

    /// Takes an answer of the daemon, also once the window is closed.
    var answered: (DBusError?) -> Void { { [weak self] in self?.done($0) } }

    func follow() { for follower in followers { follower.show() } }

    func end() { followers = [] }

    /// Calls `show` whenever what the daemon has may have changed.
    func bind(_ show: @escaping () -> Void) { followers.append((nil, show)) }

    /// Shows nothing in `widgets` any more.
    func unbind(_ widgets: [Widget]) {
        followers.removeAll { follower in widgets.contains { $0 === follower.widget } }
    }

    /// Calls `show` with the value at `place` whenever it may have changed. While there is none,
    /// `widget` cannot be used.
    func bind(_ widget: Widget, _ place: ValuePlace, _ show: @escaping (Value) -> Void) {
        let follow = { [unowned self] in
            let value = isPresent ? daemon.flatMap(place.get) : nil
            widget.isSensitive = value != nil
            // What people move leads.
            if let value, sending[place.name] == nil { show(value) }
        }
        followers.append((widget, follow))
    }

    /// Sets the value at `place`: the newest once the one before has arrived.
    func set(_ place: ValuePlace, _ value: Value) {
        guard sending[place.name] == nil else { return sending[place.name] = value }
        guard let daemon else { return }
        sending[place.name] = .some(nil)
        place.set(daemon, value) { [weak self] error in
            guard let self else { return }
            if let next = sending.removeValue(forKey: place.name), let next {
                set(place, next)
            } else {
                done(error)
            }
        }
    }

    // MARK: Rows

    /// Returns the row of a setting. `names` are the words of a choice, in the setting's order.
    func row(
        _ title: String,
        _ place: ValuePlace,
        words: String = "",
        names: [String]? = nil,
        icons: [String] = []
    ) -> GTK.Row {
        let facts = place.facts
        if let range = facts?.range {
            return slider(title, place, range, step: 0.01, initial: facts?.initial?.number) {
                "\(Int(($0 * 100).rounded())) %"
            }
        }
        guard let facts, !facts.words.isEmpty else {
            let row = SwitchRow(title, words)
            row.onToggle { [unowned self] in set(place, .boolean($0)) }
            bind(row, place) { [unowned row] in row.isOn = $0.boolean ?? false }
            return row
        }
        let names =
            names ?? facts.words.map { $0.replacing("-", with: " ").capitalizedFirst }
        guard icons.isEmpty else {
            let row = SegmentRow(title, words, Array(zip(icons.map(icon), names)))
            row.group.onChoice { [unowned self] in set(place, .string(facts.words[$0])) }
            bind(row, place) { [unowned row] in
                row.group.chosen = facts.words.firstIndex(of: $0.string ?? "")
            }
            return row
        }
        return choice(title, place, words) { Array(zip(facts.words.map { .text($0) }, names)) }
    }

    /// Returns the row of a value that is one of `choices`.
    func choice(
        _ title: String,
        _ place: ValuePlace,
        _ words: String = "",
        _ choices: @escaping () -> [(Plain, String)]
    ) -> ChoiceRow {
        let row = ChoiceRow(title, words)
        row.onChoice { [unowned self] in
            let choices = choices()
            if choices.indices.contains($0) { set(place, Value(choices[$0].0)) }
        }
        bind(row, place) { [unowned row] value in
            let choices = choices()
            // One that only the file can have is shown beside the others.
            let present = Plain(value)
            let index = choices.firstIndex { $0.0 == present } ?? choices.count
            let other = index < choices.count ? [] : [present.text ?? present.excerpt]
            row.show(choices.map(\.1) + other, chosen: index)
        }
        return row
    }

    /// Returns the row of a number, which `words` tells.
    func slider(
        _ title: String,
        _ place: ValuePlace,
        _ range: ClosedRange<Double>,
        step: Double,
        initial: Double?,
        _ words: @escaping (Double) -> String
    ) -> SliderRow {
        let row = SliderRow(title, range, step: step, initial: initial, words)
        row.onChange { [unowned self] in set(place, .double($0)) }
        bind(row, place) { [unowned row] in row.value = Plain($0).number ?? 0 }
        return row
    }
}
