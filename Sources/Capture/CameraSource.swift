package import DualCamCore
package import Frames
import Glibc
package import Platform

/// What a camera is opened for.
package struct CaptureRequest: Hashable, Sendable {
    /// What its picture has to fill, in pixels, upright as the camera is mounted.
    package var size: Size
    /// Frames per second that are of use.
    package var rate: Int
    /// What the user asks of it beyond that.
    package var mode: CaptureModePreference
    /// How many steps it is to be easier on the bus than it would be: a compressed format first,
    /// then fewer frames, then a smaller picture. Nothing where the user asked for a mode.
    package var reduction: Int
    /// Whether it is for a photograph: as many pixels as there are, whatever else was asked for.
    package var isFull = false

    /// A picture that fills `size`, `rate` times a second, in the mode that `mode` prefers.
    package init(size: Size, rate: Int, mode: CaptureModePreference = .auto, reduction: Int = 0) {
        self.size = size
        self.rate = rate
        self.mode = mode
        self.reduction = reduction
    }
}

/// A camera that can be opened.
package protocol CameraSource: Sendable {
    /// What people call it: "Desk Cam".
    var name: String { get }
    /// What it is known by, the same after a reboot: "v4l2:usb-…-video-index0", "test:bars".
    var identity: String { get }
    /// Where it is now, such as "/dev/video0"; empty where it is nowhere, or that is no question.
    var place: String { get }
    /// Opens it and starts the pictures. May take as long as the device wants, 1 s and more.
    ///
    /// To be called by the thread that the stream is to live on.
    func open(_ request: CaptureRequest) throws(CaptureError) -> any CameraStream
    /// The same, but throws `woken` when `bell` rings before it is done; a bell that rang is silenced.
    /// Only what waits for others, and not for a device, can be woken.
    func open(_ request: CaptureRequest, bell: Bell) throws(CaptureError) -> any CameraStream
    /// Opens the way to its controls, which turns no camera on; whether it streams or not.
    ///
    /// To be called by the thread that the port is to be used on.
    func openControls() throws(CaptureError) -> any ControlPort
}

extension CameraSource {
    /// Most have no place.
    package var place: String { "" }
    /// Most take as long as the device wants.
    package func open(
        _ request: CaptureRequest,
        bell: Bell
    ) throws(CaptureError) -> any CameraStream { try open(request) }
}

/// A camera that is open. It closes when it is released.
///
/// - Context: bound to the thread that opened it. Frames that it gave may be held and released
///   by any, also after it has closed.
package protocol CameraStream: AnyObject {
    /// What it really delivers, which may differ from what was asked for.
    var mode: CaptureMode { get }
    /// What it would deliver if the bus had room for it; `nil` where that is `mode`.
    var unreducedMode: CaptureMode? { get }
    /// Whether `request` would be answered with what this delivers: if not, it has to be opened anew.
    func suits(_ request: CaptureRequest) -> Bool
    /// How long the last frame took to become one, after it had been taken: to convert. Of a JPEG,
    /// nothing is known yet.
    var decoding: Timestamp { get }
    /// Waits for the next picture, until `deadline` or until `bell` rings; a bell that rang is silenced.
    ///
    /// Does not allocate once the stream has settled. After an error the stream is of no use any
    /// more, and is to be released.
    func next(until deadline: Timestamp, bell: Bell) throws(CaptureError) -> CapturedEvent
}

extension CameraStream {
    /// Most deliver what they can.
    package var unreducedMode: CaptureMode? { nil }
    /// Some give pictures that are frames already.
    package var decoding: Timestamp { .zero }
}

/// What came of waiting for a picture.
package enum CapturedEvent: Sendable {
    /// A picture.
    case frame(Frame)
    /// A picture that is still compressed, and that nobody has looked at: it may be damaged.
    case jpeg(JPEGFrame)
    /// A picture that was no good, or for which no memory was free. The one before it stays. It has
    /// its place in the sequence of frames.
    case dropped
    /// None until the deadline.
    case timedOut
    /// The bell rang.
    case woken
}

/// Why a camera cannot be opened, or cannot go on.
package struct CaptureError: Error, Hashable, CustomStringConvertible {
    /// What went wrong, by what can be done about it.
    package enum Code: String, CaseIterable, Sendable {
        /// Another program streams from it. It may be free later.
        case busy
        /// It was there, and is no more. It may be plugged in again.
        case gone
        /// There is no such device or file.
        case notFound
        /// We may not open it.
        case denied
        /// The bus has no room for a stream of this mode. A smaller one may fit.
        case bandwidth
        /// It has no mode that we can use, or not the one that was asked for.
        case unsupported
        /// What it delivers cannot be read as pictures.
        case unreadable
        /// It took too long.
        case timedOut
        /// A bell rang before it was done.
        case woken
        /// The system refused for a reason of its own, such as lack of memory.
        case system
    }

    /// What went wrong.
    package let code: Code
    /// What was being done, as its manual names it: "VIDIOC_STREAMON", "open".
    package let operation: String
    /// What it was done to: a device's path, a file; empty where there is nothing to name.
    package let subject: String
    /// The errno, 0 where there was none.
    package let errno: CInt
    /// What else a person should know: the modes that there are, what a decoder said.
    package let detail: String

    /// `code`, as it came of `operation` on `subject`.
    package init(
        _ code: Code,
        _ operation: String,
        _ subject: String = "",
        errno: CInt = 0,
        detail: String = ""
    ) {
        self.code = code
        self.operation = operation
        self.subject = subject
        self.errno = errno
        self.detail = detail
    }

    /// "VIDIOC_STREAMON /dev/video0: No space left on device".
    package var description: String {
        describe(operation, subject, errno: errno, detail: detail, otherwise: code.rawValue)
    }

    /// What the camera's state calls it.
    package var interruption: Interruption {
        switch code {
        case .busy: .busy
        case .gone, .notFound: .unplugged
        case .denied: .denied
        case .bandwidth: .bandwidth
        case .unsupported, .unreadable, .timedOut, .woken, .system: .stalled
        }
    }
}
