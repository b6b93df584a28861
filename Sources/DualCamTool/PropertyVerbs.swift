import ArgumentParser
import Control
import DBusKit
import DualCamCore
import Frames
import Glibc
import Platform

// MARK: - Texts

extension PropertyVerb.Text {
    typealias Change = PropertyVerb.Change

    /// Words, and those for the next and the previous.
    private static func words(_ words: [String], _ help: String) -> (String) -> Self {
        let steps = ["next", "previous"]
        let expected = alternatives(words + steps)
        return { name in
            Self(
                help: help.isEmpty ? expected + "." : help,
                completion: .list(words + steps),
                expected: expected,
                read: { given in
                    if words.contains(given) { return .set(.string(given)) }
                    return steps.contains(given) ? .step(.string(given)) : nil
                },
                shown: { $0[name]?.string ?? "" }
            )
        }
    }

    /// A point, as in "0.3,0.5".
    static func point(_ name: String) -> Self {
        Self(
            help: "",
            expected: "two numbers from 0 to 1, such as 0.3,0.5",
            read: { (try? DualCamTool.point($0)).map { .set([$0.first, $0.second].dbus) } },
            shown: { JSON($0[name]).text }
        )
    }

    /// Returns where the inset is: at its `position`, or else in its `corner`.
    static func place(_ corner: String, _ position: [Double]?) -> String {
        guard let position, position.count == 2 else { return corner }
        return "at " + position.map(\.tidy).joined(separator: ",")
    }

    static func onOff(_ name: String) -> Self {
        Self(
            help: "Turn it on or off; toggle switches from one to the other.",
            completion: .list(Switch.allCases.map(\.rawValue)),
            expected: "on, off or toggle",
            read: { given in
                switch Switch(rawValue: given) {
                case .on: .set(.boolean(true))
                case .off: .set(.boolean(false))
                case .toggle: .step(.string("toggle"))
                case nil: nil
                }
            },
            shown: { $0[name]?.boolean == true ? "on" : "off" }
        )
    }

    /// The values of a setting, from its row.
    static func row(_ key: String, help: String = "") -> (String) -> Self {
        let initial = Settings.widest
        if let row = Settings.rows.first(where: { $0.key == key }) {
            return text(row, initial, help)
        }
        guard let row = CameraSettings.rows.first(where: { $0.key == key }) else {
            preconditionFailure("there is no setting \(key)")
        }
        return text(row, initial.cameras.back, help)
    }

    private static func text<Owner>(
        _ row: Setting<Owner>,
        _ initial: Owner,
        _ help: String
    ) -> (String) -> Self {
        guard row.words.isEmpty else { return words(row.words, help) }
        var owner = initial
        var expected = ""
        do throws(UnreadableValue) { try row.read(.text(""), &owner) } catch {
            expected = error.expected
        }
        let isCounted = row.range == nil
        return { name in
            Self(
                help: help,
                expected: expected,
                read: { given in
                    var next = initial
                    switch Amount(given, percent: row.range?.upperBound ?? 2 <= 1) {
                    case .by(let change):
                        guard row.step(change, &next) != nil else { return nil }
                        guard isCounted else { return .step(.double(change)) }
                        return Int32(exactly: change).map { Change.step(.int32($0)) }
                    case .to(let number):
                        let whole = isCounted ? Int(exactly: number) : nil
                        let plain = whole.map { Plain.int($0) } ?? .double(number)
                        guard (try? row.read(plain, &next)) != nil else { return nil }
                        return .set(Value(plain))
                    case nil: return nil
                    }
                },
                shown: { JSON($0[name]).text }
            )
        }
    }
}

extension PropertyVerb.Change {
    fileprivate static func set<Content, Known>(
        by method: KeyPath<ControlsInterface, MethodMember<Content, Known, Void>>,
        _ value: Content
    ) -> Self {
        .call { (client, path) throws(Failure) in
            try client.call(method, at: path, value)
            return false
        }
    }
}

// MARK: - The picture

