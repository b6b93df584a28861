import Frames

/// A lens of a camera: a device, or a zoom step of one.
package struct Lens: Hashable, Sendable {
    /// The name: "ultra-wide", "wide", "telephoto" or the user's word.
    package var name: String
    /// The magnification; that of "wide" is 1.
    package var factor: Double
    /// The identity of the device behind it.
    package var device: String
    /// The magnification of that device; the lens may be a zoom step of it.
    package var deviceFactor: Double
    /// `true` while the device is there.
    package var isThere: Bool

    /// A lens of `device`.
    package init(
        name: String,
        factor: Double,
        device: String,
        deviceFactor: Double,
        isThere: Bool = true
    ) {
        self.name = name
        self.factor = factor
        self.device = device
        self.deviceFactor = deviceFactor
        self.isThere = isThere
    }
}

/// A device that gets ready to replace the one whose picture is shown.
package struct IncomingLens: Hashable, Sendable {
    /// The identity of the device.
    package var device: String
    /// The magnification of the device.
    package var factor: Double
    /// The mode that it delivers, once it does. `unreducedMode` is the mode that the bus has no
    /// room for, if any.
    package internal(set) var mode: CaptureMode?
    var unreducedMode: CaptureMode?
    /// Its controls as last reported.
    package internal(set) var controls: CameraControls
    /// `true` if the device shown was closed for this one, since the bus has no room for both. Its
    /// last picture stays.
    package internal(set) var holds = false
    /// `true` while the pictures are crossing over.
    package internal(set) var isCrossing = false
    /// The time since which the pictures could cross over, if one of the devices did not zoom in
    /// farther than is wanted.
    var waitsSince: Timestamp?
    /// The reason that it failed during the crossing, if it did.
    var failure: Interruption?
}

