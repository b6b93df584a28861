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
    package var isThere = true
}

/// A device that gets ready to replace the one whose picture is shown.
package struct IncomingLens: Hashable, Sendable {
    /// The identity of the device.
    package var device: String
    /// The magnification of the device.
    package var factor: Double
    /// The mode that it delivers, once it does; `unreducedMode`: the one the bus has no room for.
    package internal(set) var mode: CaptureMode?
    var unreducedMode: CaptureMode?
    /// Its controls as last reported.
    package internal(set) var controls: CameraControls
    /// `true` if the shown device was closed for lack of room for both. Its last picture stays.
    package internal(set) var holds = false
    /// `true` while the pictures are crossing over.
    package internal(set) var isCrossing = false
    /// The time since which it could cross over, but for a device that has zoomed in too far.
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
    /// The devices that did not deliver when they were to come in last.
    package internal(set) var troubled: Set<String> = []
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
    /// The seconds of the next move; `nil`: the usual ones. Set while one event is handled.
    var ramp: Double?
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

    /// `true` while the light decides between lenses: a narrower one is shown, or waits for light.
    package var isLightWatched: Bool {
        dark != nil || present.contains { $0.deviceFactor < factor && !failed.contains($0.device) }
    }

    /// Returns `true` if a picture of this mean luma may be too dark.
    package static func mayBeDark(_ luma: Double) -> Bool { luma < darkest }

    /// Notes the mean luma shown. `isAtEnd`: the camera can gather no more light.
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

    package var present: [Lens] { all.filter(\.isThere) }

    /// The range of magnification: digital zoom extends that of the lenses and their own zooms.
    package var zoomRange: ClosedRange<Double> {
        let least = present.map(\.factor).min() ?? 1
        let most = present.map { max($0.factor, $0.deviceFactor * (reaches[$0.device] ?? 1)) }.max()
        return min(1, least)...Self.mostDigitalZoom * max(1, most ?? 1)
    }

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