extension PropertyVerb {
    /// A verb for a property that is on or off.
    fileprivate static func onOff<Members: InterfaceMembers>(
        _ name: String,
        _ property: KeyPath<Members, PropertyMember<Bool>>,
        _ abstract: String,
        discussion: String = "",
        key: String? = nil,
        presence: KeyPath<CameraInterface, PropertyMember<Bool>>? = nil
    ) -> Self {
        Self(
            name,
            abstract,
            discussion: discussion,
            of: Members.self,
            [Members.members[keyPath: property].name + (key.map { "=\($0)" } ?? "")],
            presence: presence,
            text: Text.onOff
        )
    }

    /// A verb for a value of the dials of Pro mode: `clicks` of a dial, or what `read` finds.
    fileprivate static func dial<Content>(
        _ name: String,
        _ abstract: String,
        _ properties: [String],
        _ help: String,
        _ completion: CompletionKind,
        expecting expected: String,
        _ clicks: KeyPath<ControlsInterface, MethodMember<Int32, NoOptions, (Content, Bool)>>,
        _ shown: @escaping (PropertyValues<ControlsInterface>) -> String,
        read: @escaping (String) -> Change?
    ) -> Self {
        Self(name, abstract, of: ControlsInterface.self, properties) { _ in
            Text(
                help: help,
                completion: completion,
                expected: expected,
                read: { given in
                    let isSigned = given.hasPrefix("+") || given.hasPrefix("-")
                    guard isSigned, let count = Int32(given) else { return read(given) }
                    return .call { (client, path) throws(Failure) in
                        try client.call(clicks, at: path, count).1
                    }
                },
                shown: { shown(PropertyValues($0)) }
            )
        }
    }
}

enum MainCamera: PropertyKind {
    static var verb: PropertyVerb {
        PropertyVerb(
            "main",
            "Choose the camera that the stream shows large.",
            of: SceneInterface.self,
            ["Main", "Swapped"]
        ) { name in
            PropertyVerb.Text(
                help: "back, front; or toggle, as swap does.",
                completion: .list(["back", "front", "toggle"]),
                expected: "back, front or toggle",
                read: { given in
                    let role = Role(rawValue: given)
                    guard role != nil || given == "toggle" else { return nil }
                    return .call { (client, _) throws(Failure) in
                        if let role {
                            try client.set(\SceneInterface.swapped, to: role == .front)
                        } else {
                            try client.call(\SceneInterface.swap)
                        }
                        return false
                    }
                },
                shown: { Role($0[name]?.objectPath)?.rawValue ?? "" }
            )
        }
    }
}

enum LayoutKind: PropertyKind {
    static var verb: PropertyVerb {
        let help = """
            pip: the main picture with the inset; side-by-side, stacked: both at the same size, \
            beside or above each other; single: the main picture alone; next: the one after the current one.
            """
        return PropertyVerb(
            "layout",
            "Choose how the two pictures are arranged.",
            of: SceneInterface.self,
            ["Layout"],
            text: PropertyVerb.Text.row("layout", help: help)
        )
    }
}

enum SwapIcon: PropertyKind {
    static var verb: PropertyVerb {
        .onOff("swap-icon", \SceneInterface.swapIcon, "Show an icon in the corner of the inset.")
    }
}

enum Hud: PropertyKind {
    static var verb: PropertyVerb {
        PropertyVerb(
            "hud",
            "Choose when the picture shows the camera's values.",
            of: SceneInterface.self,
            ["Hud"],
            text: PropertyVerb.Text.row(
                "hud",
                help: "off; pro: while Pro mode is on; always; next."
            )
        )
    }
}

enum Mirror: CameraKind {
    static var verb: PropertyVerb {
        .onOff("mirror", \CameraInterface.mirror, "Mirror a camera's picture left to right.")
    }
}

enum Rotation: CameraKind {
    static var verb: PropertyVerb {
        PropertyVerb(
            "rotate",
            "Set how a camera is mounted.",
            of: CameraInterface.self,
            ["Rotation"]
        ) { name in
            let help = "Degrees clockwise: 0, 90, 180 or 270; or a change such as +90."
            var text = PropertyVerb.Text.row("rotation", help: help)(name)
            text.completion = .list(["0", "90", "180", "270", "+90"])
            text.shown = { "\(JSON($0[name]).text)°" }
            return text
        }
    }
}

