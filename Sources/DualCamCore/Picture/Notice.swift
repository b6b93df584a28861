/// The notice over a picture that is not live.
package enum Notice: CaseIterable, Hashable, Sendable {
    /// The camera is being opened.
    case waiting
    case noCamera
    /// The camera does not deliver; never `.none`.
    case interrupted(Interruption)

    package static let allCases =
        [waiting, noCamera] + Interruption.allCases.compactMap(Notice.init)

    /// The notice of an interruption; `nil` for `.none`.
    package init?(_ interruption: Interruption) {
        if interruption == .none { return nil }
        self = .interrupted(interruption)
    }

    /// Returns the notice as people would say it. A second line says what would help.
    package func text(for role: Role) -> String {
        switch self {
        case .waiting: "Waiting for the camera"
        case .noCamera: "No camera\nPlug one in"
        case .interrupted(.notFound):
            Interruption.notFound.text(for: role) + "\nRun dualcamctl cameras --all"
        case .interrupted(.hidden):
            Interruption.hidden.text(for: role) + "\nUnlock it, and show the page"
        case .interrupted(.refused):
            Interruption.refused.text(for: role) + "\nAllow it on the phone"
        case .interrupted(.stopped): Interruption.stopped.text(for: role) + "\nPress Start on it"
        case .interrupted(.away): Interruption.away.text(for: role) + "\nOpen the page on it again"
        case .interrupted(let interruption): interruption.text(for: role)
        }
    }
}
