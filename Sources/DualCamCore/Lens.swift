import Frames

/// One of a camera's lenses: a device, or a step of zoom of one.
package struct Lens: Hashable, Sendable {
    /// "ultra-wide", "wide", "telephoto" or the user's word.
    package var name: String
    /// How much it magnifies; "wide" does 1.
    package var factor: Double
    /// What the device behind it is known by.
    package var device: String
    /// How much that device magnifies, of which the lens may be a step of zoom.
    package var deviceFactor: Double
    /// Whether the device is there.
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

/// A device that gets ready to take the place of the one whose picture is shown.
package struct IncomingLens: Hashable, Sendable {
    /// What it is known by.
    package var device: String
    /// How much it magnifies.
    package var factor: Double
    /// How it delivers, once it does, and in place of which mode the bus has no room for.
    package internal(set) var mode: CaptureMode?
    var unreducedMode: CaptureMode?
    /// Its controls, as they were told of last.
    package internal(set) var controls: CameraControls
    /// The one that is shown was closed for it, since the bus has no room for both: its last picture holds.
    package internal(set) var holds = false
    /// The pictures are crossing over.
    package internal(set) var isCrossing = false
    /// Since when they could but for the zoom of one of the devices, which shows less than is wanted.
    var waitsSince: Timestamp?
    /// It failed while they did.
    var failure: Interruption?
}

/// What is known of a camera's lenses, and which of their devices' pictures is shown.
package struct LensState: Hashable, Sendable {
    /// All that it has by its configuration, by how much they magnify.
    package internal(set) var all: [Lens] = []
    /// How much it is to magnify; the lens "wide" does 1.
    package internal(set) var zoom = 1.0
    /// What is wanted in the middle of the picture, relative to that of the lens "wide".
    var middle = NormalizedPoint.middle
    /// The device whose picture is shown; the camera itself where it has but one.
    package internal(set) var device = ""
    /// How much that device magnifies.
    package internal(set) var factor = 1.0
    /// In which pipeline it is.
    package internal(set) var pipeline = CapturePipeline.a
    /// What gets ready in the other pipeline.
    package internal(set) var incoming: IncomingLens?
    /// Whether the other pipeline has a device open, or may have.
    var isOtherOpen = false
    /// Devices that failed, and are not to be tried for a while.
    var failed: Set<String> = []
    /// The device whose picture is too dark to be used.
    var dark: String?
    /// Since when it is too dark, or light enough for `dark`; and for how many seconds it has to be that.
    var lightSince: Timestamp?
    var brightDuration = Self.leastBright
    /// Whether anybody asked for a zoom; else that of the device is as it was found.
    var isZoomAsked = false
    /// The number of the latest `ZoomRequest`.
    package internal(set) var zoomNumber = 0
    /// How much devices magnify by a zoom of their own, at most, as far as that is known.
    var reaches: [String: Double] = [:]
    /// What the picture was last asked to move to.
    var aim = Aim(zoom: 1, middle: .middle, inside: 1)

    /// What `Framing.move` is told.
    struct Aim: Hashable, Sendable {
        var zoom: Double
        var middle: NormalizedPoint
        var inside: Double
    }

    /// What is left of a picture that is cropped further is too little to be looked at.
    private static let mostDigitalZoom = 8.0
    /// Seconds after which a device that failed is tried again.
    package static let retryDelay = 5.0
    /// The mean luma under which a picture is too dark, and over which the next wider lens's is light enough
    /// again; and seconds that it has to be so. Those of light double each time that it was in vain.
    private static let (darkest, lightest) = (30.0, 60.0)
    private static let (darkDuration, leastBright, mostBright) = (2.0, 3.0, 60.0)

    /// Whether a look at the light now and then tells something: a narrower lens is seen, or would be but for the dark.
    package var isLightWatched: Bool {
        dark != nil || present.contains { $0.deviceFactor < factor && !failed.contains($0.device) }
    }

    /// Whether a picture of this mean luma may be too dark.
    package static func mayBeDark(_ luma: Double) -> Bool { luma < darkest }

    /// Takes note of the light in the picture that is shown; `isAtEnd`: the camera can get no more of it.
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

    /// The user wants another view: what was too dark is tried.
    mutating func forgetDark() {
        dark = nil
        lightSince = nil
        brightDuration = Self.leastBright
    }

    /// Seconds that lenses wait for a zoom before they cross over.
    static let zoomTimeout = 3.0
    /// Seconds in which the picture moves, where nobody said how many.
    package static let usualDuration = 0.3

    /// The lenses that are there.
    package var present: [Lens] { all.filter(\.isThere) }

    /// How much the camera can magnify, digitally beyond what its lenses and their own zooms do.
    package var zoomRange: ClosedRange<Double> {
        let least = present.map(\.factor).min() ?? 1
        let most = present.map { max($0.factor, $0.deviceFactor * (reaches[$0.device] ?? 1)) }.max()
        return min(1, least)...Self.mostDigitalZoom * max(1, most ?? 1)
    }

    /// The lens that is selected, by the zoom.
    package var selected: Lens? {
        all.last { $0.factor <= zoom * (1 + 1e-6) } ?? all.first
    }

    /// The device that can best show what is wanted.
    var wanted: (device: String, factor: Double) {
        let usable = present.filter { !failed.contains($0.device) && $0.device != dark }
            .sorted { $0.deviceFactor < $1.deviceFactor }
        let fitting = usable.filter { $0.deviceFactor <= zoom * (1 + 1e-6) }
        guard let best = fitting.last ?? usable.first else { return (device, factor) }
        // Of two that are as good the one that is shown.
        let same = usable.filter { $0.deviceFactor == best.deviceFactor }
        let lens = same.first { $0.device == device } ?? best
        return (lens.device, lens.deviceFactor)
    }

    /// Whether another device's picture, cropped, stands for that of the selected lens.
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
    /// Takes over which lenses a camera has.
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

    /// The device that is shown does not deliver. What another one can do for it, it does.
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

    /// The device that gets ready does not deliver.
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

    /// The device that gets ready delivers, in `mode`. It is set as the one that is shown is by now.
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

    /// The device that gets ready delivers pictures that can be shown.
    mutating func incomingReady(_ role: Role, at time: Timestamp) -> [Effect] {
        guard let incoming = cameras[role].lens.incoming, incoming.mode != nil,
            !incoming.isCrossing, !scene.framings[role].isMoving(at: time)
        else { return [] }
        let camera = cameras[role]
        let next = incoming.factor * incoming.controls.magnification
        let shown = camera.lens.factor * camera.controls.magnification
        // A zoom that is still on its way back does not show as much as is wanted. If it ever will.
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

    /// The pictures have crossed over.
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
        // It was opened in its usual mode.
        switch cameras[role].full {
        case .off: break
        case .left: cameras[role].full = .off
        case .asked, .on:
            cameras[role].full = .asked
            return [.closeLens(role), .adaptCamera(role)]
        }
        return [.closeLens(role)]
    }

    /// What the own zoom of the device that is shown is to follow; `nil`: nobody asked for any zoom, and it stays where it
    /// was found.
    package func zoomRequest(_ role: Role) -> ZoomRequest? {
        let (camera, lens) = (cameras[role], cameras[role].lens)
        guard lens.isZoomAsked || lens.device != camera.identity else { return nil }
        return zoomRequest(role, factor: lens.factor)
    }

    /// What that of the device is to follow that gets ready.
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

    /// The controls of the device that is shown were just read. Where another program, or a hand, has turned its zoom,
    /// that is what the user wants; whether it is something else than before.
    mutating func readZoom(_ role: Role) -> Bool {
        let (lens, controls) = (cameras[role].lens, cameras[role].controls)
        // What was asked of it meanwhile counts.
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

    /// Has each camera show, or get ready, the device that can best show what is wanted, and the part of its
    /// picture that is; within `duration` seconds.
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
            // There is no picture that it would have to cross over from.
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
        // What is to be seen when the next lens is ready has to be in its picture, too.
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

    /// What is wanted of another lens: the same, but that it focuses by itself.
    private func carried(_ controls: CameraControls) -> CameraControls {
        var manual = controls.manual
        manual.focus = nil
        return CameraControls(manual: manual, settings: controls.settings)
    }
}
