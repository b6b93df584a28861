import CLinux

/// The process's memory.
package enum Memory {
    /// Has the allocator map each block of a picture's size on its own, and give it back to the
    /// system as soon as it is freed.
    ///
    /// Unasked, glibc raises that size to the largest block freed so far (mallopt(3),
    /// M_MMAP_THRESHOLD), and then keeps the pictures of cameras that are closed in the heaps of
    /// the threads that opened them. To be called before the first thread starts.
    package static func givePicturesBack() {
        let smallestPicture: Int32 = 256 << 10
        let isSet = mallopt(M_MMAP_THRESHOLD, smallestPicture)
        precondition(isSet == 1, "the threshold is within glibc's bounds")
    }
}
