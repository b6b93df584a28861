package import Frames
import Glibc

/// The part of a camera's picture that its exposure is for.
package enum Metering: String, CaseIterable, Hashable, Sendable {
    /// All of it, as the camera does by itself.
    case frame
    case face
}

/// Tells by how much a camera's exposure is to change so that a face has the light it should. It
/// waits for each change to be seen. Pure.
package struct FaceMetering: Hashable, Sendable {
    private var isSettled = true
    private var changed: Timestamp?
    private var seen: Timestamp?

    /// The luma that a face should have, and the stops that it may be off before something is done,
    /// and after.
    private static let (wanted, off, near) = (150.0, 0.18, 0.08)
    /// The share of what is off that is made up for at once, and the seconds until that is seen.
    private static let (share, delay) = (0.75, 0.3)
    /// The seconds without a face until the camera decides again.
    private static let absence = 8.0

    package init() {}

    /// Returns the stops of light that a face of `luma` lacks at `time`.
    package static func lack(of luma: Double) -> Double {
        (2.2 * log2(wanted / max(luma, 8))).clamped(to: -3...3)
    }

    /// Takes over the luma of a face. Returns the stops by which to change the exposure now, if at
    /// all.
    package mutating func see(_ luma: Double, at time: Timestamp) -> Double? {
        seen = time
        let lack = Self.lack(of: luma)
        isSettled = abs(lack) < (isSettled ? Self.off : Self.near)
        guard !isSettled, changed.map({ (time - $0).seconds >= Self.delay }) ?? true else {
            return nil
        }
        changed = time
        return Self.share * lack
    }

    /// Returns `true` if there was no face for so long that nobody needs it at `time`.
    package func isOver(at time: Timestamp) -> Bool {
        seen.map { (time - $0).seconds > Self.absence } ?? true
    }
}

extension DeviceControl.Purpose {
    /// `true` if it decides how light the pictures are.
    package var isExposure: Bool {
        switch self {
        case .exposureMode, .exposureTime, .isoMode, .iso, .autogain, .analogueGain, .gain: true
        default: false
        }
    }

    /// `true` if it turns the automatic for an exposure on or off.
    package var isExposureSwitch: Bool { isExposure && lockSubject != nil }
}

extension CameraControls {
    /// The stops of light that software adds to metered pictures, at most.
    static let softwareStops = -1.0...1.0

    /// `true` if nothing about the exposure is set by hand.
    package var mayMeter: Bool { !isExposureByHand && manual.compensation == 0 }

    /// `true` if the exposure itself is set by hand, or locked.
    package var isExposureByHand: Bool {
        manual.iso != nil || manual.shutter != nil || manual.holdsShutter
            || manual.lock.values[.exposure] != nil
    }

    /// Moves what software adds towards `stops`.
    package mutating func meterInSoftware(_ stops: Double) {
        let next = metered + 0.6 * (stops.clamped(to: Self.softwareStops) - metered)
        metered = abs(next) < 0.05 ? 0 : next
    }

    /// Returns the writes that give the pictures `stops` more light, switches first; none if that
    /// is no change, or the exposure is not ours to decide. Lamps of `mains` do not flicker, and
    /// frames do not get slower.
    package func exposing(_ stops: Double, mains: MainsFrequency) -> [ControlWrite] {
        guard mayMeter, let control = exposureTime,
            isMetering || exposureMode == nil || isExposureAutomatic
        else { return [] }
        // A menu of ISO is too coarse; what it would do, software does.
        let gain = sensitivity.flatMap { $0.purpose == .iso ? nil : $0 }
        let now = gain.map { isoExactly($0.value, on: $0) } ?? 1
        let (least, most) =
            gain.map {
                (isoExactly($0.range.lowerBound, on: $0), isoExactly($0.range.upperBound, on: $0))
            } ?? (1, 1)
        let light = Double(max(1, control.value)) * now * pow(2, stops)
        // Times are in units of 100 µs.
        let longest = min(Double(control.range.upperBound), 1e4 / max(settings.frameRate, 0.1))
        var time = min(light / least, longest)
        if let half = mains.halfPeriod, time >= half {
            time = (time / half + 1e-6).rounded(.down) * half
        }
        let value = control.nearest(to: max(1, time))
        var writes = value == control.value ? [] : [ControlWrite(control, value)]
        if let gain {
            let wanted = (light / Double(max(1, value))).clamped(to: least...most)
            let next = self.gain(for: Int(wanted.rounded()), on: gain)
            if next != gain.value { writes.append(ControlWrite(gain, next)) }
        }
        guard !writes.isEmpty else { return [] }
        let mode = exposureMode.flatMap { mode in manualExposure.map { ControlWrite(mode, $0) } }
        let switches = [mode, isoSwitch.map { ControlWrite($0, 0) }].compactMap { $0 }
        return switches.filter { write in
            device.contains { $0.id == write.id && $0.value != write.value }
        } + writes
    }
}

extension MainsFrequency {
    /// The time between two flashes of a lamp, in units of 100 µs; `nil` if that is not known.
    fileprivate var halfPeriod: Double? {
        switch self {
        case .hz50: 100
        case .hz60: 1e4 / 120
        case .both, .unknown: nil
        }
    }
}
