import CSandbox
import Frames
import Glibc
import Platform

/// The memory through which a helper process hands over pictures. It is sealed against shrinking,
/// so a reader of it never faults; its contents may change at any time.
final class SharedPictures {
    /// The file, to be sent to the process.
    let file: CInt
    private let bytes: UnsafeMutableRawBufferPointer
    private let owned: OwnedDescriptor?

    private static let length = PictureMessage.slotCount * PictureMessage.slotSize

    /// Creates the memory, to be read.
    ///
    /// - Throws: the errno of memfd_create(2) or mmap(2).
    init() throws(SystemError) {
        let number = csandbox_memory("dualcam-pictures", Self.length)
        guard number >= 0 else { throw .last("memfd_create") }
        let owned = OwnedDescriptor(number)
        self.owned = owned
        file = number
        bytes = try Self.map(number, PROT_READ)
    }

    /// Maps the memory that came as `file`, to be written.
    ///
    /// - Throws: the errno of mmap(2).
    init(of file: CInt) throws(SystemError) {
        owned = nil
        self.file = file
        bytes = try Self.map(file, PROT_READ | PROT_WRITE)
    }

    deinit { munmap(bytes.baseAddress, bytes.count) }

    subscript(_ index: Int) -> UnsafeMutableRawBufferPointer {
        let start = index * PictureMessage.slotSize
        return UnsafeMutableRawBufferPointer(
            rebasing: bytes[start..<start + PictureMessage.slotSize]
        )
    }

    private static func map(
        _ file: CInt,
        _ protection: CInt
    ) throws(SystemError) -> UnsafeMutableRawBufferPointer {
        let memory = mmap(nil, length, protection, MAP_SHARED, file, 0)
        guard let memory, memory != MAP_FAILED else { throw .last("mmap") }
        return UnsafeMutableRawBufferPointer(start: memory, count: length)
    }
}

private final class OwnedDescriptor {
    private let descriptor: Descriptor
    init(_ number: CInt) { descriptor = Descriptor(owning: number) }
}
