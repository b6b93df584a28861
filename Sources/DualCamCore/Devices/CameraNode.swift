/// The node that offers one camera's picture alone.
package struct CameraNode: Hashable, Sendable {
    /// Its id while it exists.
    package internal(set) var id: UInt32?
    /// The reason that it is missing although it should exist; empty otherwise.
    package internal(set) var problem = ""
    package internal(set) var consumers = 0
    var isConsumed = false
    /// `true` while a consumer takes frames, and for the grace period after that.
    var needsCamera = false
}
