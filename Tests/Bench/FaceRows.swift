import Frames
import Imaging

/// Returns what five searches for faces take in a second, in percent of a processor, in pictures of
/// 720p.
func faceRows(_ clips: Clips, _ pairs: Int) throws -> [Row] {
    let pictures = try clips.pictures(Size(width: 1280, height: 720))
    let finder = FaceFinder()
    let costs = (0..<max(5, pairs)).map { _ in
        threadTime(of: 30) { _ = finder.find(in: pictures[$0 % pictures.count], .identity) }
    }
    return [
        Row("search for faces at 720p", "ms", costs),
        Row("five searches for faces a second", "%", target: 2, costs.map { $0 * 5 / 10 }),
    ]
}
