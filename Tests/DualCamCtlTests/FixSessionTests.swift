import Testing

@testable import Doctor
@testable import DualCamTool

@Suite("What doctor has done is checked again")
struct FixSessionTests {
    private let missing = Finding.bad("there is no v4l2loopback device").named("loopback")

    @Test("a fix that helps a moment later is done, one that does not has failed, and says why")
    func patience() {
        var outcomes = [FixSession.Outcome(name: "loopback", state: .done)]
        var looks = 0
        let present = Finding.good("the stream is on /dev/video9").named("loopback")
        let others = [Finding.bad("it is not there").named("portal")]
        let after = FixSession.check(&outcomes, for: 60) {
            looks += 1
            return others + [looks < 2 ? missing : present]
        }
        #expect(looks == 2 && after == [present] && outcomes[0].state == .done)

        let before = FixSession.check(&outcomes, for: 0) { others + [missing] }
        #expect(before == [missing] && outcomes[0].state == .failed)
        #expect(outcomes[0].message == "It did not help: There is no v4l2loopback device.")
    }

    @Test("nobody waits for what takes effect later, nor for what was not done")
    func later() {
        var outcomes = [
            FixSession.Outcome(name: "loopback", state: .done, isForLater: true),
            FixSession.Outcome(name: "portal", state: .declined),
        ]
        var looks = 0
        _ = FixSession.check(&outcomes, for: 60) {
            looks += 1
            return [missing, Finding.bad("it is not there").named("portal")]
        }
        #expect(looks == 1 && outcomes.map(\.state) == [.done, .declined])
    }
}
