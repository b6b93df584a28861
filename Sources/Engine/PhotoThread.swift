import Compositing
package import DualCamCore
package import Frames
import Glibc
import Imaging
package import Photos
package import Platform
import Synchronization

/// Takes photographs: waits for a picture of each camera, makes files of the pictures and stores
/// them.
///
/// It is one thread, `photos`, so that neither cameras, the stream nor D-Bus wait for a disk.
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

    /// The destination of photographs.
    package enum Destination: Sendable {
        /// Files of their own in this directory, which is made if it is missing.
        case folder(String)
        /// An open file or pipe.
        case descriptor(@Sendable () -> CInt)
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
        let destination: Destination
        let done: @Sendable (Result<[Photo], Failure>) -> Void
    }

    private struct Queue {
        var waiting: [Job] = []
        var isOver = false
    }

    private let queue = Mutex(Queue())
    private let bell: Bell
    private let thread = Mutex<Thread?>(nil)

    /// The seconds that a camera may give no picture. With damaged ones in between it is given up
    /// after four times as long.
    private static let timeout = 3.0
    /// The longest time for an exposure to settle, and the interval of checks, in seconds; and the
    /// largest difference in brightness between two pictures, of 255, that counts as settled.
    private static let (settling, look, steady) = (2.0, 0.1, 2.0)
    /// The longest wait for the reader of a pipe, in milliseconds.
    private static let readerTimeout: CInt = 10_000

    /// Starts the thread.
    ///
    /// - Throws: `SystemError` if the system has no thread or descriptor left.
    package init() throws(SystemError) {
        bell = try Bell()
        let started = try Thread(name: "photos") { [self] in run() }
        thread.withLock { $0 = started }
    }

    /// Takes `stills`, and calls `done` on the thread with all of them, or with the reason for
    /// none.
    package func take(
        _ stills: [StillRequest],
        to destination: Destination,
        done: @escaping @Sendable (Result<[Photo], Failure>) -> Void
    ) {
        queue.withLock {
            $0.waiting.append(Job(stills: stills, destination: destination, done: done))
        }
        bell.ring()
    }

    /// Makes the thread end after the photograph in progress. Does not wait for it.
    package func end() {
        queue.withLock { $0.isOver = true }
        bell.ring()
    }

    /// Waits for the thread to end, at most until `deadline`, and returns `true` if it has. Call
    /// after `end()`.
    package func wait(until deadline: Timestamp) -> Bool { thread.join(until: deadline) }

    // MARK: On the thread

    private func run() {
        while true {
            let (job, isOver) = queue.withLock { queue in
                (queue.waiting.isEmpty ? nil : queue.waiting.removeFirst(), queue.isOver)
            }
            if isOver { return }
            guard let job else {
                bell.wait(until: nil)
                continue
            }
            do throws(Failure) {
                job.done(.success(try fulfil(job)))
            } catch {
                job.done(.failure(error))
            }
        }
    }

    private func fulfil(_ job: Job) throws(Failure) -> [Photo] {
        var taken: [(still: StillRequest, photograph: Photograph, moment: Photograph.Moment)] = []
        for still in job.stills {
            let (photograph, moment) = try photograph(still)
            taken.append((still, photograph, moment))
        }
        do throws(SystemError) {
            let paths: [String?]
            switch job.destination {
            case .folder(let folder):
                paths = try save(
                    taken.map {
                        ("DualCam_\($0.moment.name)_\($0.still.name)", $0.photograph.bytes)
                    },
                    in: folder
                )
            case .descriptor(let number):
                for one in taken { try Self.write(one.photograph.bytes, to: number()) }
                paths = taken.map { _ in nil }
            }
            return zip(taken, paths).map {
                Photo(name: $0.still.name, path: $1, size: $0.photograph.size, moment: $0.moment)
            }
        } catch {
            throw .file(error)
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

    // MARK: Files

    /// Writes each into a new file, all or none, and returns their paths.
    private func save(
        _ files: [(name: String, bytes: [UInt8])],
        in folder: String
    ) throws(SystemError) -> [String] {
        try makeDirectory(folder)
        var placed: [String] = []
        do throws(SystemError) {
            for (name, bytes) in files {
                placed.append(try save(bytes, named: name, in: folder))
            }
            return placed
        } catch {
            for path in placed { unlink(path) }
            throw error
        }
    }

    private func save(
        _ bytes: [UInt8],
        named name: String,
        in folder: String
    ) throws(SystemError) -> String {
        // Two in the same millisecond differ by a number.
        var number = 1
        while true {
            let path = "\(folder)/\(name)\(number == 1 ? "" : "-\(number)").jpg"
            let file = try NewFile(for: path, mode: 0o600)
            try file.write(bytes)
            do throws(SystemError) {
                try file.place()
                return path
            } catch  where error.errno == EEXIST {
                number += 1
            }
        }
    }

    /// Writes to a descriptor of the caller. A pipe that is not read does not block for ever.
    private static func write(_ bytes: [UInt8], to number: CInt) throws(SystemError) {
        var rest = bytes[...]
        while !rest.isEmpty {
            var entry = pollfd(fd: number, events: Int16(POLLOUT), revents: 0)
            guard retryingInterrupts({ poll(&entry, 1, readerTimeout) }) > 0 else {
                throw SystemError("write", "the caller's file", errno: ETIMEDOUT)
            }
            // A pipe that is ready takes this much without blocking.
            let piece = Array(rest.prefix(4096))
            try Platform.write(piece, to: number, called: "the caller's file")
            rest = rest.dropFirst(piece.count)
        }
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
