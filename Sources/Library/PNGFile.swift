import CPNG
import Frames
import Glibc
import Photos
import Platform

/// PNG files with the texts beside the picture.
enum PNGFile {
    /// The facts of a file without its pixels.
    struct Facts {
        let size: Size
        let texts: [String: String]
    }

    /// Writes `picture` and `texts` to `descriptor`, which errors call `name`. Control characters
    /// in values, and characters outside ASCII, become "?".
    ///
    /// - Throws: `SystemError` when writing fails.
    static func write(
        _ picture: Raster,
        _ texts: [(key: String, value: String)],
        to descriptor: CInt,
        called name: String
    ) throws(SystemError) {
        let pairs = texts.map { key, value in
            let plain = value.unicodeScalars.map { $0.isASCII && $0.value >= 32 ? $0 : "?" }
            return cpng_text(
                key: strdup(key),
                value: strdup(String(String.UnicodeScalarView(plain)))
            )
        }
        defer {
            for pair in pairs {
                free(UnsafeMutablePointer(mutating: pair.key))
                free(UnsafeMutablePointer(mutating: pair.value))
            }
        }
        let result = cpng_write(
            descriptor,
            picture.pixels,
            UInt32(picture.size.width),
            UInt32(picture.size.height),
            pairs,
            CInt(pairs.count)
        )
        guard result == 0 else {
            throw SystemError("write", name, errno: result > 0 ? result : ENOMEM)
        }
    }

    /// Returns the facts of the PNG in `bytes`, or `nil` if it is invalid or incomplete.
    static func facts(of bytes: [UInt8]) -> Facts? {
        guard bytes.suffix(8).starts(with: Array("IEND".utf8)) else { return nil }
        var (width, height): (UInt32, UInt32) = (0, 0)
        var texts: [String: String] = [:]
        let result = withUnsafeMutablePointer(to: &texts) { context in
            cpng_read(bytes, bytes.count, &width, &height, context) { context, key, value in
                guard let key, let value else { return }
                let texts = context?.assumingMemoryBound(to: [String: String].self)
                texts?.pointee[String(cString: key)] = String(cString: value)
            }
        }
        guard result == 0 else { return nil }
        return Facts(size: Size(width: Int(width), height: Int(height)), texts: texts)
    }
}