enum OrientationMode: PropertyKind {
    static var verb: PropertyVerb {
        PropertyVerb(
            "orientation",
            "Turn the pictures to match the way the device is held.",
            discussion: """
                The mode names the edge of the device that is up; auto follows its sensor, normal \
                does not turn the pictures.
                """,
            of: OrientationInterface.self,
            ["Mode", "Current=orientation", "SensorAvailable"],
            text: PropertyVerb.Text.row("orientation")
        )
    }
}

enum Torch: CameraKind {
    static var verb: PropertyVerb {
        .onOff(
            "torch",
            \CameraInterface.torch,
            "Turn a camera's light on or off.",
            discussion: "Without --camera, it is the camera that has a light, first the large one.",
            presence: \.torchAvailable
        )
    }
}

enum Freeze: CameraKind {
    static var verb: PropertyVerb {
        .onOff(
            "freeze",
            \CameraInterface.frozen,
            "Freeze a camera's picture, or show it live again.",
            discussion: """
                The camera stays open, so its live picture returns at once. Privacy unfreezes it, and \
                forgets the picture. Photos and recordings of the camera itself stay live.
                """
        )
    }
}

enum Ink: CameraKind {
    static var verb: PropertyVerb {
        .onOff("ink", \CameraInterface.ink, "Make paper evenly white and ink dark.")
    }
}

enum RoomKind: CameraKind {
    static var verb: PropertyVerb {
        let discussion = """
            As long as nobody is found, the picture is hidden whole. Photos and recordings of the \
            camera itself show the room; those of the stream do not.
            """
        return PropertyVerb(
            "room",
            "Blur what is behind you, or show a picture there.",
            discussion: discussion,
            of: CameraInterface.self,
            ["Room"]
        ) { name in
            PropertyVerb.Text(
                help: "as-is; blur; or the file of a picture to show instead.",
                completion: .file(),
                expected: "as-is, blur or a file that is there",
                read: { given in
                    if ["as-is", "blur"].contains(given) { return .set(.string(given)) }
                    let path = absolutePath(given)
                    return access(path, R_OK) == 0 ? .set(.string(path)) : nil
                },
                shown: { $0[name]?.string ?? "" }
            )
        }
    }
}

enum AwayPicture: PropertyKind {
    static var verb: PropertyVerb {
        PropertyVerb(
            "away-picture",
            "Choose a picture to show while privacy closes the cameras, and until they start.",
            of: SceneInterface.self,
            ["Away"]
        ) { name in
            PropertyVerb.Text(
                help: "The file of a picture, or none.",
                completion: .file(),
                expected: "none or a file that is there",
                read: { given in
                    if given == "none" { return .set(.string("")) }
                    let path = absolutePath(given)
                    return access(path, R_OK) == 0 ? .set(.string(path)) : nil
                },
                shown: { $0[name]?.string.flatMap { $0.isEmpty ? nil : $0 } ?? "none" }
            )
        }
    }
}

extension PropertyVerb {
    /// The verb of a camera's setting from 0 to 1.
    fileprivate static func fraction(
        _ name: String,
        _ abstract: String,
        _ property: String
    ) -> Self {
        let text = Text.row(name, help: "0 to 1; or a change such as +0.1.")
        return Self(name, abstract, of: CameraInterface.self, [property], text: text)
    }
}

enum RoomBlur: CameraKind {
    static var verb: PropertyVerb {
        .fraction("room-blur", "Set how much a blurred room is blurred.", "RoomBlur")
    }
}

enum FramingKind: CameraKind {
    static var verb: PropertyVerb {
        let discussion = """
            The picture is cropped to you. It stays while you talk, moves once when you have moved, \
            and keeps two persons in. A zoom by hand turns it off, until you ask for calm again.
            """
        return PropertyVerb(
            "framing",
            "Have the picture follow you, calmly.",
            discussion: discussion,
            of: CameraInterface.self,
            ["Framing"],
            text: PropertyVerb.Text.row("framing")
        )
    }
}

