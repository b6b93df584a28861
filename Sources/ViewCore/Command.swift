package import DualCamCore

/// Something that a person asks of the window, by hand, key or menu.
package enum Command: Hashable, Sendable {
    case swap
    /// Back to the configured scene.
    case reset
    case nextLayout
    /// The saved scene at this place of their list, from 1 on.
    case scene(Int)
    case nextScene
    /// Asks for a name, and saves what is shown as a scene.
    case saveScene
    /// Asks for the words of the title.
    case title
    /// The other picture is shown, or not.
    case toggleOther
    case photo
    case record
    /// Photographs and recordings begin this many seconds after they are asked for.
    case selfTimer(Int)
    case togglePro
    case dial(Dial)
    /// Turns the dial in use by a stop, up for more.
    case step(Int)
    case togglePrivacy
    /// The main camera's light on or off.
    case toggleTorch
    case toggleMirror
    case toggleMicrophone
    case togglePictures
    /// Shows the main camera's picture with the corners of a page.
    case straighten
    case toggleFullscreen
    /// The window a step larger (1) or smaller (-1).
    case resize(Int)
    /// The inset so far, in units of the window.
    case moveInset(x: Int, y: Int)
    /// The inset so many steps larger, or smaller.
    case resizeInset(Int)
    case menu
    /// Shows the layouts to choose from.
    case layouts
    case preferences
    /// Stops the stream, for all who look at it.
    case stop
    case help
    case about
    /// Leaves what is open.
    case leave
    case close

    /// The command of each key, by GDK's name for it, with the words for people; in their order.
    package static let keys: [(key: String, shown: String, command: Command, words: String)] = [
        ("space", "Space", .swap, "Swap the Two Pictures"),
        ("l", "L", .nextLayout, "Next Layout"),
        ("o", "O", .toggleOther, "Show or Hide the Other Picture"),
        ("BackSpace", "Backspace", .reset, "Back to the Usual Scene"),
        ("1", "1", .scene(1), "First Scene"),
        ("2", "2", .scene(2), "Second Scene"),
        ("3", "3", .scene(3), "Third Scene"),
        ("4", "4", .scene(4), "Fourth Scene"),
        ("c", "C", .photo, "Take a Photo"),
        ("r", "R", .record, "Start or Stop Recording"),
        ("a", "A", .toggleMicrophone, "Sound in Recordings, or None"),
        ("g", "G", .togglePictures, "Show the Pictures Taken"),
        ("n", "N", .saveScene, "Save What You See as a Scene"),
        ("e", "E", .title, "Title"),
        ("d", "D", .straighten, "Straighten a Page"),
        ("h", "H", .togglePrivacy, "Privacy: Close Both Cameras"),
        ("m", "M", .toggleMirror, "Mirror the Main Picture"),
        ("t", "T", .toggleTorch, "Torch"),
        ("p", "P", .togglePro, "Pro Mode"),
        ("i", "I", .dial(.iso), "ISO"),
        ("s", "S", .dial(.shutter), "Shutter"),
        ("f", "F", .dial(.focus), "Focus"),
        ("w", "W", .dial(.whiteBalance), "White Balance"),
        ("Up", "↑", .step(1), "Turn the Dial Up"),
        ("Down", "↓", .step(-1), "Turn the Dial Down"),
        ("plus", "+", .resize(1), "Larger Window"),
        ("minus", "−", .resize(-1), "Smaller Window"),
        ("Alt+Left", "Alt ← ↑ → ↓", .moveInset(x: -8, y: 0), "Move the Inset, with Shift by Less"),
        ("Alt+plus", "Alt + −", .resizeInset(1), "Larger or Smaller Inset"),
        ("F11", "F11", .toggleFullscreen, "Fullscreen"),
        ("Menu", "Menu", .menu, "Menu"),
        ("comma", ",", .preferences, "Preferences"),
        ("question", "?", .help, "Keyboard Shortcuts"),
        ("Escape", "Esc", .leave, "Close What Is Open"),
    ]

    /// `true` if it is about the window rather than the picture.
    package var isForWindow: Bool {
        switch self {
        case .toggleFullscreen, .resize, .help, .about, .leave, .close: true
        default: false
        }
    }

    /// Creates the command of the key that GDK calls `key`, with "Alt+" or "Alt+Shift+" before it
    /// if these are held; `nil` if it does nothing.
    package init?(key: String) {
        let step = key.hasPrefix("Alt+Shift+") ? 1 : 8
        switch key.replacing("Alt+Shift+", with: "Alt+") {
        case "Alt+Left": self = .moveInset(x: -step, y: 0)
        case "Alt+Right": self = .moveInset(x: step, y: 0)
        case "Alt+Up": self = .moveInset(x: 0, y: -step)
        case "Alt+Down": self = .moveInset(x: 0, y: step)
        case "Alt+plus", "Alt+equal", "Alt+KP_Add": self = .resizeInset(1)
        case "Alt+minus", "Alt+KP_Subtract": self = .resizeInset(-1)
        default: self.init(plain: key)
        }
    }

    private init?(plain key: String) {
        let name = [
            "KP_Add": "plus", "equal": "plus", "KP_Subtract": "minus", "F1": "question",
            "F10": "Menu",
            "KP_1": "1", "KP_2": "2", "KP_3": "3", "KP_4": "4",
        ]
        let key = name[key] ?? (key.count == 1 ? key.lowercased() : key)
        guard let found = Self.keys.first(where: { $0.key == key }) else { return nil }
        self = found.command
    }
}
