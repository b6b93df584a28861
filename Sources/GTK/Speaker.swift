import CGTK
import Glibc

extension Widget {
    private typealias Announce = @convention(c) (OpaquePointer, UnsafePointer<CChar>, CInt) -> Void

    /// `gtk_accessible_announce`, which GTK has from 4.14 on.
    private static let announce: Announce? = dlsym(nil, "gtk_accessible_announce").map {
        unsafeBitCast($0, to: Announce.self)
    }

    /// Makes screen readers say `words`, after what they say now. GTK before 4.14 cannot.
    package func say(_ words: String) {
        // GTK_ACCESSIBLE_ANNOUNCEMENT_PRIORITY_MEDIUM
        words.withCString { Self.announce?(opaque, $0, 1) }
    }
}