/// The state of a camera's lenses, and of the devices behind them.
package struct LensState: Hashable, Sendable {
    /// All configured lenses, by magnification.
    package internal(set) var all: [Lens] = []
    /// The magnification wanted; that of the lens "wide" is 1.
    package internal(set) var zoom = 1.0
    /// The point wanted in the middle, relative to the picture of the lens "wide".
    var middle = NormalizedPoint.middle
    /// The device whose picture is shown; the camera itself if it has no other.
    package internal(set) var device = ""
    /// The magnification of that device.
    package internal(set) var factor = 1.0
    /// The pipeline of that device.
    package internal(set) var pipeline = CapturePipeline.a
    /// The device that gets ready in the other pipeline, if any.
    package internal(set) var incoming: IncomingLens?
    /// `true` while the other pipeline has a device open, or may have.
    var isOtherOpen = false
    /// The devices that failed, and are not tried for a while.
    var failed: Set<String> = []
    /// The device whose picture is too dark to use, if any.
    var dark: String?
    /// The time since which the picture is too dark, or bright enough to try `dark` again; and the
    /// seconds that it has to stay bright.
    var lightSince: Timestamp?
    var brightDuration = Self.leastBright
    /// `true` if a zoom was requested. Otherwise the device's own zoom stays as it was found.
    var isZoomAsked = false
    /// The number of the latest `ZoomRequest`.
    package internal(set) var zoomNumber = 0
    /// The highest magnifications of the devices' own zooms, by device, as far as known.
    var reaches: [String: Double] = [:]
    /// The arguments of the latest move.
    var aim = Aim(zoom: 1, middle: .middle, inside: 1)

    /// The arguments of `Framing.move`.
    struct Aim: Hashable, Sendable {
        var zoom: Double
        var middle: NormalizedPoint
        var inside: Double
    }

    /// The limit of digital zoom. Cropped further, too little of a picture is left to look at.
    private static let mostDigitalZoom = 8.0
    /// The seconds after which a device that failed is tried again.
    package static let retryDelay = 5.0
    /// The mean luma below which a picture is too dark, and above which the next wider lens's
    /// picture is bright enough again; and the seconds that this has to last. The seconds for
    /// bright double each time, up to a limit.
    private static let (darkest, lightest) = (30.0, 60.0)
    private static let (darkDuration, leastBright, mostBright) = (2.0, 3.0, 60.0)

    /// `true` while the light decides between lenses: a narrower lens is shown, or would be if it
    /// were not too dark.
    package var isLightWatched: Bool {
        dark != nil || present.contains { $0.deviceFactor < factor && !failed.contains($0.device) }
    }

    /// Returns `true` if a picture of this mean luma may be too dark.
    package static func mayBeDark(_ luma: Double) -> Bool { luma < darkest }

    /// Notes the mean luma of the picture shown. `isAtEnd` is `true` if the camera can gather no
    /// more light.
    mutating func see(_ luma: Double, isAtEnd: Bool, at time: Timestamp) {
        func isSo(for duration: Double, _ condition: Bool) -> Bool {
            lightSince = condition ? lightSince ?? time : nil
            return lightSince.map { (time - $0).seconds >= duration } ?? false
        }
        if let dark, dark != device {
            guard isSo(for: brightDuration, luma > Self.lightest) else { return }
            self.dark = nil
            brightDuration = min(2 * brightDuration, Self.mostBright)
        } else {
            guard isSo(for: Self.darkDuration, isLightWatched && isAtEnd && Self.mayBeDark(luma))
            else { return }
            dark = device
        }
        lightSince = nil
    }

    /// Forgets which device was too dark, so that a new view tries it again.
    mutating func forgetDark() {
        dark = nil
        lightSince = nil
        brightDuration = Self.leastBright
    }

    /// The seconds that a crossing waits for a device's own zoom.
    static let zoomTimeout = 3.0
    /// The usual duration of a zoom, in seconds.
    package static let usualDuration = 0.3

    /// The lenses whose devices are there.
    package var present: [Lens] { all.filter(\.isThere) }

    /// The range of the camera's magnification. Digital zoom extends that of the lenses and their
    /// own zooms.
    package var zoomRange: ClosedRange<Double> {
        let least = present.map(\.factor).min() ?? 1
        let most = present.map { max($0.factor, $0.deviceFactor * (reaches[$0.device] ?? 1)) }.max()
        return min(1, least)...Self.mostDigitalZoom * max(1, most ?? 1)
    }

    /// The lens that the magnification selects.
    package var selected: Lens? {
        all.last { $0.factor <= zoom * (1 + 1e-6) } ?? all.first
    }

    /// The device that can best show what is wanted.
    var wanted: (device: String, factor: Double) {
        let usable = present.filter { !failed.contains($0.device) && $0.device != dark }
            .sorted { $0.deviceFactor < $1.deviceFactor }
        let fitting = usable.filter { $0.deviceFactor <= zoom * (1 + 1e-6) }
        guard let best = fitting.last ?? usable.first else { return (device, factor) }
        // Of two equally good devices, keep the one shown.
        let same = usable.filter { $0.deviceFactor == best.deviceFactor }
        let lens = same.first { $0.device == device } ?? best
        return (lens.device, lens.deviceFactor)
    }

    /// `true` while another device's picture, cropped, replaces that of the selected lens.
    package var isFallback: Bool {
        guard let selected else { return false }
        return selected.device != wanted.device
    }

    mutating func show(_ device: String, factor: Double) {
        self.device = device
        self.factor = factor
    }

}

// MARK: What happens

extension State {
    /// Takes the lenses of a camera.
    mutating func findLenses(_ role: Role, _ lenses: [Lens]) {
        let before = cameras[role].lens.present.map(\.device)
        cameras[role].lens.all = lenses.sorted { $0.factor < $1.factor }
        for lens in lenses where lens.isThere && !before.contains(lens.device) {
            cameras[role].lens.failed.remove(lens.device)
        }
        if let own = lenses.first(where: { $0.device == cameras[role].lens.device }) {
            cameras[role].lens.factor = own.deviceFactor
        }
    }

    /// Handles a failure of the device shown: another device takes over if there is one and it can
    /// help.
    mutating func lensFailed(_ role: Role, _ why: Interruption) -> [Effect] {
        let lens = cameras[role].lens
        guard [.unplugged, .busy, .denied].contains(why),
            lens.present.contains(where: {
                $0.device != lens.device && !lens.failed.contains($0.device)
            })
        else { return [] }
        cameras[role].lens.failed.insert(lens.device)
        return [.startLensRetry(role)]
    }

