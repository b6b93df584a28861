import Glibc
package import Media
import Platform

/// Repairs the recordings that a crash left unfinished, unless someone else writes them.
///
/// - Context: A thread that may wait for the disk, as long as it takes to copy a recording.
package struct RecordingRepair: Sendable {
    /// The result for one file.
    package enum Outcome: Equatable, Sendable {
        /// It is whole now, and this many seconds long.
        case repaired(Double)
        /// Nothing was in it, and it is gone.
        case empty
        /// Another program writes it, or the daemon is ending. It stays in the journal.
        case busy
        /// It failed its reader as often as it may, or a daemon with it. It stays as it is, and is
        /// not tried again.
        case setAside(reason: String)
        /// It could not be repaired.
        case failed(MediaError)
    }

    /// The number of attempts that a file may ruin.
    package static let attempts = 2

    private let journal: RecordingJournal
    private let copy: @Sendable (CInt, CInt) throws(MediaError) -> Double

    /// Creates repairs of the files in `journal`. `copy` makes the copy that replaces a file: see
    /// `Remux.Copy`.
    package init(
        _ journal: RecordingJournal,
        by copy: @escaping @Sendable (CInt, CInt) throws(MediaError) -> Double
    ) {
        self.journal = journal
        self.copy = copy
    }

    /// Repairs the file at `path`, which is in the journal, and takes it out of there when there is
    /// no more to do for it. Each attempt is noted before it is made, so that a file that takes the
    /// whole daemon with it is not tried at each start anew.
    package func repair(_ path: String) -> Outcome {
        var reason = "the daemon ended meanwhile"
        while true {
            var progress = Progress()
            let outcome = attempt(path, &progress)
            do {
                switch outcome {
                case .repaired, .empty: try journal.remove(path)
                case .failed(let error) where error.code == .harmful:
                    reason = error.detail
                    continue
                case .failed where progress.isRuined:
                    try journal.remove(path)
                    return .setAside(reason: reason)
                case .failed(let error) where [.unreadable, .notFound].contains(error.code):
                    try journal.remove(path)
                // Another daemon's attempts are its own to count.
                case .busy, .failed:
                    if let before = progress.before { try journal.set(attempts: before, of: path) }
                case .setAside: break
                }
                return outcome
            } catch {
                return .failed(MediaError(error))
            }
        }
    }

    /// The progress while the file was locked, by this daemon alone.
    private struct Progress {
        /// The number of attempts before this one, if it was noted.
        var before: Int?
        /// `true` if there had been as many as it may have.
        var isRuined = false
    }

    private func attempt(_ path: String, _ progress: inout Progress) -> Outcome {
        do throws(MediaError) {
            let seconds = try Remux.repair(path) { (source, target) throws(MediaError) in
                do throws(SystemError) {
                    let entry = try journal.entries().first { $0.path == path }
                    let ruined = entry?.attempts ?? 0
                    progress.isRuined = ruined >= Self.attempts
                    guard !progress.isRuined else {
                        throw SystemError("repair", path, errno: ECANCELED)
                    }
                    try journal.set(attempts: ruined + 1, of: path)
                    progress.before = ruined
                } catch {
                    throw MediaError(error)
                }
                return try copy(source, target)
            }
            return seconds > 0 ? .repaired(seconds) : .empty
        } catch {
            return error.code == .busy ? .busy : .failed(error)
        }
    }
}
