import DualCamCore
import Testing

@Suite struct DurationsTests {
    @Test func `what is read back is at most an eighth more than what was added`() {
        for microseconds in [1, 5, 7, 8, 9, 15, 16, 17, 100, 1000, 33_333, 1_000_000, 15_000_000] {
            var durations = Durations()
            durations.add(Int64(microseconds) * 1000)
            // Keeps the end of the bucket from being cut to the longest value.
            durations.add(20_000_000_000)
            let read = Int(durations.quantile(0.5))
            #expect(read > microseconds && read <= microseconds + max(1, microseconds / 8))
        }
    }

    @Test("quantiles are those of what was added, and the longest is exact")
    func quantiles() {
        var durations = Durations()
        #expect(durations.quantile(0.5) == 0)
        for _ in 0..<98 { durations.add(1_000_000) }
        durations.add(5_000_500)
        durations.add(70_000_001)
        #expect(durations.count == 100)
        #expect((1000...1125).contains(durations.quantile(0.5)))
        #expect((1000...1125).contains(durations.quantile(0.98)))
        #expect((5000...5626).contains(durations.quantile(0.99)))
        #expect(durations.quantile(1) == 70_001)
        #expect(durations.longest == 70_000_001)
    }

    @Test func `what cannot be is counted as none, and what is beyond measure as the longest`() {
        var durations = Durations()
        durations.add(-5)
        #expect(durations.quantile(1) == 0)
        durations.add(.max / 2)
        #expect(durations.count == 2)
        #expect(durations.quantile(0.5) <= 1)
        #expect(durations.quantile(1) >= 16_000_000)
    }
}
