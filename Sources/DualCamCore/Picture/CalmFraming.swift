package import Frames

/// The words of the setting that crops a camera's picture to the faces in it.
package enum FramingMode: String, CaseIterable, Hashable, Sendable {
    case off, calm
}

/// The part of a camera's picture that keeps the faces in it well placed. It stays while they are
/// about there, as while somebody talks, and moves once when they have moved. Places and sizes are
/// in fractions of the picture of the lens "wide". Pure.
package struct CalmFraming: Hashable, Sendable {
    /// A part of the picture to show.
    struct Shot: Hashable, Sendable {
        var zoom: Double
        var middle: NormalizedPoint
        /// The middle, if the picture had no edges.
        var place = NormalizedPoint.middle
    }

    /// A face over the last second.
    private struct Track: Hashable {
        struct Sample: Hashable {
            var face: Face
            var time: Timestamp
        }
        let start: Timestamp
        var samples: [Sample]

        var last: Sample { samples[samples.count - 1] }

        /// The mean of the last few.
        var face: Face {
            let few = samples.suffix(CalmFraming.few).map { ($0.face.box, 1.0) }
            return Face(box: Rect.mean(few), luma: last.face.luma)
        }

        /// `true` if it has not moved by more than a part of its size.
        var isSteady: Bool {
            let face = face
            return samples.allSatisfy {
                distance($0.face.box, face.box, in: face.box) < CalmFraming.steady
            }
        }
    }

    /// The part to show; `nil`: as without faces.
    private(set) var shot: Shot?
    /// The seconds in which to move there.
    var duration: Double { shot == nil ? Self.back : Self.move }
    private var tracks: [Track] = []
    /// The time since which the faces are not where they should be.
    private var amiss: Timestamp?
    private var lastSeen = Timestamp.zero

    /// The distances that a face may be off, and for a while, and within which it is at rest, in
    /// units of its size.
    private static let (still, far, steady) = (1.0, 1.5, 0.35)
    /// The least way, in the same units, that is worth a move.
    private static let worth = 0.3
    /// The times that a face may be larger or smaller than it should: at first, and then.
    private static let (firstSize, size) = (1.1, 1.4)
    /// The seconds that a face is off before the picture moves there, if it is far off and at rest,
    /// and if not; that it is there before it counts; and after which it is no more.
    private static let (patience, longPatience, proof, memory) = (0.8, 3.0, 0.5, 0.7)
    /// The seconds of a move; without faces until the whole picture is shown; and of that move.
    private static let (move, absence, back) = (1.6, 8.0, 3.0)
    /// The number of times that faces were looked for whose mean counts.
    private static let few = 4
    /// The greatest magnification, and the height of the eyes in what is shown.
    private static let (most, eyes) = (2.0, 0.4)
    /// The greatest part of what is shown that faces take together.
    private static let wide = 0.75

    /// Takes over that these faces were seen at `time`, with `home` shown where there are none.
    /// `tightness`, 0 … 1, says how large they should be.
    mutating func see(
        _ faces: [Face],
        tightness: Double,
        home: Shot,
        at time: Timestamp
    ) {
        follow(faces, at: time)
        let present = tracks.filter { (time - $0.start).seconds >= Self.proof }
        guard !present.isEmpty else {
            amiss = nil
            if tracks.isEmpty, (time - lastSeen).seconds >= Self.absence { shot = nil }
            return
        }
        lastSeen = time
        let wanted = Self.shot(of: present.map(\.face), tightness, home)
        guard let patience = patience(present.map(\.face), shot ?? home, wanted) else {
            amiss = nil
            return
        }
        let since = amiss ?? time
        amiss = since
        let isSteady = present.allSatisfy(\.isSteady)
        guard (time - since).seconds >= (isSteady ? patience : Self.longPatience) else { return }
        (shot, amiss) = (wanted, nil)
    }

    /// Finds out which face is which.
    private mutating func follow(_ faces: [Face], at time: Timestamp) {
        var rest = faces
        for index in tracks.indices {
            let box = tracks[index].last.face.box
            func way(_ face: Face) -> Double { distance(face.box, box, in: box) }
            if let near = rest.indices.min(by: { way(rest[$0]) < way(rest[$1]) }),
                way(rest[near]) < 1.5
            {
                let sample = Track.Sample(face: rest.remove(at: near), time: time)
                tracks[index].samples.append(sample)
            }
            let count = tracks[index].samples.count
            let old = tracks[index].samples.prefix { (time - $0.time).seconds > 1 }.count
            tracks[index].samples.removeFirst(min(old, count - 1))
        }
        tracks.removeAll { (time - $0.last.time).seconds > Self.memory }
        tracks += rest.map { Track(start: time, samples: [.init(face: $0, time: time)]) }
    }

    /// Returns the part that shows `faces` as they should be.
    private static func shot(of faces: [Face], _ tightness: Double, _ home: Shot) -> Shot {
        let all = Rect.around(faces.map(\.box))
        let tallest = faces.map(\.box.height).max() ?? 1
        let share = 0.15 + 0.3 * tightness
        let fitting = min(share / tallest, wide / max(all.width, all.height))
        let zoom = min(max(fitting, home.zoom), most * home.zoom)
        let eyes = faces.reduce(0) { $0 + $1.eyes } / Double(faces.count)
        let room = 0.5 - 0.5 / zoom
        func inside(_ place: Double) -> Double { min(max(place, 0.5 - room), 0.5 + room) }
        let place = NormalizedPoint(x: all.midX, y: eyes + (0.5 - Self.eyes) / zoom)
        let middle = NormalizedPoint(x: inside(place.x), y: inside(place.y))
        return Shot(zoom: zoom, middle: zoom > home.zoom ? middle : home.middle, place: place)
    }

    /// Returns the seconds for which `now` may go on showing `faces`; `nil` if `wanted` is hardly
    /// better.
    private func patience(_ faces: [Face], _ now: Shot, _ wanted: Shot) -> Double? {
        guard (wanted.zoom, wanted.middle) != (now.zoom, now.middle) else { return nil }
        let unit = faces.map(\.box).max { $0.height < $1.height } ?? .unit
        func way(_ place: NormalizedPoint) -> Double {
            max(
                abs(place.x - now.middle.x) / unit.width,
                abs(place.y - now.middle.y) / unit.height
            )
        }
        let part = 0.5 / now.zoom
        let isCut = faces.contains {
            $0.box.x < now.middle.x - part || $0.box.maxX > now.middle.x + part
                || $0.box.y < now.middle.y - part || $0.box.maxY > now.middle.y + part
        }
        let ratio = max(wanted.zoom / now.zoom, now.zoom / wanted.zoom)
        // At the edge of the picture there may be no way to go.
        let off = way(wanted.middle) > Self.worth ? way(wanted.place) : 0
        if isCut || off > Self.far { return Self.patience }
        if shot == nil, ratio > Self.firstSize || off > Self.still { return Self.patience }
        return ratio > Self.size || off > Self.still ? Self.longPatience : nil
    }
}

/// Returns the distance between the middles of two boxes, in units of the size of `unit`.
private func distance(_ one: Rect, _ other: Rect, in unit: Rect) -> Double {
    max(abs(one.midX - other.midX) / unit.width, abs(one.midY - other.midY) / unit.height)
}

/// A picture to look for faces in.
package struct FaceSearch: Hashable, Sendable {
    package let pipeline: CapturePipeline
    /// The transform that makes the picture as it is shown.
    package let transform: Transform
}
