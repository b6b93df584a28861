package import DualCamCore

/// Something that a person asks of the window, by hand, key or menu.
package enum Command: Hashable, Sendable {
    /// The pictures change places.
    case swap
    /// Back to the configured scene.
    case reset
    /// The next layout.
    case nextLayout
    /// The saved scene at this place of their list, from 1 on.
    case scene(Int)
    /// The other picture is shown, or not.
    case toggleOther
    /// Takes photographs.
    case photo
    /// Begins or ends a recording.
    case record
    /// Pro mode on or off.
    case togglePro
    /// This dial, in Pro mode.
    case dial(Dial)
    /// Turns the dial in use by a stop, up for more.
    case step(Int)
    /// Privacy on or off.
    case togglePrivacy
    /// The main camera's light on or off.
    case toggleTorch
    /// The main picture mirrored, or not.
    case toggleMirror
    /// Sound in recordings, or not.
    case toggleMicrophone
    /// The pictures that were taken, or no longer.
    case togglePictures
    /// The whole screen, or no longer.
    case toggleFullscreen
    /// The window a step larger (1) or smaller (-1).
    case resize(Int)
    /// The menu.
    case menu
    /// The preferences.
    case preferences
    /// The commands of the keys.
    case help
    /// Leaves what is open.
    case leave
    /// Closes the window.
    case close

    /// The command of each key, by GDK's name for it, with the words for people; in their order.
    package static let keys: [(key: String, shown: String, command: Command, words: String)] = [
        ("space", "Space", .swap, "Swap the two pictures"),
        ("l", "L", .nextLayout, "Next layout"),
        ("o", "O", .toggleOther, "Show or hide the other picture"),
        ("BackSpace", "Backspace", .reset, "Back to the usual scene"),
        ("1", "1", .scene(1), "First scene"),
        ("2", "2", .scene(2), "Second scene"),
        ("3", "3", .scene(3), "Third scene"),
        ("4", "4", .scene(4), "Fourth scene"),
        ("c", "C", .photo, "Take a photo"),
        ("r", "R", .record, "Start or stop recording"),
        ("a", "A", .toggleMicrophone, "Sound in recordings, or none"),
        ("g", "G", .togglePictures, "Show the pictures taken"),
        ("h", "H", .togglePrivacy, "Hide: close both cameras"),
        ("m", "M", .toggleMirror, "Mirror the main picture"),
        ("t", "T", .toggleTorch, "Torch"),
        ("p", "P", .togglePro, "Pro mode"),
        ("i", "I", .dial(.iso), "ISO"),
        ("s", "S", .dial(.shutter), "Shutter"),
        ("f", "F", .dial(.focus), "Focus"),
        ("w", "W", .dial(.whiteBalance), "White balance"),
        ("Up", "↑", .step(1), "Dial up"),
        ("Down", "↓", .step(-1), "Dial down"),
        ("plus", "+", .resize(1), "Larger window"),
        ("minus", "−", .resize(-1), "Smaller window"),
        ("F11", "F11", .toggleFullscreen, "Whole screen"),
        ("Menu", "Menu", .menu, "Menu"),
        ("comma", ",", .preferences, "Preferences"),
        ("question", "?", .help, "These keys"),
        ("Escape", "Esc", .leave, "Leave what is open"),
    ]

    /// Creates the command of the key that GDK calls `key`; `nil` if it does nothing.
    package init?(key: String) {
        let name = [
            "KP_Add": "plus", "equal": "plus", "KP_Subtract": "minus", "F1": "question",
            "KP_1": "1", "KP_2": "2", "KP_3": "3", "KP_4": "4",
        ]
        let key = name[key] ?? (key.count == 1 ? key.lowercased() : key)
        guard let found = Self.keys.first(where: { $0.key == key }) else { return nil }
        self = found.command
    }
}
