package import DualCamCore
package import Frames
import Glibc
package import Platform

/// A camera that can be opened.
package protocol CameraSource: Sendable {
    var name: String { get }
    /// The stable identity, kept over restarts: "v4l2:usb-…-video-index0", "test:bars".
    var identity: String { get }
    /// The current place, such as "/dev/video0"; empty if there is none.
    var place: String { get }
    /// Opens the camera and starts the pictures. May take as long as the device needs, 1 s or more.
    ///
    /// - Throws: a `CaptureError`; its code depends on the source.
    /// - Context: the thread that the stream is to live on.
    func open(_ request: CaptureRequest) throws(CaptureError) -> any CameraStream
    /// Opens the camera like `open(_:)`, but throws `woken` if `bell` rings meanwhile and
    /// `isWanted` is `false` by then; the bell is silenced. Only waits for other programs, not for
    /// a device, can be woken. The bell rings for other reasons, too: some cameras allow only one
    /// connection, which is not to be given up for them.
    func open(
        _ request: CaptureRequest,
        bell: Bell,
        while isWanted: () -> Bool
    ) throws(CaptureError) -> any CameraStream
    /// Opens a port to the camera's controls, whether it streams or not. Does not turn the camera
    /// on.
    ///
    /// - Context: the thread that is to use the port.
    func openControls() throws(CaptureError) -> any ControlPort
}

extension CameraSource {
    /// An empty string: most sources have no place.
    package var place: String { "" }
    /// Opens the camera without watching `bell`: most sources wait for a device only.
    package func open(
        _ request: CaptureRequest,
        bell: Bell,
        while isWanted: () -> Bool
    ) throws(CaptureError) -> any CameraStream { try open(request) }
}

/// A source that waits for other programs, and watches the bell meanwhile.
protocol WaitingSource: CameraSource {}

extension WaitingSource {
    /// Opens the camera, however long it takes.
    package func open(_ request: CaptureRequest) throws(CaptureError) -> any CameraStream {
        let bell: Bell
        do throws(SystemError) { bell = try Bell() } catch {
            throw CaptureError(.system, error.operation, errno: error.errno)
        }
        return try open(request, bell: bell) { true }
    }
}

/// Returns the source that opens what `use` describes. A V4L2 device or PipeWire node that does not
/// exist still makes a source, which throws when it is opened. `phones` are those that it may be.
///
/// - Throws: `unsupported` for an unknown test picture, and for a phone without `phones`.
package func cameraSource(
    _ use: SourceUse,
    phones: Phones? = nil
) throws(CaptureError) -> any CameraSource {
    switch use.specification {
    case .auto, .v4l2: V4L2Source(use)
    case .test(let name): try TestSource(name, role: .back)
    case .file(let path): FileSource(path: path)
    case .pipewire(let node): PipeWireSource(node: node, name: use.name)
    case .url(let address): NetworkSource(address, credentials: use.credentials)
    case .phone(let name): try PhoneSource(name, use.name, phones)
    }
}

/// An open camera. It closes when it is released.
///
/// - Context: bound to the thread that opened it. Its frames may be held and released by any
///   thread, even after it has closed.
package protocol CameraStream: AnyObject {
    /// The mode that it really delivers, which may differ from the requested one.
    var mode: CaptureMode { get }
    /// The mode that it would deliver if the bus had room; `nil` if that is `mode`.
    var unreducedMode: CaptureMode? { get }
    /// Returns `true` if this stream already delivers what `request` would get; if not, reopen it.
    func suits(_ request: CaptureRequest) -> Bool
    /// The time it took to convert the last frame after it was received. Does not cover the
    /// decoding of `jpeg` events.
    var decoding: Timestamp { get }
    /// Waits for the next picture, until `deadline` or until `bell` rings; the bell is then
    /// silenced.
    ///
    /// Does not allocate once the stream has settled.
    ///
    /// - Throws: a `CaptureError`, after which the stream is unusable and should be released.
    func next(until deadline: Timestamp, bell: Bell) throws(CaptureError) -> CapturedEvent
    /// The seconds between two pictures, at most, while all is well.
    var interval: Double { get }
    /// `true` if the camera has already delivered a newer picture than the one returned last, so
    /// that the next call does not wait.
    var hasNewer: Bool { get }
    /// `true` if every picture is needed, even one that has a newer one behind it. Otherwise `next`
    /// may return `outdated` instead of converting such a picture.
    var isEveryPictureNeeded: Bool { get set }
    /// `false` while nobody sees or records the pictures. Most streams deliver them anyway; one
    /// that rests throws `woken` once somebody looks, since it has to be opened anew.
    var isShown: Bool { get set }
}

