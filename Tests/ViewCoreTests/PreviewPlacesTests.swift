import DualCamCore
import Testing
import ViewCore

@Suite("The cameras that are shown live")
struct PreviewPlacesTests {
    @Test("are the first, without those that have no pictures")
    func chosen() {
        let all = (0..<500).map(String.init)
        var places = PreviewPlaces()
        #expect(places.choose(all) == Array(all.prefix(PreviewsState.mostOfOne)))
        places.refuse("1")
        places.refuse("3")
        #expect(places.choose(all) == ["0", "2", "4", "5", "6", "7"])
        #expect(places.choose(["3", "7"]) == ["7"])
        // It may have come back with pictures.
        #expect(places.choose(["1", "3"]) == ["1"])
        #expect(places.choose([]) == [])
        #expect(places.choose(["3"]) == ["3"])
    }
}
