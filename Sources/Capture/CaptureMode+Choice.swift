import DualCamCore
import Frames
import Glibc

/// The mode out of `modes` that suits `request` best; `nil` where none is as configured.
///
/// A configured mode is taken as it is or not at all. Else each mode is judged by what it lacks and
/// what it wastes, in octaves (factors of two), and the one that is judged least wins, the earlier
/// of two equals: too few pixels and another shape cost most, too few frames more than that, pixels
/// and frames that nobody needs little, and among equals raw ones win over those that we decode
/// ourselves, and these over those that libv4lconvert does. From 720 rows on, a JPEG costs
/// next to nothing beside the bandwidth that it saves.
///
/// For a photograph it is the best of those that have the most pixels.
func chooseMode(_ modes: [CaptureMode], for request: CaptureRequest) -> CaptureMode? {
    var wanted = modes
    if request.isFull {
        wanted = largest(of: modes)
    } else if case .mode(let size, let rate, let format) = request.mode {
        wanted = modes.filter {
            // 30 and 29.97 are the same to who asks.
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

/// Those with the most pixels; with colours, where there are any with.
private func largest(of modes: [CaptureMode]) -> [CaptureMode] {
    let coloured = modes.filter { $0.format != .gray }
    let modes = coloured.isEmpty ? modes : coloured
    let most = modes.map(\.size.area).max()
    return modes.filter { $0.size.area == most }
}

private func best(of modes: [CaptureMode], for request: CaptureRequest) -> CaptureMode? {
    modes.enumerated().min {
        ($0.element.cost(for: request), $0.offset) < ($1.element.cost(for: request), $1.offset)
    }?.element
}

/// The modes that are one step easier on the bus than `mode`: compressed ones of its size, else
/// slower ones, else smaller ones; none where there is nothing lighter.
private func lighterModes(than mode: CaptureMode, among modes: [CaptureMode]) -> [CaptureMode] {
    /// Fewer frames a second are no picture that moves.
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
    /// Whether pictures come as JPEG.
    fileprivate var isCompressed: Bool { format == .mjpg || format == .jpeg }

    /// How far it is from what `request` needs; 0 is perfect.
    fileprivate func cost(for request: CaptureRequest) -> Double {
        guard size.area > 0, request.size.area > 0, request.rate > 0 else { return .infinity }
        let fill = min(
            Double(size.width) / Double(request.size.width),
            Double(size.height) / Double(request.size.height)
        )
        var cost = abs(log2(size.aspect / request.size.aspect))
        cost += fill < 1 ? -log2(fill) : 0
        cost += 0.3 * max(0, log2(Double(size.area) / Double(request.size.area)))
        // A device that does not tell its rate is taken to reach it.
        let pace = log2((rate > 0 ? rate : Double(request.rate)) / Double(request.rate))
        // 29.97 is 30.
        cost += pace < -0.01 ? -1.5 * pace : 0.2 * max(0, pace)
        switch format {
        case .yuyv, .uyvy, .nv12, .i420, .i422: break
        case .mjpg, .jpeg: cost += size.height >= 720 ? 0.02 : 0.1
        // A picture without colours, such as that of an infrared camera, is the last resort.
        case .gray: cost += 10
        default: cost += 0.5
        }
        return cost
    }
}
