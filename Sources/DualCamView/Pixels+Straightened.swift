import DualCamCore
import Frames
import GTK
import Imaging
import ViewCore

extension Pixels {
    /// Returns the page, as large as there is room for.
    func straightened(_ page: Perspective, in room: Size) -> Pixels? {
        let shape = page.aspect(in: Double(size.width) / Double(max(1, size.height)))
        let shown = Rect(room).fitting(aspect: shape)
        let made = Size(width: Int(shown.width), height: Int(shown.height))
        guard made.area > 0, size.area > 0 else { return nil }
        let corners = page.points.map(Rect(size).place)
        let projection = Projection(
            Rect(made),
            to: [corners[0], corners[1], corners[2], corners[3]]
        )
        let result = Pixels(made)
        let (from, to) = (
            memory.assumingMemoryBound(to: UInt32.self),
            result.memory.assumingMemoryBound(to: UInt32.self)
        )
        for y in 0..<made.height {
            for x in 0..<made.width {
                let (u, v) = projection.apply(toX: Double(x) + 0.5, y: Double(y) + 0.5)
                let column = min(max(Int(u), 0), size.width - 1)
                let row = min(max(Int(v), 0), size.height - 1)
                to[y * made.width + x] = from[row * size.width + column]
            }
        }
        return result
    }
}