enum FramingTightness: CameraKind {
    static var verb: PropertyVerb {
        .fraction(
            "framing-tightness",
            "Set how large calm framing shows you.",
            "FramingTightness"
        )
    }
}

enum MeteringKind: CameraKind {
    static var verb: PropertyVerb {
        let discussion = """
            `face` sets the camera's exposure so that the largest face has the right light, as long \
            as you set none of it by hand.
            """
        return PropertyVerb(
            "metering",
            "Set what the exposure is for: all of the picture, or your face.",
            discussion: discussion,
            of: CameraInterface.self,
            ["Metering"],
            text: PropertyVerb.Text.row("metering")
        )
    }
}

// MARK: - The rest

enum Privacy: PropertyKind {
    static var verb: PropertyVerb {
        .onOff(
            "privacy",
            \PrivacyInterface.enabled,
            "Close both cameras for every app; the stream shows the last picture, blurred.",
            key: "privacy"
        )
    }
}

enum LivePhoto: PropertyKind {
    static var verb: PropertyVerb {
        .onOff(
            "live-photo",
            \CaptureInterface.livePhoto,
            "Save a short movie beside every photo.",
            discussion: "Stays on after a restart, unless remember is false in the configuration."
        )
    }
}

enum ProMode: PropertyKind {
    static var verb: PropertyVerb {
        .onOff(
            "pro",
            \ProInterface.enabled,
            "Show the main camera's values in the picture, and set them yourself.",
            discussion: "When you turn it off, every value of both cameras returns to automatic.",
            key: "pro"
        )
    }
}

enum ISO: CameraKind {
    static var verb: PropertyVerb {
        .dial(
            "iso",
            "Set a camera's ISO.",
            ["Iso", "IsoAuto", "IsoApproximate"],
            "An ISO such as 400; +N or -N, in third stops; or auto.",
            .isoStops,
            expecting: "a number, +N, -N or auto",
            \.stepISO
        ) { values in
            automatic(values[\.isoAuto], values.isoText ?? "")
        } read: { given in
            if given == "auto" { return .set(by: \.setAuto, ["iso"]) }
            return UInt32(given).map { .set(by: \.setISO, $0) }
        }
    }
}

/// Returns "auto (1/250)" for a value that the camera has chosen.
private func automatic(_ isAutomatic: Bool?, _ text: String) -> String {
    guard isAutomatic ?? true else { return text.isEmpty ? "unknown" : text }
    return text.isEmpty ? "auto" : "auto (\(text))"
}

enum Shutter: CameraKind {
    static var verb: PropertyVerb {
        .dial(
            "shutter",
            "Set a camera's exposure time.",
            ["Shutter", "ShutterText", "ExposureAuto"],
            "1/250 or 0.5s; +N (faster) or -N (slower), in third stops; or auto.",
            .shutterStops,
            expecting: "1/N, a time such as 0.5s, +N, -N or auto",
            \.stepShutter
        ) { values in
            automatic(values[\.exposureAuto], values[\.shutterText] ?? "")
        } read: { given in
            if given == "auto" { return .set(by: \.setAuto, ["shutter"]) }
            return microseconds(given).map { .set(by: \.setShutter, $0) }
        }
    }

    /// Returns "1/250", "0.5s", `1"`, "20ms" or "4000us" in microseconds, or `nil` for any other
    /// text.
    static func microseconds(_ text: String) -> UInt64? {
        if text.hasPrefix("1/") {
            let parts = Double(text.dropFirst(2)) ?? 0
            return (1...1e6).contains(parts) ? UInt64((1e6 / parts).rounded()) : nil
        }
        let units = [("us", 1.0), ("ms", 1000), ("s", 1e6), ("\"", 1e6)]
        guard let (suffix, unit) = units.first(where: { text.hasSuffix($0.0) }),
            case let digits = text.dropLast(suffix.count),
            digits.first?.isNumber == true || digits.first == ".",
            let number = Double(digits), number > 0, number * unit < 1e9
        else { return nil }
        return UInt64((number * unit).rounded())
    }
}

