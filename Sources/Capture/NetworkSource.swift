package import DualCamCore
import Frames
import Media
package import Platform

/// A camera on the network: JPEGs over HTTP, or a stream over RTSP or SRT.
package struct NetworkSource: WaitingSource {
    private let address: NetworkAddress
    private let credentials: String?
    private let login: NetworkLogin?
    private let arguments: [String]

    /// Creates a source of the camera at `address`. `credentials` is the path of the file with the
    /// user and password unless they are in `login`, and `arguments` those that make this program
    /// read the network.
    package init(
        _ address: NetworkAddress,
        credentials: String? = nil,
        login: NetworkLogin? = nil,
        arguments: [String] = NetworkCamera.arguments
    ) {
        self.address = address
        (self.credentials, self.login) = (credentials, login)
        self.arguments = arguments
    }

    /// The host: "phone", "192.168.1.4".
    package var name: String { address.host }

    /// "url:" and the address, its query as a hash.
    package var identity: String { address.identity }

    /// Connects, and waits for the first picture. The camera decides on size and rate.
    ///
    /// - Throws: `unreachable`, `denied`, `unsupported` or `unreadable` for the reason that the
    ///   camera gives; `timedOut` if no picture comes; `system` without processes or memory.
    package func open(
        _ request: CaptureRequest,
        bell: Bell,
        while isWanted: () -> Bool
    ) throws(CaptureError) -> any CameraStream {
        let place = "\(address.host):\(address.port)"
        let camera: NetworkCamera
        do throws(NetworkError) {
            var line = login?.line
            if line == nil, let credentials { line = try readCredentials(credentials) }
            do throws(SystemError) {
                camera = try NetworkCamera(address, credentials: line, arguments: arguments)
            } catch {
                throw NetworkError(.system, "\(error)")
            }
        } catch {
            throw CaptureError(error, "open", place)
        }
        return try NetworkStream(camera, place, bell, while: isWanted)
    }
}

/// The pictures of a camera on the network, copied as they come.
private final class NetworkStream: CameraStream {
    private(set) var mode: CaptureMode
    private(set) var decoding = Timestamp.zero
    var isEveryPictureNeeded = true

    private let camera: NetworkCamera
    private let place: String
    /// The pictures that have come and are not taken yet, oldest first.
    private var waiting: [NetworkCamera.Picture] = []
    private var jpegs = FramePool(count: poolCount, byteCount: NetworkCamera.longestPicture)
    private var planes = GrowingPool(count: poolCount)
    private var pace = Pace()

    /// The number of frames that may be held at once.
    private static let poolCount = 6
    /// The time to the first picture. The helper process gives up sooner if nothing at all comes.
    private static let timeout = Timestamp(seconds: 30)
    /// A size for JPEGs, before the first one is decoded: FrameDecoder takes four times as much,
    /// and so the largest picture that JPEGDecoder does.
    private static let expected = Size(width: 4096, height: 4096)

    init(
        _ camera: NetworkCamera,
        _ place: String,
        _ bell: Bell,
        while isWanted: () -> Bool
    ) throws(CaptureError) {
        self.camera = camera
        self.place = place
        mode = CaptureMode(size: Self.expected, rate: 0, format: .mjpg)
        waiting.reserveCapacity(8)
        try wait(until: MonotonicClock.now + Self.timeout, bell, while: isWanted)
        if let layout = waiting.first?.layout {
            mode = CaptureMode(size: layout.size, rate: 0, format: layout.format)
        }
    }

    private func wait(
        until deadline: Timestamp,
        _ bell: Bell,
        while isWanted: () -> Bool
    ) throws(CaptureError) {
        while true {
            try take()
            if !waiting.isEmpty { return }
            switch Capture.wait(for: camera.descriptor, bell: bell, until: deadline) {
            case .ready: continue
            case .rang:
                guard isWanted() else { throw CaptureError(.woken, CaptureError.answer, place) }
            case .due:
                throw CaptureError(
                    .timedOut,
                    CaptureError.answer,
                    place,
                    detail: "what it sends has no picture"
                )
            }
        }
    }

