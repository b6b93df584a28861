import Frames
import Glibc
import Imaging
import Media
import Photos
import Platform

/// Makes thumbnails of untrusted files. Only for a process of its own, since a crafted file may
/// crash or hang a decoder.
struct ThumbnailMaker {
    let cache: ThumbnailCache

    /// The most frames searched for a good picture of a movie, and the contrast of a good one, on
    /// the scale of `Raster.contrast`: a camera just opened shows black.
    private static let (searchLength, contrast) = (45, 6.0)

    /// Makes the thumbnail of the file at `path`, unless it exists.
    ///
    /// - Throws: `notFound`, `unreadable`, `denied`, `noSpace` or `system`.
    func make(_ path: String, _ size: ThumbnailSize) throws(ThumbnailError) {
        let number = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard number >= 0 else { throw ThumbnailError(.last("open", path)) }
        let file = Descriptor(owning: number)
        var status = stat()
        guard fstat(number, &status) == 0 else { throw ThumbnailError(.last("fstat", path)) }
        guard status.st_mode & S_IFMT == S_IFREG,
            let subject = ThumbnailCache.Subject(path, status)
        else { throw ThumbnailError(.notFound, "\(path) is no regular file") }
        if cache.holds(subject, size) { return }
        if let reason = cache.failure(of: subject) {
            throw ThumbnailError(.unreadable, "\(path): \(reason)")
        }
        let isPhoto =
            MediaName(path.split(separator: "/").last.map(String.init) ?? "")?.kind == .photo
        // Read through the descriptor, so that the file read is the file checked, even if renamed
        // meanwhile.
        let opened = "/proc/self/fd/\(file.number)"
        let (picture, original): (Raster, Size)
        do throws(PictureError) {
            (picture, original) =
                try isPhoto ? Self.photo(opened, size) : Self.movie(opened, size)
        } catch {
            switch error {
            case .system(let error): throw ThumbnailError(error)
            case .content(let reason):
                try? cache.store(failure: reason, of: subject)
                throw ThumbnailError(.unreadable, "\(path): \(reason)")
            }
        }
        let type = isPhoto ? "image/jpeg" : path.hasSuffix("4") ? "video/mp4" : "video/x-matroska"
        do throws(SystemError) {
            try cache.store(picture, of: subject, size, original: original, type: type)
        } catch {
            throw ThumbnailError(error)
        }
    }

    /// A fault in the file's content, or a failure to read it.
    private enum PictureError: Error {
        case content(String)
        case system(SystemError)
    }

    private static func photo(
        _ path: String,
        _ size: ThumbnailSize
    ) throws(PictureError) -> (Raster, Size) {
        let bytes: [UInt8]
        do throws(SystemError) {
            bytes = try readFile(path, limit: JPEGOutline.maximumLength)
        } catch {
            throw error.errno == EFBIG ? .content("it is too large") : .system(error)
        }
        do throws(PhotoError) {
            let original = try JPEGOutline(of: bytes).size
            // The picture is usable without valid metadata.
            let upright = ((try? Metadata(of: bytes))?.orientation ?? .topLeft).upright
            let small = try small(bytes, size).reduced(into: size.bounds)
            return (small.turned(by: upright), upright.apply(to: original))
        } catch {
            throw .content(error.description)
        }
    }

    /// Returns the picture, decoded at the smallest scale of at least twice the thumbnail's size,
    /// or in full: averaging the rest looks better than leaving pixels out.
    private static func small(
        _ bytes: [UInt8],
        _ size: ThumbnailSize
    ) throws(PhotoError) -> Raster {
        let frame = bytes.withUnsafeBytes { bytes -> Frame? in
            guard let decoder = try? JPEGDecoder(), let header = try? decoder.header(of: bytes)
            else {
                return nil
            }
            let scale = JPEGScale.allCases.last {
                let scaled = $0.apply(to: header.size)
                return max(scaled.width, scaled.height) >= 2 * size.rawValue
            }
            let layout = header.layout(at: scale ?? .full)
            let buffer = FrameBuffer(byteCount: layout.byteCount)
            guard
                (try? decoder.decode(
                    bytes,
                    header: header,
                    scale: scale ?? .full,
                    into: buffer,
                    layout: layout
                )) != nil
            else { return nil }
            return Frame(
                buffer: buffer,
                layout: layout,
                color: .jpeg,
                timestamp: .zero,
                sequence: 0
            )
        }
        // The colours fit no frame, or the file is damaged, which this decoder describes best.
        guard let frame else { return try JPEGCodec.decode(bytes).picture }
        return Raster(frame)
    }

    private static func movie(
        _ path: String,
        _ size: ThumbnailSize
    ) throws(PictureError) -> (Raster, Size) {
        guard MovieReader.isPossible else {
            throw .system(SystemError("open", "FFmpeg's libraries", errno: ENOENT))
        }
        do throws(MediaError) {
            let reader = try MovieReader(path: path)
            var best: (picture: Raster, contrast: Double)?
            for _ in 0..<searchLength where try reader.advance() {
                let (layout, color) = reader.layout
                let buffer = FrameBuffer(byteCount: layout.byteCount)
                guard try reader.copy(into: buffer, layout) else { continue }
                let frame = Frame(
                    buffer: buffer,
                    layout: layout,
                    color: color,
                    timestamp: .zero,
                    sequence: 0
                )
                let picture = Raster(frame).reduced(into: size.bounds)
                if picture.contrast > best?.contrast ?? -1 { best = (picture, picture.contrast) }
                if picture.contrast >= contrast { break }
            }
            guard let best else {
                throw MediaError(.unreadable, "decode", path, detail: "no picture in it")
            }
            let upright = Transform(quarterTurns: reader.rotation / 90)
            return (best.picture.turned(by: upright), upright.apply(to: reader.size))
        } catch {
            switch error.code {
            case .unreadable, .unsupported:
                throw .content("it is no movie that can be read (\(error.detail))")
            default: throw .system(SystemError("read", "", errno: error.errno))
            }
        }
    }
}

extension ThumbnailSize {
    fileprivate var bounds: Size { Size(width: rawValue, height: rawValue) }
}

extension Raster {
    /// The standard deviation of the luma, from 0 to 128.
    fileprivate var contrast: Double {
        var (sum, squares) = (0, 0)
        for pixel in pixels {
            let light = Int(pixel & 255) + 2 * Int(pixel >> 8 & 255) + Int(pixel >> 16 & 255)
            sum += light
            squares += light * light
        }
        let mean = Double(sum) / Double(pixels.count)
        return max(0, Double(squares) / Double(pixels.count) - mean * mean).squareRoot() / 4
    }
}

extension ThumbnailError {
    /// Creates the error for a failed system call.
    init(_ error: SystemError) {
        let code: Code =
            switch error.errno {
            case ENOENT, ENOTDIR, ELOOP: .notFound
            case EACCES, EPERM, EROFS: .denied
            case ENOSPC, EDQUOT: .noSpace
            default: .system
            }
        self.init(code, "\(error)")
    }
}