enum Focus: CameraKind {
    static var verb: PropertyVerb {
        .dial(
            "focus",
            "Set a camera's focus.",
            ["Focus", "FocusText", "FocusAuto"],
            """
            near, infinity, or 0 (near) to 1; with a sign, such as +0.1 (farther), relative to the \
            current value; +N or -N clicks; or auto.
            """,
            .list(["auto", "near", "infinity"]),
            expecting: "near, infinity, 0 to 1, a change such as +0.1, +N, -N or auto",
            \.stepFocus
        ) { values in
            let distance = values[\.focusText] ?? ""
            let text = (values[\.focus] ?? 0).tidy + (distance.isEmpty ? "" : " (\(distance))")
            return values[\.focusAuto] ?? true ? "auto" : text
        } read: { given in
            if given == "auto" { return .set(by: \.setAuto, ["focus"]) }
            if let focus = ["near": 0.0, "infinity": 1][given] {
                return .set(by: \.setFocus, focus)
            }
            switch Amount(given, percent: true) {
            case .by(let change): return .step(.double(change))
            case .to(let focus):
                return (0...1).contains(focus) ? .set(by: \.setFocus, focus) : nil
            case nil: return nil
            }
        }
    }
}

enum WhiteBalanceKind: CameraKind {
    static var verb: PropertyVerb {
        let presets = WhiteBalance.words
        return .dial(
            "wb",
            "Set a camera's white balance.",
            ["WhiteBalance", "Kelvin", "Software"],
            """
            auto, sunny, cloudy, shade, tungsten, fluorescent; a temperature such as 5500K; a \
            change such as +500K; +N or -N, in hundreds of kelvins.
            """,
            .list(presets + ["5500K"]),
            expecting: presets.joined(separator: ", ")
                + ", a temperature such as 5500K, a change such as +500K, +N or -N",
            \.stepKelvin
        ) { values in
            let kelvin = values.kelvinText
            let word = values[\.whiteBalance] ?? "auto"
            guard word != "custom", let kelvin else { return kelvin ?? word }
            return "\(word) (\(kelvin))"
        } read: { given in
            if presets.contains(given) { return .set(by: \.setWhiteBalance, given) }
            let isKelvin = given.hasSuffix("K") || given.hasSuffix("k")
            let digits = isKelvin ? given.dropLast() : given[...]
            if isKelvin, given.hasPrefix("+") || given.hasPrefix("-") {
                return Int32(digits).map { change in
                    let step = (ControlsInterface.name, "Kelvin", Variant(.int32(change)))
                    return .call { (client, path) throws(Failure) in
                        try client.call(\StepsInterface.step, at: path, step).1
                    }
                }
            }
            return UInt32(digits).map { .set(by: \.setKelvin, $0) }
        }
    }
}

enum Compensation: CameraKind {
    static var verb: PropertyVerb {
        PropertyVerb(
            "ev",
            "Make a camera's picture lighter or darker.",
            discussion: "This is done in software, and works with any camera.",
            of: ControlsInterface.self,
            ["Compensation"]
        ) { _ in
            PropertyVerb.Text(
                help: """
                    Stops. With a sign, such as +1 or -0.3, relative to the current value; without one, \
                    0 to 2. =-1 sets a negative value; auto is 0.
                    """,
                completion: .list(["auto", "+0.3", "+1", "0", "1", "2"]),
                expected: "stops such as +1, -0.3, 0, =-1 or auto",
                read: { given in
                    switch given == "auto" ? .to(0) : Amount(given) {
                    case .by(let change): return .step(.double(change))
                    case .to(let stops): return .set(by: \.setCompensation, stops)
                    case nil: return nil
                    }
                },
                shown: { PropertyValues<ControlsInterface>($0).stopsText }
            )
        }
    }
}
