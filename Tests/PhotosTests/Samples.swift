import Foundation
import Frames
import Photos

func sample(_ size: Size) -> Raster {
    let pixels = (0..<size.area).map { index in
        let (x, y) = (index % size.width, index / size.width)
        let red = x * 255 / size.width
        let green = y * 255 / size.height
        let blue = x * 3 < size.width && y * 4 < size.height ? 230 : 40
        return UInt32(red | green << 8 | blue << 16)
    }
    return Raster(size: size, pixels: pixels)
}

/// Chroma sampling by TurboJPEG's numbers (TJSAMP).
enum Sampling: Int32, CaseIterable {
    case full = 0
    case half = 1
    case quarter = 2
    case gray = 3
    case tall = 4
}

/// Returns a photograph that shows `picture` upright when its tag is applied.
func photograph(
    of picture: Raster,
    tag: Int,
    sampling: Sampling = .quarter,
    adding tags: [String: String] = [:],
    thumbnail: Raster? = nil
) throws -> [UInt8] {
    let stored = EXIFOrientation(tag: tag).upright.inverse
    let bare = try JPEGCodec.encode(
        picture.turned(by: stored),
        sampling: sampling.rawValue,
        quality: 95
    )
    let metadata = try Metadata(of: bare)
    metadata["Exif.Image.Orientation"] = "\(tag)"
    for (tag, value) in tags { metadata[tag] = value }
    if let thumbnail {
        metadata.thumbnail = try JPEGCodec.encode(
            thumbnail.turned(by: stored),
            sampling: Sampling.half.rawValue,
            quality: 90
        )
    }
    return try metadata.written()
}

/// Returns the similarity of `file` and `picture` (peak signal to noise, dB); 0 if the sizes
/// differ.
func likeness(_ file: [UInt8], _ picture: Raster, gray: Bool = false) throws -> Double {
    let decoded = try JPEGCodec.decode(file).picture
    guard decoded.size == picture.size else { return 0 }
    func luma(_ pixel: UInt32) -> Double {
        Double(pixel & 255) * 0.299 + Double(pixel >> 8 & 255) * 0.587
            + Double(pixel >> 16 & 255) * 0.114
    }
    var sum = 0.0
    for (one, other) in zip(decoded.pixels, picture.pixels) {
        if gray {
            let difference = luma(one) - luma(other)
            sum += 3 * difference * difference
            continue
        }
        for shift in [0, 8, 16] as [UInt32] {
            let difference = Double(one >> shift & 255) - Double(other >> shift & 255)
            sum += difference * difference
        }
    }
    let mean = sum / Double(3 * picture.size.area)
    return mean == 0 ? .infinity : 10 * log10(255 * 255 / mean)
}

/// Returns `file` with additional segments after the start of the image.
func inserting(_ segments: [(marker: UInt8, payload: [UInt8])], into file: [UInt8]) -> [UInt8] {
    file[..<2]
        + segments.flatMap { segment in
            let length = segment.payload.count + 2
            return [0xFF, segment.marker, UInt8(length >> 8), UInt8(length & 255)]
                + segment.payload
        } + file[2...]
}

func payloads(_ marker: UInt8, in file: [UInt8]) throws -> [[UInt8]] {
    try JPEGOutline(of: file).segments.filter { $0.marker == marker }.map {
        Array(file[$0.payload])
    }
}
