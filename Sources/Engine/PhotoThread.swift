import Compositing
package import DualCamCore
package import Frames
import Glibc
import Imaging
package import Photos
package import Platform
import Synchronization

/// Takes photographs: waits for a picture of each camera, makes files of the pictures and has a
/// `PhotoWriter` store them. It is one thread, `photos`, so that neither cameras, the stream nor
/// D-Bus wait for a picture, and no picture for a disk.
package final class PhotoThread: Sendable {
    /// A picture to take.
    package struct StillRequest: Sendable {
        /// The source of a picture.
        package enum Source: Sendable {
            /// A camera that delivers, and the transform that makes its picture upright, and
            /// mirrored if wanted.
            case camera(FrameSlot, Transform)
            /// The cameras as the stream shows them.
            case stream(SceneState, PerRole<PerPipeline<FrameSlot>>)
        }
        /// The name: "back", "front" or "stream".
        package let name: String
        package let source: Source
        /// `true` if the camera was only just opened, and has yet to find its exposure.
        package let settles: Bool
        /// The metadata, by Exiv2's names.
        package let tags: [String: String]
        /// Called on the thread with the time when the picture was taken, before it is a file.
        package let taken: @Sendable (Timestamp) -> Void

        package init(
            name: String,
            source: Source,
            settles: Bool,
            tags: [String: String],
            taken: @escaping @Sendable (Timestamp) -> Void = { _ in }
        ) {
            self.name = name
            self.source = source
            self.settles = settles
            self.tags = tags
            self.taken = taken
        }
    }

    /// A photograph that was taken.
    package struct Photo: Hashable, Sendable {
        /// The name: "back", "front" or "stream".
        package let name: String
        /// The path of the file; `nil` if it was written to the caller's descriptor.
        package let path: String?
        /// The size in pixels, upright.
        package let size: Size
        package let moment: WallTime

        fileprivate func stored(at path: String?) -> Photo {
            Photo(name: name, path: path, size: size, moment: moment)
        }
    }

    /// The reason why there is no photograph.
    package enum Failure: Error, Hashable {
        case cameraLost(String)
        case file(SystemError)
        case photo(PhotoError)
    }

    private struct Job {
        let stills: [StillRequest]
        let destination: PhotoWriter.Destination
        let owner: String
        let taken: @Sendable () -> Void
        let done: @Sendable (Result<[Photo], Failure>) -> Void
    }

    private let waiting = Mutex(Turns<Job>())
    private let worker: Worker
    private let writer: PhotoWriter
    private let settle: @Sendable ([FrameSlot]) -> Void

    /// The seconds that a camera may give no picture. With damaged ones in between it is given up
    /// after four times as long.
    private static let timeout = 3.0
    /// The longest time for an exposure to settle, and the interval of checks, in seconds; and the
    /// largest difference in brightness between two pictures, of 255, that counts as settled.
    private static let (settling, look, steady) = (2.0, 0.1, 2.0)

    /// Starts the threads. `settle` waits for exposures, see `settle`. Throws `SystemError` if the
    /// system has no thread or descriptor left.
    package init(
        settle: @escaping @Sendable ([FrameSlot]) -> Void = { PhotoThread.settle($0) }
    ) throws(SystemError) {
        self.settle = settle
        (worker, writer) = (try Worker(name: "photos"), try PhotoWriter())
        do throws(SystemError) {
            try worker.start { [self] in run() }
        } catch {
            writer.end()
            _ = writer.wait(until: Timestamp(nanoseconds: .max))
            throw error
        }
    }

    /// Takes `stills` for the program `owner`, in turn with those of others: calls `taken` once it
    /// has the pictures, after which no camera is needed, and `done` with all photographs, now
    /// stored, or with the reason for none. Both on any thread.
    package func take(
        _ stills: [StillRequest],
        to destination: PhotoWriter.Destination,
        for owner: String = "",
        taken: @escaping @Sendable () -> Void = {},
        done: @escaping @Sendable (Result<[Photo], Failure>) -> Void
    ) {
        waiting.withLock {
            $0.add(
                Job(
                    stills: stills,
                    destination: destination,
                    owner: owner,
                    taken: taken,
                    done: done
                ),
                of: owner
            )
        }
        worker.wake()
    }

    /// Makes the threads end after the photographs in progress. Does not wait for it.
    package func end() { worker.end() }

    /// Waits until `deadline` for the threads to end; `true` if they have. Call after `end()`.
    package func wait(until deadline: Timestamp) -> Bool {
        // What the thread has just taken is still to be written.
        guard worker.join(until: deadline) else { return false }
        writer.end()
        return writer.wait(until: deadline)
    }

    // MARK: On the thread

    private func run() {
        while !worker.isEnding {
            let job = waiting.withLock { $0.next() }
            let deadline = writer.expire()
            guard let job else {
                worker.bell.wait(until: deadline)
                continue
            }
            do throws(Failure) {
                try fulfil(job)
            } catch {
                job.done(.failure(error))
            }
        }
    }

    private typealias Taken = (
        still: StillRequest, photograph: Photograph, moment: WallTime
    )

    private func fulfil(_ job: Job) throws(Failure) {
        let start = MonotonicClock.now
        settle(job.stills.filter(\.settles).flatMap { $0.slots(at: start) })
        var after = MonotonicClock.now
        var taken: [Taken]?
        while taken == nil {
            taken = try photographs(job.stills, after: after, since: start)
            // A damaged frame; the next may be whole.
            after = MonotonicClock.now
        }
        job.taken()
        let done = taken ?? []
        // What belongs together has one name.
        let first = done.map(\.moment.microseconds).min() ?? 0
        let name = WallTime(microseconds: first).name
        let files = done.map {
            PhotoWriter.File(
                name: "DualCam_\(name)_\($0.still.name)",
                bytes: $0.photograph.bytes
            )
        }
        let photos = done.map {
            Photo(name: $0.still.name, path: nil, size: $0.photograph.size, moment: $0.moment)
        }
        writer.write(files, to: job.destination, for: job.owner) { result in
            job.done(
                result.map { paths in zip(photos, paths).map { $0.stored(at: $1) } }
                    .mapError { Failure.file($0) }
            )
        }
    }

    /// Returns the photographs of one moment: each camera's first picture taken after `after`, so
    /// that they are less than the interval of two frames apart. `nil` if one is damaged.
    private func photographs(
        _ stills: [StillRequest],
        after: Timestamp,
        since start: Timestamp
    ) throws(Failure) -> [Taken]? {
        let pictures = try pictures(of: stills, after: after, since: start)
        // Before the rest is encoded: the stream goes on.
        let now = MonotonicClock.now
        let streams = stills.map { still -> Raster? in
            guard case .stream(let scene, let slots) = still.source else { return nil }
            return compose(scene, slots)
        }
        var taken: [Taken] = []
        do throws(PhotoError) {
            for (index, still) in stills.enumerated() {
                switch still.source {
                case .camera(_, let transform):
                    guard let content = pictures[index],
                        let (photo, moment) = try photograph(content, transform, still.tags)
                    else { return nil }
                    taken.append((still, photo, moment))
                case .stream:
                    guard let raster = streams[index] else { return nil }
                    let moment = WallTime(now)
                    let photo = try Photograph.taken(
                        raster,
                        upright: .identity,
                        at: moment,
                        tags: still.tags
                    )
                    taken.append((still, photo, moment))
                }
            }
        } catch {
            guard error.code == .damaged || error.code == .notJPEG else { throw .photo(error) }
            return nil
        }
        for (index, still) in stills.enumerated() { still.taken(pictures[index]?.taken ?? now) }
        return taken
    }

    /// Returns the first picture of each camera that was taken after `after`; `nil` for the stream.
    private func pictures(
        of stills: [StillRequest],
        after: Timestamp,
        since start: Timestamp
    ) throws(Failure) -> [Newest?] {
        var found = [Newest?](repeating: nil, count: stills.count)
        while true {
            var missing: String?
            let now = MonotonicClock.now
            for (index, still) in stills.enumerated() where found[index] == nil {
                guard case .camera(let slot, _) = still.source else { continue }
                let content = Newest(slot)
                if content.isTaken(after: after, now: now) {
                    found[index] = content
                } else {
                    missing = still.name
                }
            }
            guard let missing else { return found }
            guard (now - max(start, after)).seconds < Self.timeout,
                (now - start).seconds < 4 * Self.timeout
            else { throw .cameraLost(missing) }
            // The slot's bell is the composite thread's; a tenth of a frame does not matter.
            usleep(3000)
        }
    }

    /// Returns the photograph of a picture, or `nil` if there is no picture.
    private func photograph(
        _ content: Newest,
        _ transform: Transform,
        _ tags: [String: String]
    ) throws(PhotoError) -> (Photograph, WallTime)? {
        if let (bytes, time) = try content.plainJPEG {
            let moment = WallTime(time)
            return (try .taken(jpeg: bytes, upright: transform, at: moment, tags: tags), moment)
        }
        guard let frame = content.whole else { return nil }
        let moment = WallTime(frame.timestamp)
        return (try .taken(Raster(frame), upright: transform, at: moment, tags: tags), moment)
    }

    /// Waits until pictures are as bright as those before, at most `settling` seconds: a camera
    /// that was only just opened is still looking for its exposure.
    package static func settle(
        _ slots: [FrameSlot],
        now: () -> Timestamp = { MonotonicClock.now },
        sleep: (_ seconds: Double) -> Void = { usleep(useconds_t($0 * 1e6)) }
    ) {
        let start = now()
        var looks = slots.map { (slot: $0, last: Double?.none, calm: 0, arrival: Timestamp.zero) }
        while !looks.isEmpty, (now() - start).seconds < settling {
            sleep(look)
            for index in looks.indices {
                let content = Newest(looks[index].slot)
                guard content.arrival != looks[index].arrival,
                    let brightness = content.brightness
                else { continue }
                looks[index].arrival = content.arrival
                let isCalm = looks[index].last.map { abs($0 - brightness) < steady } ?? false
                looks[index].calm = isCalm ? looks[index].calm + 1 : 0
                looks[index].last = brightness
            }
            looks.removeAll { $0.calm == 3 }
        }
    }

    /// Draws what the stream shows now, without the notices and the HUD.
    private func compose(_ state: SceneState, _ slots: PerRole<PerPipeline<FrameSlot>>) -> Raster {
        let size = state.canvas
        let layout = FrameLayout(size: size, format: .yuyv, stride: 2 * size.width)
        let buffer = FrameBuffer(byteCount: layout.byteCount)
        let now = MonotonicClock.now
        func newest(_ slots: PerPipeline<FrameSlot>) -> PerPipeline<Frame?> {
            PerPipeline(a: slots.a.shown, b: slots.b.shown)
        }
        func taken(_ frames: PerPipeline<Frame?>) -> PerPipeline<Timestamp> {
            PerPipeline(
                a: frames.a?.timestamp ?? .zero,
                b: frames.b?.timestamp ?? .zero
            )
        }
        let (back, front) = (newest(slots.back), newest(slots.front))
        Compositor(canvas: size).composite(
            state.scene(at: now, taken: PerRole(back: taken(back), front: taken(front))),
            back: back.a,
            front: front.a,
            second: PerRole(back: back.b, front: front.b),
            labels: PerRole(back: nil, front: nil),
            into: buffer.plane(0, of: layout).base,
            stride: layout.stride
        )
        return Raster(
            Frame(buffer: buffer, layout: layout, color: .video, timestamp: now, sequence: 0)
        )
    }
}

