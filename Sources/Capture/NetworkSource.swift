package import DualCamCore
import Frames
import Network
package import Platform

/// A camera on the network: JPEGs over HTTP, or a stream over RTSP or SRT.
package struct NetworkSource: CameraSource {
    private let address: NetworkAddress
    private let credentials: String?
    private let arguments: [String]

    /// Creates a source of the camera at `address`. `credentials` is the path of the file with the
    /// user and password, and `arguments` those that make this program read the network.
    package init(
        _ address: NetworkAddress,
        credentials: String? = nil,
        arguments: [String] = NetworkCamera.arguments
    ) {
        self.address = address
        self.credentials = credentials
        self.arguments = arguments
    }

    /// The host: "phone", "192.168.1.4".
    package var name: String { address.host }

    /// "url:" and the address. In place of the query, which may be a key, comes its hash.
    package var identity: String {
        let plain = address.description.prefix { $0 != "?" && $0 != "#" }
        let query = address.description.dropFirst(plain.count)
        guard !query.isEmpty else { return "url:\(plain)" }
        // FNV-1a: the same in each run.
        let hash = query.utf8.reduce(UInt64(0xcbf2_9ce4_8422_2325)) {
            ($0 ^ UInt64($1)) &* 0x100_0000_01b3
        }
        return "url:\(plain)?\(String(hash, radix: 36))"
    }

    /// Connects, and waits for the first picture. The camera decides on size and rate.
    ///
    /// - Throws: `unreachable`, `denied`, `unsupported` or `unreadable` for the reason that the
    ///   camera gives; `timedOut` if no picture comes; `system` without processes or memory.
    package func open(_ request: CaptureRequest) throws(CaptureError) -> any CameraStream {
        try open(request, bell: nil)
    }

    /// Opens the camera; see `CameraSource`.
    package func open(
        _ request: CaptureRequest,
        bell: Bell
    ) throws(CaptureError) -> any CameraStream { try open(request, bell: .some(bell)) }

    private func open(
        _ request: CaptureRequest,
        bell: Bell?
    ) throws(CaptureError) -> any CameraStream {
        let place = "\(address.host):\(address.port)"
        let camera: NetworkCamera
        do throws(NetworkError) {
            let line = try credentials.map { path throws(NetworkError) in
                try readCredentials(path)
            }
            do throws(SystemError) {
                camera = try NetworkCamera(address, credentials: line, arguments: arguments)
            } catch {
                throw NetworkError(.system, "\(error)")
            }
        } catch {
            throw CaptureError(error, place)
        }
        return try NetworkStream(camera, place, request, bell)
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
    /// The time to the first picture: a video has one that can be decoded every few seconds.
    private static let timeout = Timestamp(seconds: 12)
    /// A size for JPEGs, before the first one is decoded: FrameDecoder takes four times as much.
    private static let expected = Size(width: 2560, height: 1440)

    init(
        _ camera: NetworkCamera,
        _ place: String,
        _ request: CaptureRequest,
        _ bell: Bell?
    ) throws(CaptureError) {
        self.camera = camera
        self.place = place
        mode = CaptureMode(size: Self.expected, rate: 0, format: .mjpg)
        waiting.reserveCapacity(8)
        let bell = if let bell { bell } else { try Self.silentBell() }
        try wait(until: MonotonicClock.now + Self.timeout, bell)
        if let layout = waiting.first?.layout {
            mode = CaptureMode(size: layout.size, rate: 0, format: layout.format)
        }
    }

    private static func silentBell() throws(CaptureError) -> Bell {
        do throws(SystemError) {
            return try Bell()
        } catch {
            throw CaptureError(.system, error.operation, errno: error.errno)
        }
    }

    /// Waits for the first picture.
    private func wait(until deadline: Timestamp, _ bell: Bell) throws(CaptureError) {
        while true {
            try take()
            if !waiting.isEmpty { return }
            switch Capture.wait(for: camera.descriptor, bell: bell, until: deadline) {
            case .ready: continue
            case .rang: throw CaptureError(.woken, "camera on the network", place)
            case .due: throw CaptureError(.timedOut, "camera on the network", place)
            }
        }
    }

    /// Takes over the pictures that have come.
    private func take() throws(CaptureError) {
        do throws(NetworkError) {
            while let picture = try camera.next() {
                pace.count(picture.arrival)
                waiting.append(picture)
            }
        } catch {
            // What came before the end is still shown.
            if waiting.isEmpty { throw CaptureError(error, place) }
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
    private var longest = 0.0
    private var start: Timestamp?
    private var last: Timestamp?
    private var window: (start: Timestamp, count: Int)?

    /// The seconds of one measurement: short at first, so that the rate is soon known.
    private static let (first, later) = (1.0, 5.0)
    /// The seconds after the start in which pictures may come that the camera has held back.
    private static let settling = 0.5
    /// A change that is worth a word.
    private static let change = 0.05

    /// Counts a picture that came at `time`.
    mutating func count(_ time: Timestamp) {
        if let last { longest = max((time - last).seconds, 0.95 * longest) }
        last = time
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
    var patience: Double { max(0.4, min(longest, 10)) }
}

extension CaptureError {
    fileprivate init(_ error: NetworkError, _ place: String) {
        let code: Code =
            switch error.code {
            case .unreachable: .unreachable
            case .denied: .denied
            case .unsupported: .unsupported
            case .unreadable: .unreadable
            case .system: .system
            }
        self.init(code, "camera on the network", place, detail: error.detail)
    }
}
