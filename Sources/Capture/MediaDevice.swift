import CV4L2
import Glibc
import Platform

/// The media controller of a camera, which lists the parts that its pictures pass.
enum MediaDevice {
    /// Returns the functions (MEDIA_ENT_F_…) of the entities in the media device that the video
    /// node at `path` belongs to; empty if it has none, or may not be asked
    /// (MEDIA_IOC_ENUM_ENTITIES).
    static func functions(ofNodeAt path: String) -> Set<UInt32> {
        let entry = fileName(of: path)
        let siblings = entries(of: "/sys/class/video4linux/\(entry)/device")
        guard let media = siblings.first(where: { $0.hasPrefix("media") }) else { return [] }
        let number = retryingInterrupts { open("/dev/\(media)", O_RDONLY | O_CLOEXEC) }
        guard number >= 0 else { return [] }
        let device = Descriptor(owning: number)
        var functions: Set<UInt32> = []
        var entity = media_entity_desc()
        // A limit, in case a driver's list never ends.
        for _ in 0..<1024 {
            entity.id |= UInt32(1) << 31  // MEDIA_ENT_ID_FLAG_NEXT
            guard ioctl(device.number, cmedia_enum_entities, &entity) == 0 else { break }
            functions.insert(entity.type)
        }
        return functions
    }
}
