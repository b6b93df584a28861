import DualCamCore
import Frames
import Glibc

/// Returns the mode out of `modes` that suits `request` best; `nil` if there is none as configured,
/// or none that can be read.
///
/// A configured mode is taken exactly or not at all. Otherwise each mode gets a cost for what it
/// lacks and wastes, in octaves (factors of two). The lowest cost wins, and the earlier of two
/// equals. Too few frames cost most, then too few pixels and another aspect; surplus pixels and
/// frames cost little. Among equals, raw formats win over those that we decode, and these over
/// those that libv4lconvert decodes. From 720 rows on, a JPEG costs almost nothing compared with
/// the bandwidth that it saves.
///
/// For a photograph, the choice is among the modes with the most pixels.
func chooseMode(_ modes: [CaptureMode], for request: CaptureRequest) -> CaptureMode? {
    let modes = modes.filter(\.format.isReadable)
    var wanted = modes
    if request.isFull {
        wanted = largest(of: modes)
    } else if case .mode(let size, let rate, let format) = request.mode {
        wanted = modes.filter {
            // 30 and 29.97 mean the same to the user.
            $0.size == size && (abs($0.rate - rate) <= rate / 200 || $0.rate == 0)
                && (format == nil || $0.format == format)
        }
    }
    guard var mode = best(of: wanted, for: request) else { return nil }
    guard request.isFull || request.mode == .auto else { return mode }
    for _ in 0..<request.reduction {
        guard let lighter = best(of: lighterModes(than: mode, among: modes), for: request) else {
            break
        }
        mode = lighter
    }
    return mode
}

/// Returns the modes with the most pixels, in colour if there are any.
private func largest(of modes: [CaptureMode]) -> [CaptureMode] {
    let coloured = modes.filter { !$0.format.isGray }
    let modes = coloured.isEmpty ? modes : coloured
    let most = modes.map(\.size.area).max()
    return modes.filter { $0.size.area == most }
}

private func best(of modes: [CaptureMode], for request: CaptureRequest) -> CaptureMode? {
    modes.enumerated().min {
        ($0.element.cost(for: request), $0.offset) < ($1.element.cost(for: request), $1.offset)
    }?.element
}

/// Returns the modes that load the bus one step less than `mode`: compressed ones of its size, else
/// slower ones, else smaller ones; empty if there is nothing lighter.
private func lighterModes(than mode: CaptureMode, among modes: [CaptureMode]) -> [CaptureMode] {
    /// Fewer frames per second do not look like motion.
    let slowest = 10.0
    let alike = modes.filter { $0.isCompressed == mode.isCompressed }
    let compressed = modes.filter {
        $0.isCompressed && $0.size == mode.size && $0.rate >= 0.99 * mode.rate
    }
    if !mode.isCompressed && !compressed.isEmpty { return compressed }
    let slower = alike.filter {
        $0.size == mode.size && $0.rate < 0.99 * mode.rate && $0.rate >= slowest
    }
    return slower.isEmpty ? alike.filter { $0.size.area < mode.size.area } : slower
}

extension CaptureMode {
    /// `true` if pictures are JPEGs.
    fileprivate var isCompressed: Bool { format == .mjpg || format == .jpeg }

    /// Returns the distance from what `request` needs; 0 is perfect.
    fileprivate func cost(for request: CaptureRequest) -> Double {
        guard size.area > 0, request.size.area > 0, request.rate > 0 else { return .infinity }
        let fill = min(
            Double(size.width) / Double(request.size.width),
            Double(size.height) / Double(request.size.height)
        )
        var cost = abs(log2(size.aspect / request.size.aspect))
        cost += fill < 1 ? -log2(fill) : 0
        cost += 0.3 * max(0, log2(Double(size.area) / Double(request.size.area)))
        // A device that does not report its rate is assumed to reach it.
        let pace = log2((rate > 0 ? rate : Double(request.rate)) / Double(request.rate))
        // 29.97 counts as 30.
        cost += pace < -0.01 ? -1.5 * pace : 0.2 * max(0, pace)
        switch format {
        case .yuyv, .uyvy, .nv12, .i420, .i422: break
        case .mjpg, .jpeg: cost += size.height >= 720 ? 0.02 : 0.1
        // A picture without colour, such as an infrared camera's, is the last resort.
        case _ where format.isGray: cost += 10
        // Late by a picture, and whole only from a key picture on.
        case .h264, .hevc: cost += 4
        default: cost += 0.5
        }
        return cost
    }
}