    private func take() throws(CaptureError) {
        do throws(NetworkError) {
            while let picture = try camera.next() {
                pace.count(picture.arrival)
                waiting.append(picture)
            }
        } catch {
            // What came before the end is still shown.
            if waiting.isEmpty {
                let isReached = error.code != .unreachable
                throw CaptureError(
                    error,
                    isReached ? CaptureError.answer : "camera on the network",
                    place
                )
            }
        }
    }

    /// `true`: the camera decides on what it sends.
    func suits(_ request: CaptureRequest) -> Bool { true }

    var hasNewer: Bool { waiting.count > 0 }

    var interval: Double { pace.patience }

    func next(until deadline: Timestamp, bell: Bell) throws(CaptureError) -> CapturedEvent {
        while true {
            try take()
            if let picture = waiting.first {
                waiting.removeFirst()
                defer { camera.release(picture) }
                return event(of: picture)
            }
            switch Capture.wait(for: camera.descriptor, bell: bell, until: deadline) {
            case .rang: return .woken
            case .due: return .timedOut
            case .ready: continue
            }
        }
    }

    private func event(of picture: NetworkCamera.Picture) -> CapturedEvent {
        if let rate = pace.rate { mode.rate = rate }
        guard isEveryPictureNeeded || !hasNewer else { return .outdated(picture.sequence) }
        let start = MonotonicClock.now
        guard let layout = picture.layout else {
            guard let buffer = jpegs.draw(), picture.bytes.count <= buffer.bytes.count else {
                return .dropped
            }
            buffer.bytes.copyMemory(from: picture.bytes)
            mode.format = .mjpg
            return .jpeg(
                JPEGFrame(
                    buffer: buffer,
                    byteCount: picture.bytes.count,
                    timestamp: picture.arrival,
                    sequence: picture.sequence
                )
            )
        }
        mode.size = layout.size
        mode.format = layout.format
        guard let buffer = planes.draw(byteCount: layout.byteCount) else { return .dropped }
        buffer.bytes.copyMemory(from: picture.bytes)
        decoding = MonotonicClock.now - start
        return .frame(
            Frame(
                buffer: buffer,
                layout: layout,
                color: picture.color,
                timestamp: picture.arrival,
                sequence: picture.sequence
            )
        )
    }
}

/// The rate at which pictures come, whatever their camera says.
struct Pace {
    /// The rate of the last seconds, in frames per second; `nil` before it is known.
    private(set) var rate: Double?
    private var pauses = LivePauses()
    private var start: Timestamp?
    private var window: (start: Timestamp, count: Int)?

    /// The seconds of one measurement: short at first, so that the rate is soon known.
    private static let (first, later) = (1.0, 5.0)
    /// The seconds after the start in which pictures may come that the camera has held back.
    private static let settling = 0.5
    /// A change that is worth a word.
    private static let change = 0.05

    /// Counts a picture that came at `time`.
    mutating func count(_ time: Timestamp) {
        pauses.count(time)
        let start = self.start ?? time
        self.start = start
        guard (time - start).seconds >= Self.settling else { return }
        guard let begun = window else {
            window = (time, 0)
            return
        }
        window?.count = begun.count + 1
        let seconds = (time - begun.start).seconds
        guard seconds >= (rate == nil ? Self.first : Self.later) else { return }
        let found = Double(begun.count + 1) / seconds
        if rate.map({ abs(found - $0) > Self.change * $0 }) ?? true {
            rate = found < 10 ? (found * 10).rounded() / 10 : found.rounded()
        }
        window = (time, 0)
    }

    /// The seconds between two pictures that are nothing special. Not less than a network needs.
    var patience: Double { pauses.longest.map { max(0.4, min($0, 10)) } ?? 4 }
}

extension CaptureError {
    fileprivate init(_ error: NetworkError, _ operation: String, _ place: String) {
        let code: Code =
            switch error.code {
            case .unreachable: .unreachable
            case .ended: .timedOut
            case .denied: .denied
            case .unsupported: .unsupported
            case .unreadable: .unreadable
            case .system: .system
            }
        self.init(code, operation, place, detail: error.detail)
    }
}
