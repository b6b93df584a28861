import DualCamCore
import Testing

@Suite("Light: the rate is held, and lamps do not flicker") struct HeldControlsTests {
    private static let countries = """
        # A comment.
        JP\t+353916+1394441\tAsia/Tokyo
        AT\t+4813+01620\tEurope/Vienna
        UA\t+5026+03031\tEurope/Kyiv\tmost of Ukraine
        US\t+404251-0740023\tAmerica/New_York\tEastern (most areas)
        BR\t-2332-04637\tAmerica/Sao_Paulo\tBrazil (southeast)
        KR\t+3733+12658\tAsia/Seoul
        PF\t-1732-14934\tPacific/Tahiti\tSociety Islands
        """
    private static let links = """
        # tzdb data
        L Europe/Kyiv Europe/Kiev
        L America/New_York US/Eastern
        R L 1 2
        """

    @Test(
        "the mains are those of the time zone's country",
        arguments: [
            ("Europe/Vienna", MainsFrequency.hz50), ("Europe/Kyiv", .hz50), ("Europe/Kiev", .hz50),
            ("America/New_York", .hz60), ("US/Eastern", .hz60), ("America/Sao_Paulo", .hz60),
            ("Asia/Seoul", .hz60), ("Pacific/Tahiti", .hz60),
            // One zone, two halves: nobody can tell.
            ("Asia/Tokyo", .both),
            ("Etc/UTC", .unknown), ("", .unknown), ("CET-1CEST", .unknown),
        ]
    )
    func mains(zone: String, mains: MainsFrequency) {
        #expect(MainsFrequency(ofZone: zone, countries: Self.countries, links: Self.links) == mains)
        #expect(MainsFrequency(ofZone: zone, countries: "", links: "") == .unknown)
    }

    @Test(
        "a locale tells the mains of its country",
        arguments: [
            ("de_AT.UTF-8", MainsFrequency.hz50), ("en_US.UTF-8", .hz60), ("ja_JP", .both),
            ("ca_ES@valencia", .hz50), ("sr_RS@latin", .hz50), ("C.UTF-8", .unknown),
            ("POSIX", .unknown), ("en", .unknown), ("", .unknown), ("eo", .unknown),
            ("es_419.UTF-8", .unknown), ("_", .unknown), ("x_us", .unknown),
        ]
    )
    func locale(name: String, mains: MainsFrequency) {
        #expect(MainsFrequency(ofLocale: name) == mains)
    }

    private func rate(_ value: Int, _ flags: DeviceControl.Flags = []) -> DeviceControl {
        DeviceControl(
            id: 1,
            name: "exposure_dynamic_framerate",
            kind: .boolean,
            purpose: .dynamicFrameRate,
            range: 0...1,
            flags: flags,
            value: value
        )
    }

    private func filter(_ value: Int, items: ClosedRange<Int> = 0...2) -> DeviceControl {
        DeviceControl(
            id: 2,
            name: "power_line_frequency",
            kind: .menu,
            purpose: .powerLine,
            range: 0...max(1, items.upperBound),
            menu: items.map { DeviceControl.Item(index: $0, name: "\($0)") },
            value: value
        )
    }

    private func plan(
        _ device: [DeviceControl],
        _ region: MainsFrequency,
        _ change: (inout ControlSettings) -> Void = { _ in }
    ) -> [String] {
        var settings = ControlSettings()
        change(&settings)
        return HeldControls().plan(settings, device, region: region).map { "\($0.id)=\($0.value)" }
    }

    @Test func `only what is wrong is written, and nothing that a camera lacks`() {
        #expect(plan([rate(1), filter(2)], .hz50) == ["1=0", "2=1"])
        #expect(plan([rate(1), filter(1)], .hz60) == ["1=0", "2=2"])
        #expect(plan([rate(0), filter(1)], .hz50) == [])
        #expect(plan([filter(0)], .unknown) == [])
        #expect(plan([filter(0)], .both) == [])
        #expect(plan([filter(0, items: 0...3)], .both) == ["2=3"])
        #expect(plan([filter(0, items: 0...1)], .hz60) == [])
        #expect(plan([rate(1, .readOnly), rate(1, .disabled)], .hz50) == [])
        #expect(plan([rate(1), filter(2)], .hz50) { $0.holdsRate = false } == ["2=1"])
        #expect(plan([rate(1), filter(2)], .hz50) { $0.antiFlicker = .off } == ["1=0"])
        #expect(plan([filter(0)], .unknown) { $0.antiFlicker = .hz60 } == ["2=2"])
        #expect(plan([], .hz50) == [])
    }

    @Test("what was found is put back, unless another program changed it")
    func release() {
        var held = HeldControls()
        let found = [rate(1), filter(2)]
        for write in held.plan(ControlSettings(), found, region: .hz50) {
            held.note(write, over: found)
        }
        #expect(held.release([rate(0), filter(1)]).map(\.value) == [1, 2])
        #expect(held.release([rate(1), filter(1)]).map(\.value) == [2])
        #expect(held.release([rate(0), filter(0)]).map(\.value) == [1])
        // What is held otherwise meanwhile was found as before.
        var again = held
        for write in again.plan(ControlSettings(), [rate(0), filter(1)], region: .hz60) {
            again.note(write, over: [rate(0), filter(1)])
        }
        #expect(again != held && again.release([rate(0), filter(2)]).map(\.value) == [1, 2])
        // After a crash the same, and nothing for a camera that was reset meanwhile.
        #expect(HeldControls(parsing: held.text, over: [rate(0), filter(1)]) == held)
        #expect(HeldControls(parsing: held.text, over: found).isEmpty)
        #expect(HeldControls(parsing: held.text, over: []).isEmpty)
    }

    @Test(arguments: ["", "1", "1 2", "x 1 0", "1 7 0", "1 1 0 0", "-1 1 0", "99999999999 1 0"])
    func `a record that is none puts nothing back`(text: String) {
        #expect(HeldControls(parsing: text, over: [rate(0), filter(1)]).isEmpty)
    }
}
