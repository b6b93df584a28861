import CGTK

extension Widget {
    /// A button of the pointer.
    package enum PointerButton: UInt32, Sendable {
        /// The left one, or a finger.
        case primary = 1
        /// The right one.
        case secondary = 3
    }

    /// Calls `handler` when `button` is pressed, with how many times in quick succession, and
    /// where.
    package func onPress(
        _ button: PointerButton,
        _ handler: @escaping (_ count: Int, _ x: Double, _ y: Double) -> Void
    ) {
        let gesture = Object(taking: gtk_gesture_click_new())
        gtk_gesture_single_set_button(gesture.opaque, button.rawValue)
        let opaque = gesture.opaque
        // GTK counts by a timer of the loop: a busy moment makes two clicks of a double one.
        var last: (count: Int, time: UInt32, x: Double, y: Double)?
        gesture.on("pressed") { [unowned self] in
            let (x, y) = ($0.number(2), $0.number(3))
            let time = gtk_event_controller_get_current_event_time(opaque)
            var count = 1
            if let last {
                // The desktop may change them at any time.
                let most = doubleClick
                let isQuick = time &- last.time < most.time
                if isQuick, abs(x - last.x) <= most.distance, abs(y - last.y) <= most.distance {
                    count += last.count
                }
            }
            last = (count, time, x, y)
            handler(count, x, y)
        }
        add(gesture)
    }

    /// The desktop's settings for what is between the presses of a double click, at most, in
    /// milliseconds and units of a window.
    private var doubleClick: (time: UInt32, distance: Double) {
        let settings = Object(sharing: gtk_widget_get_settings(widget))
        let time = settings.integer("gtk-double-click-time")
        return (UInt32(clamping: time), Double(settings.integer("gtk-double-click-distance")))
    }

    /// A part of a drag.
    package enum Drag: Sendable {
        /// It begins at a point of the widget.
        case began(x: Double, y: Double)
        /// It is this far from where it began.
        case moved(x: Double, y: Double)
        /// It ends this far from where it began.
        case ended(x: Double, y: Double)
        case cancelled
    }

    /// Calls `handler` for each part of a drag, with `true` while Ctrl is held. It returns `false`
    /// for a drag that is none of its own.
    package func onDrag(_ handler: @escaping (Drag, _ holdsControl: Bool) -> Bool) {
        let gesture = Object(taking: gtk_gesture_drag_new())
        let opaque = gesture.opaque
        func report(_ part: Drag) {
            let held = gtk_event_controller_get_current_event_state(opaque).rawValue
            if !handler(part, held & gtkControl != 0) {
                gtk_gesture_set_state(opaque, GTK_EVENT_SEQUENCE_DENIED)
            }
        }
        gesture.on("drag-begin") { report(.began(x: $0.number(1), y: $0.number(2))) }
        gesture.on("drag-update") { report(.moved(x: $0.number(1), y: $0.number(2))) }
        gesture.on("drag-end") { report(.ended(x: $0.number(1), y: $0.number(2))) }
        gesture.connect("cancel") { report(.cancelled) }
        add(gesture)
    }

    /// Calls `handler` when a finger or the left button that has stayed on a point is lifted: what
    /// appears under it before would take the release for its own.
    package func onLongPress(
        held: @escaping () -> Void,
        _ handler: @escaping (_ x: Double, _ y: Double) -> Void
    ) {
        let gesture = Object(taking: gtk_gesture_long_press_new())
        var place: (x: Double, y: Double)?
        gesture.on("pressed") {
            place = ($0.number(1), $0.number(2))
            held()
        }
        gesture.connect("end") {
            if let (x, y) = place { handler(x, y) }
            place = nil
        }
        add(gesture)
    }

    /// Calls `begin` with the middle between two fingers, and `change` with their distance over
    /// what it was then.
    package func onPinch(
        _ begin: @escaping (_ x: Double, _ y: Double) -> Void,
        _ change: @escaping (_ scale: Double) -> Void
    ) {
        let gesture = Object(taking: gtk_gesture_zoom_new())
        let opaque = gesture.opaque
        gesture.connect("begin") {
            var (x, y) = (0.0, 0.0)
            if gtk_gesture_get_bounding_box_center(opaque, &x, &y) != 0 { begin(x, y) }
        }
        gesture.on("scale-changed") { change($0.number(1)) }
        add(gesture)
    }

    /// Calls `handler` with the clicks of a wheel, down for more, and where the pointer is.
    package func onScroll(
        _ handler: @escaping (_ clicks: Double, _ x: Double, _ y: Double) -> Void
    ) {
        let flags = GTK_EVENT_CONTROLLER_SCROLL_VERTICAL
        let controller = Object(taking: gtk_event_controller_scroll_new(flags))
        var (x, y) = (0.0, 0.0)
        onPointer { place in if let place { (x, y) = place } }
        controller.connect("scroll") {
            handler($0.number(2), x, y)
            return true
        }
        add(controller)
    }

