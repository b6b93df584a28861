/// A control of the picture, in the driver's numbers. The words are those of the configuration, of
/// commands and of D-Bus.
package enum ImageControl: String, CaseIterable, Hashable, Sendable {
    case brightness, contrast, saturation, sharpness, hue, gamma, backlight, pan, tilt

    /// `true` if the camera itself turns, or its picture as if it did.
    package var moves: Bool { self == .pan || self == .tilt }
}

extension CameraControls {
    /// The image controls that the camera has, with the wanted values where it can take them.
    package var image: [(name: ImageControl, control: DeviceControl)] {
        ImageControl.allCases.compactMap { name in
            control(for: .image(name)).map { control in
                var shown = control
                shown.value = wanted(name) ?? control.value
                return (name, shown)
            }
        }
    }

    /// Returns the wanted value of `name`, if there is one that the camera can take. It may have
    /// been meant for another camera.
    package func wanted(_ name: ImageControl) -> Int? {
        manual.image[name].flatMap { refusal(of: $0, for: name) == nil ? $0 : nil }
    }

    /// Returns the reason that the camera cannot take `value` for `name`, if there is one.
    func refusal(of value: Int, for name: ImageControl) -> ControlRefusal? {
        guard let control = control(for: .image(name)) else {
            return .notSupported(
                "This camera has no \(name.rawValue). `dualcamctl image` lists what it has."
            )
        }
        return control.range.contains(value)
            ? nil : .outOfRange(name.rawValue, value, control.range)
    }

    /// Plans to set `name` to `value`; `nil`: to the value that it was found with.
    func planImage(
        _ name: ImageControl,
        _ value: Int?,
        _ plan: inout ControlPlan
    ) throws(ControlRefusal) {
        if let value, let refusal = refusal(of: value, for: name) { throw refusal }
        plan.manual.image[name] = value.map { value in
            control(for: .image(name))?.nearest(to: Double(value)) ?? value
        }
        plan.image.append(name)
    }

    /// Notes that another program, or a hand, has moved `name` to `value`. This replaces the wanted
    /// value, if there is one that this camera can take.
    package mutating func noteMoved(_ name: ImageControl, to value: Int) {
        if wanted(name) != nil { manual.image[name] = value }
    }
}
