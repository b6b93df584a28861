import Frames
import Glibc
import Photos

// With libFuzzer (tools/fuzz) it generates photographs, without it reads the files it is given.

/// Does all that is done with a photograph from outside.
private func read(_ bytes: [UInt8]) {
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

/// Writes the first photographs into `folder`.
private func plant(_ folder: String) throws {
    let picture = Raster(
        size: Size(width: 32, height: 16),
        pixels: (0..<512).map { UInt32($0 * 0x2_0301) }
    )
    for tag in 1...8 {
        let bare = try JPEGCodec.encode(picture, sampling: Int32(tag % 5), quality: 60)
        let metadata = try Metadata(of: bare)
        metadata["Exif.Image.Orientation"] = "\(tag)"
        if tag > 2 { metadata["Exif.Image.Make"] = "Maker" }
        if tag > 3 { metadata["Exif.Photo.SubjectArea"] = "10 5 8 4" }
        if tag > 4 { metadata["Xmp.tiff.Orientation"] = "\(tag)" }
        if tag > 5 { metadata.thumbnail = bare }
        let bytes = try metadata.written()
        guard let file = fopen("\(folder)/\(tag).jpg", "we") else { fatalError("no \(folder)") }
        fwrite(bytes, 1, bytes.count, file)
        fclose(file)
    }
}

if CommandLine.arguments.count == 3, CommandLine.arguments[1] == "--plant" {
    try plant(CommandLine.arguments[2])
    exit(0)
}

#if FUZZING
/// libFuzzer's own main, as a function (FuzzerInterface.h).
@_silgen_name("LLVMFuzzerRunDriver")
private func runFuzzer(
    _ count: UnsafeMutablePointer<CInt>,
    _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>>,
    _ body: @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt
) -> CInt

/// Named as libFuzzer's archive requires.
@_cdecl("LLVMFuzzerTestOneInput")
func readOne(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    read(Array(UnsafeBufferPointer(start: start, count: count)))
    return 0
}

var count = CommandLine.argc
var arguments = CommandLine.unsafeArgv
exit(runFuzzer(&count, &arguments, readOne))
#else
for path in CommandLine.arguments.dropFirst() {
    guard let file = fopen(path, "re") else {
        perror(path)
        exit(1)
    }
    var bytes = [UInt8](repeating: 0, count: 1 << 24)
    bytes.removeLast(bytes.count - fread(&bytes, 1, bytes.count, file))
    fclose(file)
    read(bytes)
}
#endif