extension PhotoThread.StillRequest {
    /// Returns the slots of the cameras whose exposure is waited for.
    fileprivate func slots(at time: Timestamp) -> [FrameSlot] {
        switch source {
        case .camera(let slot, _): [slot]
        case .stream(let scene, let slots):
            Role.allCases.map { slots[$0][scene.framings[$0].pipeline(at: time)] }
        }
    }
}

extension FrameSlot {
    /// The picture as the stream shows it, whole.
    fileprivate var shown: Frame? {
        let (cover, cutsOut) = (cover, extent.isCutOut)
        if let frozen { return frozen }
        let whole = Newest(self).whole
        guard let whole, !cover.showsRoom && !whole.isRoomHidden || cutsOut && whole.mask == nil
        else { return whole }
        return RoomFilter().hide(whole, by: cover, cutsOut: cutsOut)
    }
}

private struct Newest {
    /// The picture, in which the room may be hidden; and as the camera gave it.
    let frame: Frame?
    let original: Frame?
    let jpeg: JPEGFrame?
    let arrival: Timestamp

    init(_ slot: FrameSlot) {
        let newest = slot.newest
        frame = newest.content.frame
        jpeg = newest.jpeg
        original = newest.original
        arrival = newest.content.arrival
    }

    /// The time when the camera took it; `nil` without a picture.
    var taken: Timestamp? { jpeg?.timestamp ?? original?.timestamp ?? frame?.timestamp }

