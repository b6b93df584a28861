import Capture
import DualCamCore
import Frames
import Glibc
import Imaging
import Platform
import Testing

func counter(of frame: Frame) -> Int {
    let block = FrameCounter.block(in: frame.layout.size)
    let luma = frame.plane(0)
    return (0..<16).reduce(0) { value, bit in
        value << 1 | (luma.row(block / 2)[bit * block + block / 2] > 128 ? 1 : 0)
    }
}

/// Returns the luma and both chroma values of a pixel in a planar frame.
func pixel(_ frame: Frame, _ x: Int, _ y: Int) -> [Int] {
    let (h, v) = frame.layout.format.planarSubsampling ?? (1, 1)
    return [Int(frame.plane(0).row(y)[x])] + (1...2).map { Int(frame.plane($0).row(y / v)[x / h]) }
}

extension CameraStream {
    /// Returns the next picture, decoded, within 5 s. Damaged ones count as failures.
    func frame(_ bell: Bell) throws -> Frame {
        let event = try next(until: MonotonicClock.now + Timestamp(seconds: 5), bell: bell)
        guard let frame = event.frame else {
            Issue.record("\(event) instead of a frame")
            throw CaptureError(.timedOut, "next")
        }
        return frame
    }
}

extension CameraStream {
    /// Returns the picture that is there now, not decoded.
    func immediateFrame() throws -> Frame {
        let event = try next(until: .zero, bell: try Bell())
        guard case .frame(let frame) = event else {
            Issue.record("\(event) instead of a frame")
            throw CaptureError(.timedOut, "next")
        }
        return frame
    }
}

extension CapturedEvent {
    var frame: Frame? {
        switch self {
        case .frame(let frame): return frame
        case .jpeg(let jpeg):
            let decoder = try? FrameDecoder(expecting: Size(width: 1920, height: 1080))
            guard case .frame(let frame)? = decoder?.decode(jpeg, for: .whole) else { return nil }
            return frame
        case .outdated, .dropped, .resting, .timedOut, .woken: return nil
        }
    }
}
