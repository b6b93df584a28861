package import Frames
package import Platform

extension Photograph {
    /// The bounds of the thumbnail in the metadata, in pixels.
    private static let thumbnailBounds = Size(width: 160, height: 120)

    /// Returns a photograph from a camera's own JPEG, which `transform` makes upright. It is turned
    /// without loss where possible, otherwise marked with the orientation tag; without Exiv2 it is
    /// encoded again. Missing Huffman tables are added. Of what the camera wrote, only the picture
    /// stays: see `JPEGMetadata`. Throws `notJPEG` or `damaged` for an incomplete frame, after
    /// which the next may succeed; `unsupported`, `tooLarge`, `metadata` or `noMemory`.
    package static func taken(
        jpeg: [UInt8],
        upright transform: Transform,
        at moment: WallTime,
        tags: [String: String]
    ) throws(PhotoError) -> Photograph {
        guard let picture = JPEGMetadata.removed(from: jpeg) else {
            // Its errors say what is wrong.
            _ = try JPEGOutline(of: jpeg)
            throw PhotoError(.damaged, "it ends early")
        }
        let whole = try JPEGCodec.completed(picture)
        let isProgressive = try JPEGOutline(of: whole).isProgressive
        switch try JPEGCodec.turn(whole, by: transform, progressive: isProgressive) {
        case .done(let turned):
            // Even the identity transform checks that the picture is whole, and drops stray bytes
            // between its scans.
            return try described(turned, .topLeft, moment, tags, of: nil)
        case .impossible where !Metadata.isPossible:
            return try Photograph(
                bare: try JPEGCodec.recode(whole, by: transform, quality: quality)
            )
        case .impossible:
            let orientation = EXIFOrientation(upright: transform)
            return try described(whole, orientation, moment, tags, of: nil)
        }
    }

    /// Returns a photograph of `picture`, which `transform` makes upright. Throws `damaged`,
    /// `metadata` or `noMemory`.
    package static func taken(
        _ picture: Raster,
        upright transform: Transform,
        at moment: WallTime,
        tags: [String: String]
    ) throws(PhotoError) -> Photograph {
        let upright = picture.turned(by: transform)
        // 4:2:0, because the raw formats of cameras have at most half the chroma.
        let bytes = try JPEGCodec.encode(upright, sampling: 2, quality: quality)
        return try described(bytes, .topLeft, moment, tags, of: upright)
    }

    /// Returns `bytes` with metadata, if Exiv2 is installed. `picture` has its pixels if they are
    /// already decoded.
    private static func described(
        _ bytes: [UInt8],
        _ orientation: EXIFOrientation,
        _ moment: WallTime,
        _ tags: [String: String],
        of picture: Raster?
    ) throws(PhotoError) -> Photograph {
        guard Metadata.isPossible else { return try Photograph(bare: bytes) }
        let size = try JPEGOutline(of: bytes).size
        let metadata = try Metadata(of: bytes)
        var all = tags.merging(moment.exif) { $1 }
        all["Exif.Photo.PixelXDimension"] = "\(size.width)"
        all["Exif.Photo.PixelYDimension"] = "\(size.height)"
        for (tag, value) in all { metadata[tag] = value }
        metadata.orientation = orientation
        let pixels: Raster = if let picture { picture } else { try JPEGCodec.decode(bytes).picture }
        metadata.thumbnail = try JPEGCodec.encode(
            pixels.reduced(into: thumbnailBounds),
            sampling: 2,
            quality: 80
        )
        return try Photograph(try metadata.written())
    }

    /// The size as displayed, in pixels.
    package var size: Size { orientation.upright.apply(to: outline.size) }
}

extension WallTime {
    /// The EXIF tags of a photograph that was taken then.
    fileprivate var exif: [String: String] {
        let date = text("%Y:%m:%d %H:%M:%S")
        var zone = text("%z")
        if zone.count == 5 { zone.insert(":", at: zone.index(zone.startIndex, offsetBy: 3)) }
        return [
            "Exif.Image.DateTime": date, "Exif.Photo.DateTimeOriginal": date,
            "Exif.Photo.DateTimeDigitized": date,
            "Exif.Photo.SubSecTimeOriginal": milliseconds,
            "Exif.Photo.OffsetTimeOriginal": zone,
        ]
    }
}
