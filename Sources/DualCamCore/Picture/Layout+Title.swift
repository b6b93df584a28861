extension Layout {
    /// The name on buttons, in menus and in the preferences.
    package var title: String {
        switch self {
        case .pip: "Inset"
        case .sideBySide: "Side by Side"
        case .stacked: "Stacked"
        case .single: "One Camera"
        }
    }
}
