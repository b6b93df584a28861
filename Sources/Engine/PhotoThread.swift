import Compositing
package import DualCamCore
package import Frames
import Glibc
import Imaging
package import Photos
package import Platform
import Synchronization

/// Takes photographs: waits for a picture of each camera, makes files of the pictures and has a
/// `PhotoWriter` store them.
///
/// It is one thread, `photos`, so that neither cameras, the stream nor D-Bus wait for a picture,
/// and no picture for a disk.
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
        /// The source of the picture.
        package let source: Source
        /// `true` if the camera was only just opened, and has yet to find its exposure.
        package let settles: Bool
        /// The metadata, by Exiv2's names.
        package let tags: [String: String]
        /// Called on the thread with the time when the picture was taken, before it is a file.
        package let taken: @Sendable (Timestamp) -> Void

        /// Creates a request for a picture.
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
        /// The time when it was taken.
        package let moment: Photograph.Moment

        fileprivate func stored(at path: String?) -> Photo {
            Photo(name: name, path: path, size: size, moment: moment)
        }
    }

    /// The reason why there is no photograph.
    package enum Failure: Error, Hashable {
        /// The camera of this name gives no undamaged picture.
        case cameraLost(String)
        /// The file cannot be written.
        case file(SystemError)
        /// The library refused.
        case photo(PhotoError)
    }

    private struct Job {
        let stills: [StillRequest]
        let destination: PhotoWriter.Destination
        let taken: @Sendable () -> Void
        let done: @Sendable (Result<[Photo], Failure>) -> Void
    }

    private let waiting = Mutex<[Job]>([])
    private let worker: Worker
    private let writer: PhotoWriter

    /// The seconds that a camera may give no picture. With damaged ones in between it is given up
    /// after four times as long.
    private static let timeout = 3.0
    /// The longest time for an exposure to settle, and the interval of checks, in seconds; and the
    /// largest difference in brightness between two pictures, of 255, that counts as settled.
    private static let (settling, look, steady) = (2.0, 0.1, 2.0)

    /// Starts the threads.
    ///
    /// - Throws: `SystemError` if the system has no thread or descriptor left.
    package init() throws(SystemError) {
        (worker, writer) = (try Worker(name: "photos"), try PhotoWriter())
        do throws(SystemError) {
            try worker.start { [self] in run() }
        } catch {
            writer.end()
            _ = writer.wait(until: Timestamp(nanoseconds: .max))
            throw error
        }
    }

    /// Takes `stills`: calls `taken` once it has the pictures, after which no camera is needed, and
    /// `done` with all photographs, now stored, or with the reason for none. Both on any thread.
    package func take(
        _ stills: [StillRequest],
        to destination: PhotoWriter.Destination,
        taken: @escaping @Sendable () -> Void = {},
        done: @escaping @Sendable (Result<[Photo], Failure>) -> Void
    ) {
        waiting.withLock {
            $0.append(Job(stills: stills, destination: destination, taken: taken, done: done))
        }
        worker.wake()
    }

    /// Makes the threads end after the photographs in progress. Does not wait for it.
    package func end() { worker.end() }

    /// Waits for the threads to end, at most until `deadline`, and returns `true` if they have.
    /// Call after `end()`.
    package func wait(until deadline: Timestamp) -> Bool {
        // What the thread has just taken is still to be written.
        guard worker.join(until: deadline) else { return false }
        writer.end()
        return writer.wait(until: deadline)
    }

    // MARK: On the thread

    private func run() {
        while !worker.isEnding {
            let job = waiting.withLock { $0.isEmpty ? nil : $0.removeFirst() }
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

    private func fulfil(_ job: Job) throws(Failure) {
        var taken: [(still: StillRequest, photograph: Photograph, moment: Photograph.Moment)] = []
        for still in job.stills {
            let (photograph, moment) = try photograph(still)
            taken.append((still, photograph, moment))
        }
        job.taken()
        let files = taken.map {
            PhotoWriter.File(
                name: "DualCam_\($0.moment.name)_\($0.still.name)",
                bytes: $0.photograph.bytes
            )
        }
        let photos = taken.map {
            Photo(name: $0.still.name, path: nil, size: $0.photograph.size, moment: $0.moment)
        }
        writer.write(files, to: job.destination) { result in
            job.done(
                result.map { paths in zip(photos, paths).map { $0.stored(at: $1) } }
                    .mapError { Failure.file($0) }
            )
        }
    }

    private func photograph(
        _ still: StillRequest
    ) throws(Failure) -> (Photograph, Photograph.Moment) {
        let start = MonotonicClock.now
        switch still.source {
        case .camera(let slot, let transform):
            if still.settles { settle(slot) }
            var after = MonotonicClock.now
            while true {
                let content = try next(of: slot, after: after, still.name, since: start)
                after = content.arrival
                do throws(PhotoError) {
                    if let photo = try photograph(content, transform, still.tags) {
                        if let time = content.taken { still.taken(time) }
                        return photo
                    }
                } catch {
                    // This frame is damaged; the next may be whole.
                    guard error.code == .damaged || error.code == .notJPEG else {
                        throw .photo(error)
                    }
                }
            }
        case .stream(let scene, let slots):
            if still.settles {
                for role in Role.allCases {
                    settle(slots[role][scene.framings[role].pipeline(at: start)])
                }
            }
            let now = MonotonicClock.now
            still.taken(now)
            let moment = Photograph.Moment(now, now: now)
            do throws(PhotoError) {
                return (
                    try .taken(
                        compose(scene, slots),
                        upright: .identity,
                        at: moment,
                        tags: still.tags
                    ),
                    moment
                )
            } catch {
                throw .photo(error)
            }
        }
    }

    /// Returns the photograph of a picture, or `nil` if there is no picture.
    private func photograph(
        _ content: Newest,
        _ transform: Transform,
        _ tags: [String: String]
    ) throws(PhotoError) -> (Photograph, Photograph.Moment)? {
        let now = MonotonicClock.now
        if let jpeg = content.jpeg {
            let moment = Photograph.Moment(jpeg.timestamp, now: now)
            let bytes = Array(jpeg.bytes)
            return (try .taken(jpeg: bytes, upright: transform, at: moment, tags: tags), moment)
        }
        guard let frame = content.frame else { return nil }
        let moment = Photograph.Moment(frame.timestamp, now: now)
        return (try .taken(Raster(frame), upright: transform, at: moment, tags: tags), moment)
    }

    /// Returns the first picture that comes after `time`.
    private func next(
        of slot: FrameSlot,
        after time: Timestamp,
        _ name: String,
        since start: Timestamp
    ) throws(Failure) -> Newest {
        while true {
            let content = Newest(slot)
            if content.arrival > time, content.frame != nil || content.jpeg != nil {
                return content
            }
            guard (MonotonicClock.now - max(start, time)).seconds < Self.timeout,
                (MonotonicClock.now - start).seconds < 4 * Self.timeout
            else { throw .cameraLost(name) }
            // The slot's bell belongs to the composite thread; a tenth of a frame does not matter
            // here.
            usleep(3000)
        }
    }

    /// Waits until pictures are as bright as those before, at most `settling` seconds: a camera
    /// that was only just opened is still looking for its exposure.
    private func settle(_ slot: FrameSlot) {
        let start = MonotonicClock.now
        var last: Double?
        var calm = 0
        var arrival = Timestamp.zero
        while (MonotonicClock.now - start).seconds < Self.settling {
            usleep(useconds_t(Self.look * 1e6))
            let content = Newest(slot)
            guard content.arrival != arrival, let brightness = content.brightness else { continue }
            arrival = content.arrival
            calm = last.map { abs($0 - brightness) < Self.steady ? calm + 1 : 0 } ?? 0
            if calm == 3 { return }
            last = brightness
        }
    }

    /// Draws what the stream shows now, without the notices and the HUD.
    private func compose(_ state: SceneState, _ slots: PerRole<PerPipeline<FrameSlot>>) -> Raster {
        let size = state.canvas
        let layout = FrameLayout(size: size, format: .yuyv, stride: 2 * size.width)
        let buffer = FrameBuffer(byteCount: layout.byteCount)
        let now = MonotonicClock.now
        func newest(_ slots: PerPipeline<FrameSlot>) -> PerPipeline<Frame?> {
            PerPipeline(a: Newest(slots.a).whole, b: Newest(slots.b).whole)
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

/// The newest picture of a slot.
private struct Newest {
    let frame: Frame?
    let jpeg: JPEGFrame?
    let arrival: Timestamp

    init(_ slot: FrameSlot) {
        let newest = slot.newest
        frame = newest.content.frame
        jpeg = newest.jpeg
        arrival = newest.content.arrival
    }

    /// The time when the camera took it; `nil` without a picture.
    var taken: Timestamp? { jpeg?.timestamp ?? frame?.timestamp }

    /// The brightness, 0 … 255; `nil` without a picture.
    var brightness: Double? {
        if let frame { return frame.brightness }
        return decoded(.glance)?.brightness
    }

    /// The picture at full size if it can be decoded; else the frame as it is.
    var whole: Frame? { jpeg == nil ? frame : decoded(.whole) ?? frame }

    private func decoded(_ extent: ShownExtent) -> Frame? {
        guard let jpeg,
            let decoder = try? FrameDecoder(expecting: Size(width: 8192, height: 8192)),
            case .frame(let frame) = decoder.decode(jpeg, for: extent)
        else { return nil }
        return frame
    }
}
