import CSystemd
import Glibc

/// The way in which this user gets at the devices of a seat: the screen, keyboard and cameras that
/// belong together, as logind sees it. The user in whose session the screen is may open them.
package enum SeatAccess: CaseIterable, Sendable {
    /// The user is logged in at a seat, and it shows this user's session.
    case active
    /// The user is logged in at a seat, which shows another session.
    case inactive
    /// There are seats, and the user is logged in at none, but over the network, for example.
    case elsewhere
    /// There is no seat, or no logind.
    case none

    /// The access of this user now: sd_uid_get_seats(3).
    package static var current: SeatAccess {
        if sd_uid_get_seats(getuid(), 1, nil) > 0 { return .active }
        if sd_uid_get_seats(getuid(), 0, nil) > 0 { return .inactive }
        return sd_get_seats(nil) > 0 ? .elsewhere : .none
    }
}
