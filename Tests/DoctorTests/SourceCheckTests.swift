import DualCamCore
import Testing

@testable import Doctor

@Suite("Sources that are checked") struct SourceCheckTests {
    private func absence(of source: SourceSpecification) -> String? {
        SourceCheck.absence(of: source, ([], isComplete: true))
    }

    @Test("a test picture is there with its mark and without", arguments: ["", "-plain"])
    func testPictures(_ end: String) {
        for name in SourceSpecification.testPictures {
            #expect(absence(of: .test(name + end)) == nil, "\(name)\(end)")
        }
        let reason = absence(of: .test("nope" + end))
        #expect(reason?.hasPrefix("there is no test picture nope\(end), only ") == true)
    }
}
