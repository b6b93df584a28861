import Frames
import GTK
import Imaging
import PipeWire
import Platform

/// The pictures of the stream's node, scaled to the size at which they are shown.
///
/// It reads the node as any program does, on its own thread, and only while the window is visible.
///
/// - Context: any thread.
final class StreamPictures: Sendable {
    struct Request: Hashable, Sendable {
        /// The id of its node; `nil` while there is none.
        var node: UInt32?
        /// The size to scale to, in pixels; `nil` while it is not known.
        var size: Size?
        /// `true` while the window is visible.
        var isWatched = true
    }

    private let worker: LoopWorker<Reading>
    /// The newest picture, until it is taken.
    private let newest = Latest()

    /// A microphone: its `node.name`, and its name for people.
    struct Microphone: Hashable, Sendable { let name, title: String }

    /// Starts the thread. The functions are called on it: `came` when there is a picture to
    /// `take()`, `isConnected` when PipeWire is there or lost, `heard` with the microphones.
    ///
    /// - Throws: `SystemError` when out of descriptors or threads.
    init(
        came: @escaping @Sendable () -> Void,
        isConnected: @escaping @Sendable (Bool) -> Void,
        heard: @escaping @Sendable ([Microphone]) -> Void
    ) throws(SystemError) {
        worker = try LoopWorker(name: "stream")
        // A picture that it replaces was announced already.
        let offer: @Sendable (Pixels) -> Void = { [newest] in if newest.put($0) { came() } }
        try worker.start(first: { $0.connect() }) { loop throws(SystemError) in
            try Reading(loop, offer: offer, isConnected: isConnected, heard: heard)
        }
    }

    func take() -> Pixels? { newest.take() }

    func request(_ request: Request) { worker.post { $0.turn(to: request) } }

    func end() {
        worker.end()
        worker.join()
    }
}

/// The reading of the node, on its thread.
private final class Reading: PipeWireObserver {
    private let loop: EventLoop
    private let offer: @Sendable (Pixels) -> Void
    private let isConnected: @Sendable (Bool) -> Void
    private let heard: @Sendable ([StreamPictures.Microphone]) -> Void
    private var microphones: [UInt32: StreamPictures.Microphone] = [:] {
        didSet {
            if microphones != oldValue {
                heard(microphones.sorted { $0.key < $1.key }.map(\.value))
            }
        }
    }
    private var connection: PipeWireConnection?
    private var watch: EventLoop.Watch?
    private var retry: EventLoop.Timer?
    private var cameras: [UInt32: PipeWireObject.Camera] = [:]
    private var request = StreamPictures.Request()
    private var input: (video: VideoInput, serial: String)?
    private let converter = ScreenPicture()
    private let pool = PixelPool()
    private var picture = Scratch()
    /// The time between two attempts to reach PipeWire or its node, in seconds.
    private static let patience = 0.5

    init(
        _ loop: EventLoop,
        offer: @escaping @Sendable (Pixels) -> Void,
        isConnected: @escaping @Sendable (Bool) -> Void,
        heard: @escaping @Sendable ([StreamPictures.Microphone]) -> Void
    ) throws(SystemError) {
        self.loop = loop
        self.heard = heard
        self.offer = offer
        self.isConnected = isConnected
        retry = try loop.timer { [unowned self] in connect() }
    }

    deinit { watch?.cancel() }

    func connect() {
        guard connection == nil else { return follow() }
        do throws(SystemError) {
            let made = try PipeWireConnection(
                remote: nil,
                client: [
                    "application.name": "DualCam View", "application.id": "org.dualcam.View",
                    "application.icon_name": "org.dualcam.View",
                ]
            )
            made.observe([.camera, .microphone], by: self)
            watch = try loop.watch(made.descriptor, for: .readable) { [unowned self] _ in round() }
            connection = made
            isConnected(true)
            round()
        } catch {
            retry?.arm(after: Self.patience)
            isConnected(false)
        }
    }

    func turn(to request: StreamPictures.Request) {
        self.request = request
        follow()
    }

    private func round() {
        guard let connection else { return }
        connection.iterate()
        if connection.failure != nil { return lose() }
        follow()
        takePictures()
    }

    private func lose() {
        watch?.cancel()
        watch = nil
        input = nil
        cameras = [:]
        microphones = [:]
        connection = nil
        isConnected(false)
        retry?.arm(after: Self.patience)
    }

    /// Links to the node that is wanted, and to no other.
    private func follow() {
        if input?.video.failure != nil {
            input = nil
            return retry?.arm(after: Self.patience) ?? ()
        }
        let wanted = request.isWatched ? request.node.flatMap { cameras[$0]?.serial } : nil
        guard let connection, wanted != input?.serial else { return }
        input = nil
        guard let wanted else { return }
        let video = try? VideoInput(
            of: wanted,
            as: "DualCam View",
            formats: [.yuyv],
            on: connection
        )
        input = video.map { ($0, wanted) }
        if video == nil { retry?.arm(after: Self.patience) }
    }

    private func takePictures() {
        guard let video = input?.video else { return }
        var newest: VideoBuffer?
        while let buffer = video.dequeue() {
            if let newest { video.queue(newest) }
            newest = buffer
        }
        guard let newest else { return }
        defer { video.queue(newest) }
        guard let size = video.format?.size, let shown = request.size, size.width >= 2,
            let block = newest.block(0), !block.isDamaged, newest.header?.isDamaged != true
        else { return }
        let rowBytes = (size.width + 1) / 2 * 4
        let base = picture.reserve(rowBytes * size.height)
        guard
            newest.copy(
                block,
                at: 0,
                stride: block.stride == 0 ? rowBytes : block.stride,
                rows: size.height,
                rowBytes: rowBytes,
                to: base,
                targetStride: rowBytes
            )
        else { return }
        let pixels = Pixels(shown, from: pool)
        converter.convert(
            base,
            stride: rowBytes,
            size,
            to: pixels.memory.assumingMemoryBound(to: UInt8.self),
            targetStride: pixels.stride,
            shown
        )
        offer(pixels)
    }

    // MARK: PipeWire's objects

    func objectCame(_ id: UInt32, _ object: PipeWireObject) {
        switch object {
        case .camera(let camera): cameras[id] = camera
        case .microphone(let name, let title):
            microphones[id] = StreamPictures.Microphone(name: name, title: title)
        default: break
        }
    }

    func objectWent(_ id: UInt32) {
        cameras[id] = nil
        microphones[id] = nil
    }
}
