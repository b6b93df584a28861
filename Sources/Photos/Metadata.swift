import CExiv2
package import Frames
import Glibc

/// The metadata of one JPEG, read and written with Exiv2 under its names for tags, such as
/// "Exif.Photo.FNumber". One thread at a time.
package final class Metadata {
    private let file: OpaquePointer
    /// A copy of the file, from which Exiv2 reads for its whole life.
    private let bytes: UnsafeMutableBufferPointer<UInt8>

    /// `false` if Exiv2 is not installed.
    package static var isPossible: Bool { exiv2_load() != 0 }

    /// Reads the metadata of `bytes`. Throws `damaged`, also without Exiv2.
    package init(of bytes: [UInt8]) throws(PhotoError) {
        let copy = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: bytes.count)
        _ = copy.initialize(from: bytes)
        var reason = [CChar](repeating: 0, count: 256)
        guard let file = exiv2_open(copy.baseAddress, copy.count, &reason, reason.count) else {
            copy.deallocate()
            throw PhotoError(.damaged, "its metadata cannot be read: \(text(reason))")
        }
        self.file = file
        self.bytes = copy
    }

    deinit {
        exiv2_close(file)
        bytes.deallocate()
    }

    /// The value of a tag as text; `nil` without one. Setting `nil`, or a bad value, has no effect.
    package subscript(_ tag: String) -> String? {
        get {
            var value = [CChar](repeating: 0, count: 1024)
            return exiv2_get(file, tag, &value, value.count) >= 0 ? text(value) : nil
        }
        set {
            if let newValue { _ = exiv2_set(file, tag, newValue) }
        }
    }

    /// The embedded thumbnail, a JPEG, or `nil`.
    package var thumbnail: [UInt8]? {
        get {
            var count = 0
            guard let start = exiv2_thumbnail(file, &count) else { return nil }
            defer { free(start) }
            return Array(UnsafeBufferPointer(start: start, count: count))
        }
        set { _ = exiv2_set_thumbnail(file, newValue ?? [], newValue?.count ?? 0) }
    }

    package var orientation: EXIFOrientation {
        get { EXIFOrientation(tag: self["Exif.Image.Orientation"].flatMap { Int($0) } ?? 1) }
        set { self["Exif.Image.Orientation"] = "\(newValue.rawValue)" }
    }

    /// Returns the whole file with the new metadata; all other bytes stay as they were. Throws
    /// `metadata` when the new metadata does not fit.
    package func written() throws(PhotoError) -> [UInt8] {
        var count = 0
        var reason = [CChar](repeating: 0, count: 256)
        guard let start = exiv2_write(file, &count, &reason, reason.count) else {
            throw PhotoError(.metadata, "its metadata cannot be written: \(text(reason))")
        }
        defer { free(start) }
        let new = Array(UnsafeBufferPointer(start: start, count: count))
        // Exiv2 also rewrites comments and profiles, not exactly as they were.
        let old = Array(bytes)
        let outline = try JPEGOutline(of: old)
        let others = outline.segments.filter { !$0.isMetadata(in: old) }
        let header = others.prefix { $0.marker == 0xE0 }
        let own = try JPEGOutline(of: new).segments.filter { $0.isMetadata(in: new) }
        var result: [UInt8] = [0xFF, 0xD8]
        for segment in header { result += old[segment.range] }
        for segment in own { result += new[segment.range] }
        for segment in others.dropFirst(header.count) { result += old[segment.range] }
        return result + old[outline.scan...]
    }
}

extension JPEGOutline.Segment {
    /// Returns `true` for the metadata that Exiv2 is to write: Exif or XMP.
    fileprivate func isMetadata(in bytes: [UInt8]) -> Bool {
        marker == 0xE1
            && ["Exif\0", "http://ns.adobe.com/xap/1.0/\0"].contains {
                bytes[payload].starts(with: $0.utf8)
            }
    }
}

/// Returns the text before the terminating zero.
private func text(_ characters: [CChar]) -> String {
    String(decoding: characters.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
}