extension CameraStream {
    /// `nil`: most streams deliver their best mode.
    package var unreducedMode: CaptureMode? { nil }
    /// The interval of the mode's rate, or 10 s if that is unknown.
    package var interval: Double { 1 / max(mode.rate, 0.1) }
    package var decoding: Timestamp { .zero }
    /// `false`: most streams keep only the newest picture.
    package var hasNewer: Bool { false }
    package var isShown: Bool {
        get { true }
        set {}
    }
    /// `true`: most streams convert every picture that they deliver.
    package var isEveryPictureNeeded: Bool {
        get { true }
        set {}
    }
}

/// The result of a wait for a picture.
package enum CapturedEvent: Sendable {
    case frame(Frame)
    /// A picture that is still compressed. It has not been checked and may be damaged.
    case jpeg(JPEGFrame)
    /// A picture that was not converted because the camera has a newer one; with the camera's own
    /// number.
    case outdated(UInt64)
    /// A damaged picture, or one without free memory. The previous picture stays. It still counts
    /// in the sequence of frames.
    case dropped
    /// No picture came before the deadline.
    case timedOut
    case woken
    /// No picture comes until somebody looks: see `CameraStream.isShown`.
    case resting
}

/// An error that keeps a camera from opening or from going on.
package struct CaptureError: Error, Hashable, CustomStringConvertible {
    /// The kind of error, by what can be done about it.
    package enum Code: String, CaseIterable, Sendable {
        /// Another program streams from it. It may become free later.
        case busy
        /// It has been removed. It may be plugged in again.
        case gone
        case unreachable
        case notFound
        case denied
        /// The bus has no room for a stream of this mode. A smaller one may fit.
        case bandwidth
        case unsupported
        /// It has no mode that can be read, or not the configured one. Only another device or
        /// another configuration changes that.
        case noMode
        case noSignal
        /// The page of a phone is in the background.
        case hidden
        /// A phone has not allowed its camera.
        case refused
        /// It was stopped on the phone.
        case stopped
        /// The page of a phone does not answer.
        case away
        /// Its input has another signal, which takes reopening it.
        case newSignal
        case unreadable
        case timedOut
        /// The bell rang first.
        case woken
        case system
    }

    package let code: Code
    /// The failed operation, as its manual names it: "VIDIOC_STREAMON", "open".
    package let operation: String
    /// The object of the operation, such as a device's path or a file; empty if there is none.
    package let subject: String
    /// The errno, or 0 if there is none.
    package let errno: CInt
    /// Further facts for people: the modes that exist, a decoder's message.
    package let detail: String
    /// The name of the program that has the camera, if that is the reason; empty if unknown.
    package let holder: String

    package init(
        _ code: Code,
        _ operation: String,
        _ subject: String = "",
        errno: CInt = 0,
        detail: String = "",
        holder: String = ""
    ) {
        self.code = code
        self.operation = operation
        self.subject = subject
        self.errno = errno
        self.detail = detail
        self.holder = holder
    }

    /// "cannot start /dev/video0: the USB bus has no room for it".
    package var description: String {
        let isReason = errno != 0 || detail.isEmpty
        let words = operation.hasPrefix("pw_") ? nil : code.words
        return describe(
            operation,
            subject,
            reason: isReason ? words ?? reason(errno, of: operation, on: subject) : "",
            detail: detail
        )
    }

    /// `true` if a camera on the network has said so: it would most likely say the same again soon.
    package var isAnswer: Bool {
        operation == Self.answer && [.denied, .unsupported, .unreadable].contains(code)
    }

    /// The operation of a camera on the network that was reached.
    static let answer = "answer from the network"

    package var interruption: Interruption {
        switch code {
        case .unsupported where isAnswer, .unreadable where isAnswer: .unsupported
        case .busy: .busy
        case .gone: .unplugged
        case .notFound: .notFound
        case .unreachable: .unreachable
        case .denied: .denied
        case .bandwidth: .bandwidth
        case .noMode: .unsupported
        case .noSignal: .noSignal
        case .hidden: .hidden
        case .refused: .refused
        case .stopped: .stopped
        case .away: .away
        case .unsupported, .newSignal, .unreadable, .timedOut, .woken, .system: .stalled
        }
    }
}

extension CaptureError.Code {
    /// The reason in words for people; `nil` if the errno says more.
    fileprivate var words: String? {
        switch self {
        case .busy: "another program is using it"
        case .gone: "it was unplugged"
        case .notFound: "it was not found"
        case .denied: "permission denied"
        case .bandwidth: "the USB bus has no room for it"
        case .timedOut: "it does not answer"
        case .woken: "it was interrupted"
        case .noMode: "it has no mode that DualCam can use"
        case .unreadable: "it has no picture that DualCam can read"
        case .unreachable: "it cannot be reached"
        case .noSignal: "nothing sends a picture to its input"
        case .newSignal: "its input has another signal now"
        case .hidden: "its page is in the background"
        case .refused: "it has not allowed the camera"
        case .stopped: "it was stopped on the phone"
        case .away: "its page does not answer"
        case .unsupported, .system: nil
        }
    }
}