    /// Handles a failure of the incoming device.
    mutating func incomingFailed(_ role: Role, _ why: Interruption) -> [Effect] {
        guard var incoming = cameras[role].lens.incoming else { return [] }
        defer { cameras[role].lens.incoming = incoming }
        incoming.mode = nil
        if incoming.isCrossing {
            incoming.failure = why
            return []
        }
        if why == .bandwidth, !incoming.holds, cameras[role].isAsked {
            incoming.holds = true
            return [.closeCamera(role, keepsPicture: true)]
        }
        cameras[role].lens.failed.insert(incoming.device)
        return [.startLensRetry(role)]
    }

    /// Records that the incoming device delivers `mode`. The first time, it gets the manual values
    /// of the device shown, as they are by now.
    mutating func incomingStreams(
        _ role: Role,
        _ mode: CaptureMode,
        _ unreduced: CaptureMode?
    ) {
        guard let incoming = cameras[role].lens.incoming else { return }
        if incoming.mode == nil {
            let controls = carried(cameras[role].controls)
            cameras[role].lens.incoming?.controls = controls
        }
        cameras[role].lens.incoming?.mode = mode
        cameras[role].lens.incoming?.unreducedMode = unreduced
    }

    /// Begins the crossing to the incoming device, whose pictures are ready to be shown.
    mutating func incomingReady(_ role: Role, at time: Timestamp) -> [Effect] {
        guard let incoming = cameras[role].lens.incoming, incoming.mode != nil,
            !incoming.isCrossing, !scene.framings[role].isMoving(at: time)
        else { return [] }
        let camera = cameras[role]
        let next = incoming.factor * incoming.controls.magnification
        let shown = camera.lens.factor * camera.controls.magnification
        // A zoom still on its way back shows less than is wanted, so wait for it, but not for ever.
        let most = max(next, camera.mode == nil ? 0 : shown)
        let since = incoming.waitsSince ?? time
        cameras[role].lens.incoming?.waitsSince = since
        guard
            most <= scene.framings[role].zoom * 1.01
                || (time - since).seconds >= LensState.zoomTimeout
        else { return [] }
        cameras[role].lens.incoming?.isCrossing = true
        let over = scene.framings[role].cross(toFactor: next, at: time)
        return [.startCrossing(role, seconds: (over - time).seconds)]
    }

    /// Ends the crossing: the incoming device is the one shown.
    mutating func crossed(_ role: Role) -> [Effect] {
        guard let incoming = cameras[role].lens.incoming, incoming.isCrossing else { return [] }
        cameras[role].lens.pipeline = cameras[role].lens.pipeline.other
        cameras[role].lens.show(incoming.device, factor: incoming.factor)
        cameras[role].lens.incoming = nil
        cameras[role].controls = incoming.controls
        cameras[role].step = nil
        if let mode = incoming.mode {
            cameras[role].delivery = .streaming(mode, insteadOf: incoming.unreducedMode)
        } else {
            let why = incoming.failure ?? .stalled
            cameras[role].delivery = .failed(why, reason: "the lens was lost as it came")
        }
        // The device was opened in its usual mode.
        switch cameras[role].full {
        case .off: break
        case .left: cameras[role].full = .off
        case .asked, .on:
            cameras[role].full = .asked
            return [.closeLens(role), .adaptCamera(role)]
        }
        return [.closeLens(role)]
    }

    /// Returns the request for the own zoom of the device shown; `nil` if no zoom was ever
    /// requested, and it stays as it was found.
    package func zoomRequest(_ role: Role) -> ZoomRequest? {
        let (camera, lens) = (cameras[role], cameras[role].lens)
        guard lens.isZoomAsked || lens.device != camera.identity else { return nil }
        return zoomRequest(role, factor: lens.factor)
    }

    /// Returns the request for the own zoom of the incoming device; `nil` if there is none.
    package func incomingZoomRequest(_ role: Role) -> ZoomRequest? {
        cameras[role].lens.incoming.flatMap { zoomRequest(role, factor: $0.factor) }
    }

    private func zoomRequest(_ role: Role, factor: Double) -> ZoomRequest {
        ZoomRequest(
            framing: scene.framings[role],
            factor: factor,
            number: cameras[role].lens.zoomNumber
        )
    }

