import Capture
import Frames
import Glibc
import Imaging
import Photos
import Platform

/// Makes thumbnails of files from anywhere. Only in a process of its own, since what decodes pictures may crash or hang in
/// one that was made for that.
struct ThumbnailMaker {
    let cache: ThumbnailCache

    /// How far into a movie a good picture is looked for, in frames, and by how much of 255 the light in it varies: a camera that
    /// is only just opened shows black.
    private static let (searchLength, contrast) = (45, 6.0)

    /// Sees to it that there is a thumbnail of the file at `path`.
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
        // What was checked is what is read, whoever renames it meanwhile.
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

    /// What is wrong: with the file's content, or with reading it.
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
            // A picture that says nothing sensible of itself is a picture nevertheless.
            let upright = ((try? Metadata(of: bytes))?.orientation ?? .topLeft).upright
            let small = try small(bytes, size).reduced(into: size.bounds)
            return (small.turned(by: upright), upright.apply(to: original))
        } catch {
            throw .content(error.description)
        }
    }

    /// The picture, no smaller than twice as large as it is to be, where it has as many pixels: what is averaged then
    /// looks better than what is left out.
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
        // Colours that no frame can hold; and who says best what is wrong.
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
        do throws(CaptureError) {
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
                throw CaptureError(.unreadable, "decode", path, detail: "no picture in it")
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
    /// How much its light varies: the standard deviation, 0 … 128.
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
    /// What the system refused.
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
