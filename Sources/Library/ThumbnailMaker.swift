import Frames
import Glibc
import Imaging
import Media
import Photos
import Platform

/// Makes the thumbnail of one untrusted file, from and into files that are open. Only for a process
/// of its own (`ThumbnailWorker`), since a crafted file may crash or hang a decoder.
struct ThumbnailMaker {
    /// The path of the file, for its thumbnail and for errors; it is not opened.
    let path: String
    let size: ThumbnailSize
    /// The file, and an empty one for the thumbnail.
    let source: CInt
    let output: CInt
    /// The thumbnail that is there already.
    let thumbnail: CInt?
    /// The name of the program for the thumbnail: "dualcam-VERSION".
    let program: String

    /// The most frames searched for a good picture of a movie, and the contrast of a good one, on
    /// the scale of `Raster.contrast`: a camera just opened shows black.
    private static let (searchLength, contrast) = (45, 6.0)
    /// The processor time after which what was found is good enough, in microseconds.
    private static let searchTime = 2_000_000

    /// Makes the thumbnail, unless the one that is there is current.
    func make() -> ThumbnailAnswer {
        var status = stat()
        guard fstat(source, &status) == 0 else {
            return .failed(ThumbnailError(.last("fstat", path)))
        }
        guard let subject = ThumbnailCache.Subject(path, status) else {
            return .failed(ThumbnailError(.notFound, "\(path) has no URI"))
        }
        if let facts = thumbnail.flatMap({ subject.facts(in: $0) }),
            max(facts.size.width, facts.size.height) <= size.rawValue
        {
            return .held
        }
        let isPhoto = MediaName(fileName(of: path))?.kind == .photo
        let (picture, original): (Raster, Size)
        do throws(PictureError) {
            (picture, original) = try isPhoto ? photo() : movie()
        } catch {
            switch error {
            case .system(let error): return .failed(ThumbnailError(error))
            case .content(let reason): return .unreadable(reason)
            }
        }
        let type = isPhoto ? "image/jpeg" : path.hasSuffix("4") ? "video/mp4" : "video/x-matroska"
        let texts = [
            ("Thumb::Mimetype", type), ("Thumb::Image::Width", "\(original.width)"),
            ("Thumb::Image::Height", "\(original.height)"),
        ]
        do throws(SystemError) {
            try PNGFile.write(picture, subject.texts(program) + texts, to: output, called: path)
            return .made
        } catch {
            return .failed(ThumbnailError(error))
        }
    }

    /// A fault in the file's content, or a failure to read it.
    private enum PictureError: Error {
        case content(String)
        case system(SystemError)
    }

    private func photo() throws(PictureError) -> (Raster, Size) {
        let bytes: [UInt8]
        do throws(SystemError) {
            bytes = try content(of: source, limit: JPEGOutline.maximumLength)
        } catch {
            throw error.errno == EFBIG ? .content("it is too large") : .system(error)
        }
        do throws(PhotoError) {
            let original = try JPEGOutline(of: bytes).size
            // The picture is usable without valid metadata.
            let upright = ((try? Metadata(of: bytes))?.orientation ?? .topLeft).upright
            let small = try Self.small(bytes, size).reduced(into: size.bounds)
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
        let buffer = FrameBuffer(byteCount: bytes.count)
        buffer.bytes.copyBytes(from: bytes)
        let jpeg = JPEGFrame(
            buffer: buffer,
            byteCount: bytes.count,
            timestamp: .zero,
            sequence: 0
        )
        let extent = ShownExtent(Size(width: 2 * size.rawValue, height: 2 * size.rawValue))
        guard
            let decoder = try? FrameDecoder(expecting: Size(width: 8192, height: 8192), frames: 1),
            case .frame(let frame) = decoder.decode(jpeg, for: extent)
            // It is too large or damaged, which this decoder describes best.
        else { return try JPEGCodec.decode(bytes).picture }
        return Raster(frame)
    }

    private func movie() throws(PictureError) -> (Raster, Size) {
        guard MovieReader.isPossible else {
            throw .system(SystemError("open", "FFmpeg's libraries", errno: ENOENT))
        }
        do throws(MediaError) {
            let reader = try MovieReader(descriptor: source, path: path)
            var best: (picture: Raster, contrast: Double)?
            let start = clock()
            for _ in 0..<Self.searchLength where try reader.advance() {
                let (layout, color) = reader.layout
                let buffer = FrameBuffer(byteCount: layout.byteCount)
                guard try reader.copy(into: buffer) else { continue }
                let frame = Frame(
                    buffer: buffer,
                    layout: layout,
                    color: color,
                    timestamp: .zero,
                    sequence: 0
                )
                let picture = Raster(frame).reduced(into: size.bounds)
                if picture.contrast > best?.contrast ?? -1 { best = (picture, picture.contrast) }
                if picture.contrast >= Self.contrast || clock() - start >= Self.searchTime { break }
            }
            guard let best else {
                throw MediaError(.unreadable, "decode", path, detail: "no picture in it")
            }
            return (best.picture, reader.size)
        } catch {
            switch error.code {
            case .unreadable, .unsupported:
                throw .content("it is no movie that can be read (\(error.detail))")
            default: throw .system(SystemError("read", "", errno: error.errno))
            }
        }
    }
}

/// Returns the content of the open file `descriptor`.
///
/// - Throws: EFBIG if it has more than `limit` bytes; otherwise the errno of pread(2).
func content(of descriptor: CInt, limit: Int) throws(SystemError) -> [UInt8] {
    var bytes: [UInt8] = []
    var part = [UInt8](repeating: 0, count: 1 << 18)
    while true {
        let count = retryingInterrupts {
            pread(descriptor, &part, part.count, off_t(bytes.count))
        }
        guard count >= 0 else { throw .last("pread") }
        guard count > 0 else { return bytes }
        guard bytes.count + count <= limit else { throw SystemError("read", errno: EFBIG) }
        bytes += part[..<count]
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
