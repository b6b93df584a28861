import Frames
import Photos

extension FuzzTarget {
    /// Photographs: their structure and metadata, and what turning them upright leaves.
    static let photographs = FuzzTarget(
        name: "photographs",
        maximumLength: 8192,
        seeds: photographSeeds,
        read: readPhotograph
    )
}

/// Does all that is done with a photograph from outside.
@Sendable private func readPhotograph(_ bytes: [UInt8]) {
    bytes.withUnsafeBytes { _ = EXIFOrientation(file: $0) }
    guard let photograph = try? Photograph(bytes) else { return }
    // Pixels are the library's work, and large pictures would take all the time.
    guard photograph.outline.size.area < 1 << 16 else { return }
    switch try? photograph.upright(lossy: true) {
    case .turned(let result), .recoded(let result):
        // The result is readable and upright.
        guard let again = try? Photograph(result), again.orientation == .topLeft else {
            fatalError("what was made upright is not")
        }
    case .upright, .kept, nil: break
    }
}

/// Returns a photograph of each orientation, with more and more metadata.
@Sendable private func photographSeeds() throws -> [[UInt8]] {
    let picture = Raster(
        size: Size(width: 32, height: 16),
        pixels: (0..<512).map { UInt32($0 * 0x2_0301) }
    )
    return try (1...8).map { tag in
        let bare = try JPEGCodec.encode(picture, sampling: Int32(tag % 5), quality: 60)
        let metadata = try Metadata(of: bare)
        metadata["Exif.Image.Orientation"] = "\(tag)"
        if tag > 2 { metadata["Exif.Image.Make"] = "Maker" }
        if tag > 3 { metadata["Exif.Photo.SubjectArea"] = "10 5 8 4" }
        if tag > 4 { metadata["Xmp.tiff.Orientation"] = "\(tag)" }
        if tag > 5 { metadata.thumbnail = bare }
        return try metadata.written()
    }
}
