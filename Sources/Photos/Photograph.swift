package import Frames

/// A photograph as stored in a file: a JPEG with its metadata.
package struct Photograph: Sendable {
    /// The whole file.
    package let bytes: [UInt8]
    package let outline: JPEGOutline
    package let orientation: EXIFOrientation

    /// Reads `bytes`. Throws `notJPEG`, `damaged`, `unsupported` or `tooLarge`.
    package init(_ bytes: [UInt8]) throws(PhotoError) {
        self.bytes = bytes
        outline = try JPEGOutline(of: bytes)
        orientation = try Metadata(of: bytes).orientation
    }

    /// An upright picture without metadata, where Exiv2 is not installed.
    init(bare bytes: [UInt8]) throws(PhotoError) {
        self.bytes = bytes
        outline = try JPEGOutline(of: bytes)
        orientation = .topLeft
    }

    /// The result of making a photograph upright.
    package enum Outcome: Hashable, Sendable {
        /// The photograph was upright already.
        case upright
        /// The new file, turned without loss of any coefficient.
        case turned([UInt8])
        /// The new file, encoded again.
        case recoded([UInt8])
        /// The pixels and the tag stay, because turning would lose something, for this reason.
        case kept(String)
    }

    /// The quality of encoded pictures, from 1 to 100.
    package static let quality = 92

    /// Turns the pixels upright and corrects the metadata that depend on it. All other metadata,
    /// the colour profile and the data after the picture stay; the thumbnail is turned too. With
    /// `lossy`, a picture whose coefficients cannot be turned is encoded again. Throws `damaged`,
    /// `unsupported`, `tooLarge`, `metadata` or `noMemory`.
    package func upright(lossy: Bool) throws(PhotoError) -> Outcome {
        let transform = orientation.upright
        guard transform != .identity else { return .upright }
        // The index has the offsets of the other pictures, which would become wrong.
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

    /// Adds this photograph's segments to the bare `picture`, but for those of the old encoding.
    private func dressed(_ picture: [UInt8]) throws(PhotoError) -> [UInt8] {
        let own = outline.segments.filter {
            ($0.marker >= 0xE0 && $0.marker <= 0xEF && $0.marker != 0xEE) || $0.marker == 0xFE
        }
        let hasHeader = !outline.segments(0xE0, named: "JFIF\0", in: bytes).isEmpty
        let bare = try JPEGOutline(of: picture).segments.filter {
            !hasHeader || $0.marker != 0xE0
        }
        let first = bare.first?.range.lowerBound ?? 2
        // The JFIF header must come first, from either file.
        let header =
            hasHeader ? [] : bare.prefix { $0.marker == 0xE0 }.flatMap { picture[$0.range] }
        let rest = hasHeader ? first : bare.first { $0.marker != 0xE0 }?.range.lowerBound ?? first
        return [0xFF, 0xD8] + header + own.flatMap { bytes[$0.range] } + picture[rest...]
    }

    /// Returns the turned `picture` with corrected metadata, and the data after the original.
    private func finished(
        _ picture: [UInt8],
        _ transform: Transform
    ) throws(PhotoError) -> [UInt8] {
        let metadata = try Metadata(of: picture + bytes[outline.end...])
        metadata.turn(by: transform, from: outline.size)
        do throws(PhotoError) {
            return try metadata.written()
        } catch  where error.code == .metadata && metadata.thumbnail != nil {
            // The thumbnail is all that can be made again.
            metadata.thumbnail = nil
            return try metadata.written()
        }
    }
}

extension Metadata {
    /// Corrects the metadata of a picture of `size` that `transform` turned upright.
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
                // The range of the tag's type; the file may have larger numbers.
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

    /// Returns the thumbnail turned by `transform`. Throws as `JPEGCodec` for an invalid thumbnail.
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
