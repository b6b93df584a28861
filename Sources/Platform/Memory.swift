import CLinux

/// The memory of the process.
package enum Memory {
    /// Makes the allocator map each block of a picture's size separately, and return it to the
    /// system as soon as it is freed.
    ///
    /// Otherwise glibc raises that threshold to the largest block freed so far (mallopt(3),
    /// M_MMAP_THRESHOLD), and keeps the pictures of closed cameras in the heaps of the threads that
    /// opened them. Call it before the first thread starts.
    package static func givePicturesBack() {
        let smallestPicture: Int32 = 256 << 10
        let isSet = mallopt(M_MMAP_THRESHOLD, smallestPicture)
        precondition(isSet == 1, "the threshold is within glibc's bounds")
    }

    /// Returns to the system what the allocator keeps although it is free: malloc_trim(3). Each
    /// thread has a heap, in which what remains in use after cameras, recordings and callers have
    /// gone lies among what they used. In three minutes of `make soak` that grew to 15 MB; this
    /// gives back 8 to 11 MB of it, and takes less than 1 ms.
    package static func trim() { malloc_trim(0) }

    /// The bytes that the allocator has given out and not got back: mallinfo2(3).
    package static var used: UInt64 {
        let info = mallinfo2()
        return UInt64(info.uordblks + info.hblkhd)
    }
}
