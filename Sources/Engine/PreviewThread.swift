package import Capture
import DualCamCore
package import Frames
import Imaging
import Photos
package import Platform

/// Opens a camera, and sends small pictures of it into a socket, a few a second, until it is told
/// to end, its reader is gone, or the camera fails. It does not try again. The thread is called
/// `preview`.
package final class PreviewThread: Sendable {
    /// An event of the preview, reported on the thread itself.
    package enum Report: Hashable, Sendable {
        /// The first picture was sent.
        case delivering
        /// The camera is closed, after an error if there was one, and so is the socket. Comes last.
        case closed(CaptureError?)
    }

    private let source: any CameraSource
    private let report: @Sendable (Report) -> Void
    private let limits: (start: Double, stall: Double)
    private let unread: Double
    private let transform: @Sendable () -> Transform
    private let worker: Worker
    // Unsafe: used before the thread starts, and then by it alone.
    nonisolated(unsafe) private var socket: PictureSocket?

    /// The largest width and height of a picture, in pixels.
    package static let most = 320
    /// The quality of the JPEGs, 1 to 100.
    private static let quality = 75
    /// The seconds from one picture to the next: about five a second.
    private static let interval = 0.19
    /// The longest time between two checks for a reader, in seconds.
    private static let patience = 0.5

    /// Starts the thread, which opens `source`, and turns its pictures by what `transform` returns
    /// there. The end of the socket to read from is passed on. The camera may take `limits.start`
    /// seconds to its first picture, and `limits.stall` to each after that. It closes if a picture
    /// stays `unread` for that many seconds.
    ///
    /// Call `leave` after the report `closed`, or `end` and `wait` before. Throws `SystemError` if
    /// the system has no thread or descriptor left.
    package init(
        _ source: any CameraSource,
        turned transform: @escaping @Sendable () -> Transform = { .identity },
        within limits: (start: Double, stall: Double) = (10, 5),
        unread: Double = 10,
        takeReader: (consuming Descriptor) -> Void,
        report: @escaping @Sendable (Report) -> Void
    ) throws(SystemError) {
        (self.source, self.limits, self.report) = (source, limits, report)
        (self.unread, self.transform) = (unread, transform)
        socket = try PictureSocket(takeReader)
        worker = try Worker(name: "preview")
        try worker.start { [self] in run() }
    }

    /// Makes the thread close the camera and end. Does not wait for it.
    package func end() { worker.end() }

    /// Waits for the thread to end, at most until `deadline`, and returns `true` if it has.
    package func wait(until deadline: Timestamp) -> Bool { worker.join(until: deadline) }

    /// Lets the thread end by itself.
    package func leave() { worker.leave() }

    // MARK: On the thread

    private func run() {
        var failure: CaptureError?
        do throws(CaptureError) {
            try deliver()
        } catch {
            if error.code != .woken { failure = error }
        }
        // After the camera: the end of the data tells the reader that it is closed.
        socket = nil
        Memory.trim()
        report(.closed(failure))
    }

    private func deliver() throws(CaptureError) {
        guard let socket, !worker.isEnding else { return }
        let request = CaptureRequest(size: Size(width: Self.most, height: 180), rate: 10)
        let stream = try source.open(request, bell: worker.bell) { [worker] in !worker.isEnding }
        stream.isEveryPictureNeeded = false
        let shrinker = try Shrinker(stream.mode.size) { [worker] in !worker.isEnding }
        var hasDelivered = false
        // `true` while what comes cannot be shown, which is as bad as nothing.
        var isDamaged = false
        var deadline = MonotonicClock.now + Timestamp(seconds: limits.start)
        var due = Timestamp.zero
        var taken = MonotonicClock.now
        while !worker.isEnding, !socket.isLeft {
            let look = MonotonicClock.now + Timestamp(seconds: Self.patience)
            let event = try stream.next(until: min(look, deadline), bell: worker.bell)
            let now = MonotonicClock.now
            let isTaken = socket.isTaken
            if isTaken { taken = now }
            guard (now - taken).seconds < unread else { return }
            var jpeg: [UInt8]?
            if event.hasPixels, now >= due, !stream.hasNewer, isTaken {
                jpeg = shrinker.picture(of: event, at: Self.quality, turned: transform())
                isDamaged = jpeg == nil
            }
            if event.isPicture, !isDamaged {
                deadline = now + Timestamp(seconds: limits.stall)
            } else if now >= deadline {
                throw isDamaged
                    ? shrinker.fault
                        ?? CaptureError(
                            .unreadable,
                            "capture",
                            detail: "all are damaged"
                        )
                    : CaptureError(.timedOut, "capture", source.place)
            }
            // Of a camera that has to be closed, nothing more is shown.
            guard let jpeg, !worker.isEnding else { continue }
            due = now + Timestamp(seconds: Self.interval)
            socket.send(jpeg)
            if !hasDelivered { report(.delivering) }
            hasDelivered = true
        }
    }

    /// Makes small JPEGs of what a camera delivers.
    private struct Shrinker {
        private let decoder: FrameDecoder

        init(_ size: Size, proceed: @escaping () -> Bool) throws(CaptureError) {
            do throws(JPEGError) {
                decoder = try FrameDecoder(expecting: size, proceed: proceed)
            } catch {
                throw CaptureError(.system, "JPEG", detail: error.description)
            }
        }

        /// The fault of the camera's JPEGs, if they cannot be shown.
        var fault: CaptureError? { decoder.fault.flatMap { CaptureError($0) } }

        /// Returns the picture of `event`; `nil` if it has none, or a damaged one.
        func picture(
            of event: CapturedEvent,
            at quality: Int,
            turned transform: Transform
        ) -> [UInt8]? {
            let bounds = Size(width: most, height: most)
            let frame: Frame
            switch event {
            case .frame(let made): frame = made
            case .jpeg(let jpeg):
                guard case .frame(let made) = decoder.decode(jpeg, for: ShownExtent(bounds)) else {
                    return nil
                }
                frame = made
            case .outdated, .dropped, .timedOut, .woken, .resting: return nil
            }
            let raster = Raster(frame).reduced(into: bounds).turned(by: transform)
            return try? JPEGCodec.encode(raster, quality: quality)
        }
    }
}

extension CapturedEvent {
    /// `true` if it has a picture that can be looked at.
    fileprivate var hasPixels: Bool {
        switch self {
        case .frame, .jpeg: true
        case .outdated, .dropped, .timedOut, .woken, .resting: false
        }
    }

    /// `true` if the camera has made a picture.
    fileprivate var isPicture: Bool {
        switch self {
        case .frame, .jpeg, .outdated: true
        case .dropped, .timedOut, .woken, .resting: false
        }
    }
}
