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
        /// It failed its reader as often as it may. It stays as it is, and is not tried again.
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

    /// Repairs the file at `path`, and takes it out of the journal when there is no more to do for
    /// it.
    package func repair(_ path: String) -> Outcome {
        do throws(MediaError) {
            let outcome = try outcome(path, Self.attempts)
            do throws(SystemError) { try journal.remove(path) } catch { throw MediaError(error) }
            return outcome
        } catch {
            return error.code == .busy ? .busy : .failed(error)
        }
    }

    /// Returns the outcome of at most so many `attempts`.
    ///
    /// - Throws: A failure after which another attempt may succeed.
    private func outcome(_ path: String, _ attempts: Int) throws(MediaError) -> Outcome {
        do throws(MediaError) {
            let seconds = try Remux.repair(path, by: copy)
            return seconds > 0 ? .repaired(seconds) : .empty
        } catch {
            switch error.code {
            case .harmful where attempts > 1: return try outcome(path, attempts - 1)
            case .harmful: return .setAside(reason: error.detail)
            case .unreadable, .notFound: return .failed(error)
            default: throw error
            }
        }
    }
}
