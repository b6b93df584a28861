import Frames
import Testing

@testable import DualCamCore

@Suite("Phones") struct PhoneTests: Reducing {
    var state = State.withTwoCameras()

    @Test func whatAPageSaysIsReadAndNothingElse() {
        let text = "state=live&command=12&side=front&zoom=1,8,0.1,2.5&light=1&slow=1&more=x"
        var report = PhoneReport(.live)
        report.command = 12
        (report.side, report.light, report.isSlow) = (.front, true, true)
        report.zoom = PhoneReport.Zoom(range: 1...8, step: 0.1, value: 2.5)
        #expect(PhoneReport(parsing: text) == report)
        #expect(PhoneReport(parsing: "state=hidden") == PhoneReport(.hidden))
        // Only DualCam itself knows these, and a page has to say something.
        for text in ["", "state", "state=", "state=waiting", "state=away", "side=back"] {
            #expect(PhoneReport(parsing: text) == nil, "\(text)")
        }
        let zooms = [
            "", "1", "1,8,0.1", "8,1,0.1,2", "1,8,nan,2", "1,inf,0.1,2", "0,8,0.1,2", "1,1e9,1,2",
        ]
        for zoom in zooms {
            #expect(PhoneReport(parsing: "state=live&zoom=\(zoom)")?.zoom == nil, "\(zoom)")
        }
    }

    @Test func aSourceNamesAPhone() throws {
        for text in ["phone", "phone:work-2"] {
            let source = try SourceSpecification(parsing: text)
            #expect(source.description == text && !source.canBeShared)
            let use = try SourceUse(source, role: .back, device: nil)
            #expect(use?.identity == text)
        }
        let long = "phone:" + String(repeating: "a", count: 33)
        for text in ["phone:", "phone:a b", "phone:a/b", "phone:\n", long] {
            #expect(throws: UnreadableValue.self, "\(text)") {
                try SourceSpecification(parsing: text)
            }
        }
    }

    @Test("none is added, or served, while no camera may be open", arguments: Suspension.allCases)
    mutating func suspended(why: Suspension) {
        send(.phone(.add("work")), .phone(.paired("work")))
        #expect(state.phones.adding == "work" && state.phones.isPaired)
        let updates = pass(.suspension(why, true), .suspension(why, false))
        #expect(state.phones.adding == nil)
        #expect(updates[0].contains(.endAddingPhone("work")))
    }

    @Test mutating func aCameraIsTriedAgainWhenItsPageChanges() {
        send(.assigned(.back, id: "phone"), .assigned(.front))
        send(.stream(.start), .published, .consumed(true))
        func served(_ phase: PhoneReport.State) -> Event {
            .phone(.served("", PhonesState.Served(at: "10.0.0.1:8447", PhoneReport(phase))))
        }
        send(.camera(.back, .interrupted(.hidden, reason: "", device: "phone")))
        #expect(send(served(.hidden)) == [.retryCamera(.back)])
        #expect(send(served(.hidden)) == [])
        #expect(send(served(.live)) == [.retryCamera(.back)])
        send(.streaming(.back))
        #expect(send(served(.hidden)) == [], "it says so itself")
    }
}
