import DualCamCore

/// The choice of the cameras of which live pictures are asked for, of which a program gets few.
package struct PreviewPlaces: Hashable, Sendable {
    private var refused: Set<String> = []

    package init() {}

    /// Records that there are no pictures of `device`, so that it takes no place from others.
    package mutating func refuse(_ device: String) { refused.insert(device) }

    /// Returns those of `wanted` to ask for: the first that were not refused. What is wanted no
    /// more may be asked for again later.
    package mutating func choose(_ wanted: [String]) -> [String] {
        refused.formIntersection(wanted)
        return Array(
            wanted.lazy.filter { [refused] in !refused.contains($0) }
                .prefix(PreviewsState.mostOfOne)
        )
    }
}