    /// The longest time that pictures are on their way. A camera whose pictures are older has a
    /// clock of its own, and they count from when they arrive.
    private static let longestWay = 0.25

    /// Returns `true` if there is a picture, and it was taken after `time`.
    func isTaken(after time: Timestamp, now: Timestamp) -> Bool {
        guard arrival > time, let taken else { return false }
        return taken > time || (now - time).seconds > Self.longestWay
    }

    /// The brightness, 0 … 255; `nil` without a picture.
    var brightness: Double? {
        if let frame { return frame.brightness }
        return jpeg?.decoded(for: .glance)?.brightness
    }

    /// The JPEG, without noise, unless few programs would show it.
    var plainJPEG: (bytes: [UInt8], time: Timestamp)? {
        get throws(PhotoError) {
            guard let jpeg else { return nil }
            do throws(JPEGError) {
                let decoder = try JPEGDecoder()
                let header = try decoder.header(of: jpeg.bytes)
                guard header.isPlain else { return nil }
                let bytes = try decoder.withoutNoise(jpeg.bytes, header: header)
                return (bytes ?? Array(jpeg.bytes), jpeg.timestamp)
            } catch {
                throw PhotoError(.damaged, error.description)
            }
        }
    }

    /// The picture as the camera gave it, at full size if it can be decoded.
    var whole: Frame? { jpeg?.decoded() ?? original ?? frame }
}
