/// The result of one check of the system.
package struct Finding: Equatable {
    /// The outcome of a check.
    package enum Outcome {
        case good, bad
        /// The check was not possible, for a reason that another finding states.
        case unknown
    }

    /// The subject of the check in one word, such as "cameras".
    package var name = ""
    package let outcome: Outcome
    package let text: String
    /// The one command that solves the problem; `nil` if there is no problem, or no such command.
    package var command: String?

    static func good(_ text: String) -> Finding { Finding(outcome: .good, text: text) }
    static func unknown(_ text: String) -> Finding { Finding(outcome: .unknown, text: text) }
    static func bad(_ text: String, _ command: String? = nil) -> Finding {
        Finding(outcome: .bad, text: text, command: command)
    }

    /// The finding of a check that has to ask on the session bus, without one.
    static let withoutBus = unknown("cannot be checked without a session bus")

    func named(_ name: String) -> Finding {
        Finding(name: name, outcome: outcome, text: text, command: command)
    }
}
