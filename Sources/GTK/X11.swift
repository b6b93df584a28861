import CGTK
package import Frames

/// The window among those of an X server, also where that is XWayland.
///
/// GTK 4 leaves to the window manager where a window is; on X11 it may still be asked, and moved.
package struct X11Window {
    let display: OpaquePointer
    let window: CGTK.Window
    private let scale: Int

    /// Finds the window `of`, which is shown; `nil` where there is no X server.
    package init?(of window: Window) {
        guard Backend.isX11, let surface = window.surface, let display = gdk_display_get_default(),
            let connection = cgtk_x_display(display)
        else { return nil }
        self.display = connection
        self.window = cgtk_x_window(surface)
        scale = window.scaleFactor
    }

    private var root: CGTK.Window { XDefaultRootWindow(display) }

    var attributes: XWindowAttributes? { attributes(of: window) }

    func flush() { XFlush(display) }

    private func atom(_ name: String) -> Atom { XInternAtom(display, name, 0) }

    /// Asks the window manager to keep the window above others and on every workspace.
    package func keepAbove() {
        request("_NET_WM_STATE", [1, atom("_NET_WM_STATE_ABOVE"), atom("_NET_WM_STATE_STICKY"), 1])
        request("_NET_WM_DESKTOP", [0xFFFF_FFFF, 1])
    }

    // MARK: Being covered

    /// Calls `handler` when windows come, go or move, which may cover this one.
    ///
    /// The X server itself would tell only of windows without an alpha channel, which GTK's have.
    package func onRestack(_ handler: @escaping () -> Void) {
        let mask = attributes(of: root)?.your_event_mask ?? 0
        XSelectInput(display, root, mask | CLong(SubstructureNotifyMask))
        guard let gdk = gdk_display_get_default() else { return }
        Object(sharing: gdk).on("xevent") { arguments in
            let event = arguments.value(1, g_value_get_pointer)
            let type = event?.assumingMemoryBound(to: XEvent.self).pointee.type ?? 0
            let changes = [ConfigureNotify, MapNotify, UnmapNotify, DestroyNotify]
            if changes.contains(type) { handler() }
        }
    }

    /// `true` if a single opaque window covers all of this one.
    package var isCovered: Bool {
        guard let gdk = gdk_display_get_default() else { return false }
        // A window may be closed meanwhile.
        cgtk_x_trap(gdk)
        defer { cgtk_x_untrap(gdk) }
        var top = window
        while let tree = tree(of: top), tree.parent != root, tree.parent != 0 { top = tree.parent }
        guard let own = attributes(of: top), let all = tree(of: root)?.children,
            let index = all.firstIndex(of: top)
        else { return false }
        return all[(index + 1)...].contains { other in
            guard let its = attributes(of: other), its.map_state == IsViewable,
                its.`class` == InputOutput
            else { return false }
            let isOver =
                its.x <= own.x && its.y <= own.y && its.x + its.width >= own.x + own.width
                && its.y + its.height >= own.y + own.height
            return isOver && (its.depth < 32 || isFullscreen(other))
        }
    }

    private func attributes(of window: CGTK.Window) -> XWindowAttributes? {
        var attributes = XWindowAttributes()
        return XGetWindowAttributes(display, window, &attributes) != 0 ? attributes : nil
    }

    private func tree(of window: CGTK.Window) -> (parent: CGTK.Window, children: [CGTK.Window])? {
        var (first, parent): (CGTK.Window, CGTK.Window) = (0, 0)
        var list: UnsafeMutablePointer<CGTK.Window>?
        var count: UInt32 = 0
        guard XQueryTree(display, window, &first, &parent, &list, &count) != 0 else { return nil }
        defer { if let list { XFree(list) } }
        return (parent, Array(UnsafeBufferPointer(start: list, count: Int(count))))
    }

    /// Returns `true` if `window`, or the one that it frames, fills a screen.
    private func isFullscreen(_ window: CGTK.Window) -> Bool {
        let state = atom("_NET_WM_STATE_FULLSCREEN")
        return ([window] + (tree(of: window)?.children ?? [])).contains {
            longs("_NET_WM_STATE", of: $0, 16).contains(CLong(bitPattern: state))
        }
    }

    /// Returns at most `limit` numbers of a property; none if there is no such property.
    private func longs(_ name: String, of window: CGTK.Window, _ limit: Int) -> [CLong] {
        var kind: Atom = 0
        var format: CInt = 0
        var (count, rest): (UInt, UInt) = (0, 0)
        var data: UnsafeMutablePointer<UInt8>?
        let result = XGetWindowProperty(
            display,
            window,
            atom(name),
            0,
            limit,
            0,
            0,  // AnyPropertyType, a macro with a cast.
            &kind,
            &format,
            &count,
            &rest,
            &data
        )
        defer { if let data { XFree(data) } }
        guard result == 0, format == 32, let data else { return [] }
        return data.withMemoryRebound(to: CLong.self, capacity: Int(count)) { numbers in
            (0..<Int(count)).map { numbers[$0] }
        }
    }

    private func request(_ kind: String, _ values: [UInt]) {
        var event = XEvent()
        event.xclient.type = ClientMessage
        event.xclient.window = window
        event.xclient.message_type = atom(kind)
        event.xclient.format = 32
        withUnsafeMutableBytes(of: &event.xclient.data.l) { bytes in
            let longs = bytes.bindMemory(to: CLong.self)
            for (index, value) in values.enumerated() { longs[index] = CLong(bitPattern: value) }
        }
        XSendEvent(
            display,
            root,
            0,
            CLong(SubstructureRedirectMask | SubstructureNotifyMask),
            &event
        )
        XFlush(display)
    }

    /// The pointer's place on the screen.
    package var pointer: (x: Double, y: Double) {
        var (first, second): (CGTK.Window, CGTK.Window) = (0, 0)
        var (x, y, innerX, innerY): (CInt, CInt, CInt, CInt) = (0, 0, 0, 0)
        var mask: UInt32 = 0
        XQueryPointer(display, root, &first, &second, &x, &y, &innerX, &innerY, &mask)
        return (Double(x) / Double(scale), Double(y) / Double(scale))
    }

    /// The window's place on the screen, its shadow included.
    package var frame: Rect {
        var child: CGTK.Window = 0
        var (x, y): (CInt, CInt) = (0, 0)
        XTranslateCoordinates(display, window, root, 0, 0, &x, &y, &child)
        let scale = Double(scale)
        return Rect(
            x: Double(x) / scale,
            y: Double(y) / scale,
            width: Double(attributes?.width ?? 0) / scale,
            height: Double(attributes?.height ?? 0) / scale
        )
    }

    /// Moves it, its shadow included, to a place on the screen.
    package func move(x: Double, y: Double) {
        XMoveWindow(display, window, CInt(x * Double(scale)), CInt(y * Double(scale)))
        XFlush(display)
    }

    /// The part of the desktop, of all monitors together, that panels leave free.
    package var workArea: Rect {
        let scale = Double(scale)
        let area = longs("_NET_WORKAREA", of: root, 4).map { Double($0) / scale }
        if area.count == 4 {
            return Rect(x: area[0], y: area[1], width: area[2], height: area[3])
        }
        let screen = XDefaultScreen(display)
        return Rect(
            x: 0,
            y: 0,
            width: Double(XDisplayWidth(display, screen)) / scale,
            height: Double(XDisplayHeight(display, screen)) / scale
        )
    }

    /// The monitors' places on the desktop.
    package var monitors: [Rect] {
        guard let list = gdk_display_get_monitors(gdk_display_get_default()) else { return [] }
        return (0..<g_list_model_get_n_items(list)).compactMap { index in
            guard let monitor = g_list_model_get_item(list, index) else { return nil }
            defer { g_object_unref(monitor) }
            var area = GdkRectangle()
            gdk_monitor_get_geometry(OpaquePointer(monitor), &area)
            return Rect(
                x: Double(area.x),
                y: Double(area.y),
                width: Double(area.width),
                height: Double(area.height)
            )
        }
    }
}