    /// Calls `handler` with where the pointer is, and with `nil` when it leaves.
    package func onPointer(_ handler: @escaping ((x: Double, y: Double)?) -> Void) {
        let controller = Object(taking: gtk_event_controller_motion_new())
        controller.on("enter") { handler(($0.number(1), $0.number(2))) }
        controller.on("motion") { handler(($0.number(1), $0.number(2))) }
        controller.connect("leave") { handler(nil) }
        add(controller)
    }

    /// Calls `handler` with the name of each key that is pressed while the widget or one in it has
    /// the keyboard, as in "Alt+Shift+Left". It returns `true` for those that it uses.
    package func onKey(_ handler: @escaping (_ name: String) -> Bool) {
        let controller = Object(taking: gtk_event_controller_key_new())
        controller.connect("key-pressed") { arguments in
            let held = arguments.value(3, g_value_get_flags)
            guard held & (gtkControl | gtkSuper) == 0,
                let name = gdk_keyval_name(arguments.value(1, g_value_get_uint))
            else { return false }
            let shift = held & gtkShift == 0 ? "" : "Shift+"
            return handler((held & gtkAlt == 0 ? "" : "Alt+\(shift)") + String(cString: name))
        }
        add(controller)
    }

    /// Calls `handler` when the widget, or one in it, gets the keyboard, and when it loses it.
    package func onFocus(_ handler: @escaping (Bool) -> Void) {
        let controller = Object(taking: gtk_event_controller_focus_new())
        controller.connect("enter") { handler(true) }
        controller.connect("leave") { handler(false) }
        add(controller)
    }

    /// Calls `handler` for each key that is pressed, whatever else it does.
    package func onAnyKey(_ handler: @escaping () -> Void) {
        let controller = Object(taking: gtk_event_controller_key_new())
        gtk_event_controller_set_propagation_phase(controller.opaque, GTK_PHASE_CAPTURE)
        controller.connect("key-pressed") { handler() }
        add(controller)
    }

    /// Keeps motions that GTK makes up from presses in the widget, which they would undo.
    ///
    /// After a change of the layout GTK moves the pointer to where it is, with the buttons that are
    /// down at that moment. On X11 it asks the server for them (`gdk_surface_ensure_motion`): where
    /// one was lifted, of which GTK has yet to read, the press ends before its time, and the click
    /// is lost. To be removed once GTK tells the buttons of the last event.
    func keepsPresses() {
        let controller = Object(taking: gtk_event_controller_legacy_new())
        let opaque = controller.opaque
        gtk_event_controller_set_propagation_phase(opaque, GTK_PHASE_CAPTURE)
        var isPressed = false
        controller.connect("event") { _ in
            let event = gtk_event_controller_get_current_event(opaque)
            switch gdk_event_get_event_type(event) {
            case GDK_BUTTON_PRESS: isPressed = true
            case GDK_BUTTON_RELEASE: isPressed = false
            // What is real has a time.
            case GDK_MOTION_NOTIFY where gdk_event_get_time(event) == 0: return isPressed
            // The desktop may have taken the release.
            case GDK_MOTION_NOTIFY:
                isPressed = gdk_event_get_modifier_state(event).rawValue & gtkButtons != 0
            default: break
            }
            return false
        }
        add(controller)
    }

    /// Lets people drag `files`, as file URIs, to other programs.
    package func allowDrag(of files: [String]) {
        let source = Object(taking: gtk_drag_source_new())
        let bytes = files.flatMap { Array("\($0)\r\n".utf8) }
        let data = g_bytes_new(bytes, gsize(bytes.count))
        let content = gdk_content_provider_new_for_bytes("text/uri-list", data)
        // To be set before a drag begins: what is set then counts for the next one.
        gtk_drag_source_set_content(source.opaque, content)
        g_object_unref(content)
        g_bytes_unref(data)
        // A button takes each press for a click of its own, unless a drag may be one before it.
        gtk_event_controller_set_propagation_phase(source.opaque, GTK_PHASE_CAPTURE)
        add(source)
    }
}

private let gtkButtons =
    GDK_BUTTON1_MASK.rawValue | GDK_BUTTON2_MASK.rawValue
    | GDK_BUTTON3_MASK.rawValue
private let gtkControl = GDK_CONTROL_MASK.rawValue
private let gtkShift = GDK_SHIFT_MASK.rawValue
private let gtkAlt = GDK_ALT_MASK.rawValue
private let gtkSuper = GDK_SUPER_MASK.rawValue
