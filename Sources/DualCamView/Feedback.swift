import DBusKit
import GTK

/// The feel and sound of a dial's stops: on phones and tablets through feedbackd.
final class Feedback {
    /// `true` if stops are heard, too.
    var hasSound = false
    private let connection: BusConnection
    private var watch: BusConnection.Subscription?
    /// `false` once the service has not answered.
    private var isThere = true

    private static let name = "org.sigxcpu.Feedback"

    init(_ connection: BusConnection) {
        self.connection = connection
        watch = connection.subscribe(.owner(of: Self.name)) { [unowned self] signal in
            isThere = signal.arguments.last?.string != ""
        }
    }

    /// A dial went on by a stop, or ran into its end.
    func tick(isEnd: Bool) {
        if hasSound { Bell.ring() }
        guard isThere else { return }
        let call = MethodCall(
            "TriggerFeedback",
            of: Self.name,
            at: "/org/sigxcpu/Feedback",
            on: Self.name,
            [
                .string(ViewProgram.id),
                .string(isEnd ? "bell-terminal" : "button-pressed"), .named([:]), .int32(-1),
            ],
            startsService: false,
            timeout: 5
        )
        try? connection.call(call) { [weak self] answer in
            if case .failure(let error) = answer, error.name.hasSuffix(".ServiceUnknown") {
                self?.isThere = false
            }
        }
    }
}
