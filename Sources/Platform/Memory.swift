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
}