    /// Takes over a zoom that another program, or a hand, has set on the device shown, after its
    /// controls were read. Returns `true` if that changes the magnification.
    mutating func readZoom(_ role: Role) -> Bool {
        let (lens, controls) = (cameras[role].lens, cameras[role].controls)
        // Later requests take precedence.
        guard cameras[role].isAsked, controls.isZoomOthers,
            controls.zoomNumber == zoomRequest(role)?.number ?? 0
        else { return false }
        let zoom = lens.factor * controls.magnification
        guard zoom != lens.zoom else { return false }
        cameras[role].lens.zoom = zoom
        cameras[role].lens.middle = .middle
        cameras[role].lens.isZoomAsked = false
        return true
    }

    /// Has each camera show, or get ready, the device that can best show what is wanted, and move
    /// to the wanted part of its picture within `duration` seconds.
    mutating func followLenses(at time: Timestamp, duration: Double) -> [Effect] {
        Role.allCases.flatMap { followLens($0, at: time, duration: duration) }
    }

    private mutating func followLens(
        _ role: Role,
        at time: Timestamp,
        duration: Double
    ) -> [Effect] {
        var effects: [Effect] = []
        let camera = cameras[role]
        var lens = camera.lens
        let wanted = lens.wanted
        if !camera.isAsked {
            if let incoming = lens.incoming {
                if incoming.isCrossing {
                    let shown = lens.factor * camera.controls.magnification
                    scene.framings[role].show(lens.pipeline, factor: shown)
                }
                lens.incoming = nil
                effects.append(.closeLens(role))
            }
            // While the camera is closed, there is no picture to cross over from.
            if wanted.device != lens.device {
                lens.show(wanted.device, factor: wanted.factor)
                cameras[role].controls = carried(camera.controls)
            }
        } else if lens.incoming?.isCrossing != true {
            if wanted.device == lens.device {
                if let incoming = lens.incoming {
                    lens.incoming = nil
                    effects.append(.closeLens(role))
                    if incoming.holds { effects.append(.openCamera(role)) }
                }
            } else if lens.incoming?.device != wanted.device {
                var incoming = IncomingLens(
                    device: wanted.device,
                    factor: wanted.factor,
                    controls: carried(camera.controls)
                )
                incoming.holds = lens.incoming?.holds ?? false
                lens.incoming = incoming
                lens.isOtherOpen = true
                effects.append(.openLens(role))
            }
        }
        cameras[role].lens = lens
        let shown = lens.factor * cameras[role].controls.magnification
        if let incoming = lens.incoming, incoming.isCrossing {
            let next = incoming.factor * incoming.controls.magnification
            let then = (camera.controls.zoomTime, incoming.controls.zoomTime)
            scene.framings[role].magnify(lens.pipeline, shown, at: then.0)
            scene.framings[role].magnify(lens.pipeline.other, next, at: then.1)
            return effects
        }
        if scene.framings[role].pipeline(at: time) != lens.pipeline {
            scene.framings[role].show(lens.pipeline, factor: shown)
        } else {
            scene.framings[role].magnify(lens.pipeline, shown, at: cameras[role].controls.zoomTime)
        }
        // What is visible when the next lens is ready has to lie within its picture, too.
        let zoom = max(lens.zoom, lens.factor)
        let next = lens.incoming?.factor ?? 0
        let aim = LensState.Aim(
            zoom: zoom,
            middle: lens.middle,
            inside: max(lens.factor, next <= zoom ? next : 0)
        )
        guard aim != lens.aim else { return effects }
        cameras[role].lens.aim = aim
        cameras[role].lens.zoomNumber += 1
        scene.framings[role].move(
            to: aim.zoom,
            middle: aim.middle,
            inside: aim.inside,
            at: time,
            duration: camera.isAsked ? duration : 0
        )
        return effects
    }

    /// Returns the controls for another lens: the same manual values, but with automatic focus.
    private func carried(_ controls: CameraControls) -> CameraControls {
        var manual = controls.manual
        manual.focus = nil
        return CameraControls(manual: manual, settings: controls.settings)
    }
}
