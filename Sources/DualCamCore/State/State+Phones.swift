/// The phones that were added, those that are served, and the one that is being added.
package struct PhonesState: Hashable, Sendable {
    /// A phone for which a helper process listens.
    package struct Served: Hashable, Sendable {
        /// The address and port at which it listens.
        package let place: String
        package var report: PhoneReport

        package init(at place: String, _ report: PhoneReport) {
            (self.place, self.report) = (place, report)
        }
    }

    /// The names of those that were added.
    package internal(set) var known: [String] = []
    package internal(set) var served: [String: Served] = [:]
    /// The name of the one that is being added.
    package internal(set) var adding: String?
    /// `true` once that one has taken up its code.
    package internal(set) var isPaired = false

    /// The seconds for which a code is good.
    package static let patience = 600.0
}

/// An event of the phones.
package enum PhoneEvent: Hashable, Sendable {
    /// Somebody wants to add the phone of this name.
    case add(String)
    /// Nobody does any more.
    case endAdding
    case known([String])
    /// It is served and says this; `nil`: it is served no more.
    case served(String, PhonesState.Served?)
    case paired(String)
}

extension State {
    mutating func handle(_ event: PhoneEvent) -> [Effect] {
        switch event {
        case .add(let name): (phones.adding, phones.isPaired) = (name, false)
        case .endAdding: phones.adding = nil
        case .known(let names): phones.known = names
        case .paired(let name): if phones.adding == name { phones.isPaired = true }
        case .served(let name, let served):
            let before = phones.served[name]?.report.state
            phones.served[name] = served
            // It may be back: that is not to wait for the next try.
            let identity = SourceSpecification.phone(name).description
            guard served?.report.state != before else { break }
            return Role.allCases.filter {
                cameras[$0].lens.device == identity && cameras[$0].interruption != .none
            }.map { .retryCamera($0) }
        }
        return []
    }

    /// Adds no phone while no camera may be open.
    mutating func endAdding() { if !suspensions.isEmpty { phones.adding = nil } }
}
