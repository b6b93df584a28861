import Frames

/// A photograph as a file holds it: a JPEG and what it says of itself.
package struct Photograph: Sendable {
    /// The whole file.
    package let bytes: [UInt8]
    /// What it is made of.
    package let outline: JPEGOutline
    /// How its pixels lie.
    package let orientation: EXIFOrientation

    /// Reads `bytes`. Throws `notJPEG`, `damaged`, `unsupported` or `tooLarge`.
    package init(_ bytes: [UInt8]) throws(PhotoError) {
        self.bytes = bytes
        outline = try JPEGOutline(of: bytes)
        orientation = try Metadata(of: bytes).orientation
    }

    /// What became of a photograph that was to be upright.
    package enum Outcome: Hashable, Sendable {
        /// It is upright already.
        case upright
        /// The new file. No coefficient of the picture was lost.
        case turned([UInt8])
        /// The new file, encoded again.
        case recoded([UInt8])
        /// Turning would lose something: its pixels and its tag stay. Why.
        case kept(String)
    }

    /// The quality that a picture is encoded with.
    package static let quality = 92

    /// Makes it upright. Everything else that it says of itself stays, and stays right; so do its colour profile,
    /// its thumbnail and what follows the picture.
    ///
    /// `lossy` allows to encode it again where its coefficients cannot be turned. Throws `damaged`, `unsupported`,
    /// `tooLarge`, `metadata` or `noMemory`.
    package func upright(lossy: Bool) throws(PhotoError) -> Outcome {
        let transform = orientation.upright
        guard transform != .identity else { return .upright }
        // Its index has the others' places, which would be wrong.
        guard outline.segments(0xE2, named: "MPF\0", in: bytes).isEmpty else {
            return .kept("it holds more than one picture")
        }
        let turned = try JPEGCodec.turn(
            bytes,
            by: transform,
            progressive: outline.isProgressive
        )
        switch turned {
        case .done(let picture):
            return .turned(try finished(picture, transform))
        case .impossible(let reason) where !lossy:
            return .kept(reason)
        case .impossible:
            let picture = try JPEGCodec.recode(bytes, by: transform, quality: Self.quality)
            return .recoded(try finished(try dressed(picture), transform))
        }
    }

    /// The bare `picture` with the segments that this one has: all but what says how the first was encoded.
    private func dressed(_ picture: [UInt8]) throws(PhotoError) -> [UInt8] {
        let own = outline.segments.filter {
            ($0.marker >= 0xE0 && $0.marker <= 0xEF && $0.marker != 0xEE) || $0.marker == 0xFE
        }
        let hasHeader = !outline.segments(0xE0, named: "JFIF\0", in: bytes).isEmpty
        let bare = try JPEGOutline(of: picture).segments.filter {
            !hasHeader || $0.marker != 0xE0
        }
        let first = bare.first?.range.lowerBound ?? 2
        // The header of JFIF comes first, whoever wrote it.
        let header =
            hasHeader ? [] : bare.prefix { $0.marker == 0xE0 }.flatMap { picture[$0.range] }
        let rest = hasHeader ? first : bare.first { $0.marker != 0xE0 }?.range.lowerBound ?? first
        return [0xFF, 0xD8] + header + own.flatMap { bytes[$0.range] } + picture[rest...]
    }

    /// The turned `picture` with the metadata that are right for it, and what followed the first.
    private func finished(
        _ picture: [UInt8],
        _ transform: Transform
    ) throws(PhotoError) -> [UInt8] {
        let metadata = try Metadata(of: picture + bytes[outline.end...])
        metadata.turn(by: transform, from: outline.size)
        do throws(PhotoError) {
            return try metadata.written()
        } catch  where error.code == .metadata && metadata.thumbnail != nil {
            // The one thing that can be had again.
            metadata.thumbnail = nil
            return try metadata.written()
        }
    }
}

extension Metadata {
    /// Makes right what speaks of a picture of `size` whose pixels were turned by `transform` and are upright now.
    fileprivate func turn(by transform: Transform, from size: Size) {
        for tag in ["Exif.Image.Orientation", "Exif.Thumbnail.Orientation", "Xmp.tiff.Orientation"]
        where self[tag] != nil { self[tag] = "1" }
        let target = transform.apply(to: size)
        for (tag, value) in [
            ("Exif.Photo.PixelXDimension", target.width),
            ("Exif.Photo.PixelYDimension", target.height),
            ("Exif.Image.ImageWidth", target.width), ("Exif.Image.ImageLength", target.height),
            ("Xmp.exif.PixelXDimension", target.width),
            ("Xmp.exif.PixelYDimension", target.height),
            ("Xmp.tiff.ImageWidth", target.width), ("Xmp.tiff.ImageLength", target.height),
        ] where self[tag] != nil { self[tag] = "\(value)" }
        if transform.swapsAxes {
            for (one, other) in [
                ("Exif.Image.XResolution", "Exif.Image.YResolution"),
                ("Exif.Photo.FocalPlaneXResolution", "Exif.Photo.FocalPlaneYResolution"),
            ] { (self[one], self[other]) = (self[other], self[one]) }
        }
        for tag in ["Exif.Photo.SubjectArea", "Exif.Photo.SubjectLocation"] {
            guard var numbers = self[tag]?.split(separator: " ").compactMap({ Int($0) }),
                (2...4).contains(numbers.count),
                // What the tag can hold; others may have written more.
                numbers.allSatisfy({ (0...65535).contains($0) })
            else { continue }
            (numbers[0], numbers[1]) = transform.apply(toX: numbers[0], y: numbers[1], in: size)
            // A rectangle has a width and a height, a circle only its diameter.
            if numbers.count == 4, transform.swapsAxes { numbers.swapAt(2, 3) }
            guard numbers.allSatisfy({ $0 >= 0 }) else { continue }
            self[tag] = numbers.map { "\($0)" }.joined(separator: " ")
        }
        if let thumbnail {
            self.thumbnail = try? turned(thumbnail: thumbnail, by: transform)
        }
    }

    /// More pixels than a thumbnail of 64 KiB needs.
    private static let largestThumbnail = 1 << 20

    /// Throws what `JPEGCodec` does, for a thumbnail that is none.
    private func turned(
        thumbnail: [UInt8],
        by transform: Transform
    ) throws(PhotoError) -> [UInt8] {
        let area = try JPEGOutline(of: thumbnail).size.area
        guard area <= Self.largestThumbnail else {
            throw PhotoError(.tooLarge, "its thumbnail claims \(area) pixels")
        }
        switch try JPEGCodec.turn(thumbnail, by: transform, progressive: false) {
        case .done(let result): return result
        case .impossible:
            return try JPEGCodec.recode(thumbnail, by: transform, quality: Photograph.quality)
        }
    }
}
