import GTK

/// A button with words, or with an icon where they have no room.
struct ShortButton {
    let button: Button
    private let icon: Image
    private let words: Label

    /// Creates a button with words, which people hear in either case.
    init(_ icon: String, _ name: String) {
        self.icon = Image(icon: icon, pixels: 16)
        words = Label(name)
        button = Button(Box([self.icon.expand(true, false), words.expand(true, false)]), name)
        isShort = false
    }

    var isShort: Bool {
        get { icon.isVisible }
        nonmutating set {
            icon.isVisible = newValue
            words.isVisible = !newValue
        }
    }
}
