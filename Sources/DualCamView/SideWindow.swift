import GTK

/// A window that belongs to the picture's, one of each kind. It ends when it is closed.
class SideWindow {
    let window: Window
    unowned let owner: PictureWindow

    init(over owner: PictureWindow, _ window: Window) {
        (self.owner, self.window) = (owner, window)
        window.belongs(to: self)
        window.setParent(owner.window)
        window.closesOnKey()
        window.onClose { [unowned self] in
            closed()
            owner.forget(self)
            return false
        }
    }

    func follow() {}

    func closed() {}
}
