import Glibc

// fuzz --list: each target's name, the number of its inputs in a test, and their longest length.
// fuzz NAME --seeds FOLDER: writes the first inputs into the folder.
// fuzz NAME ARGUMENT...: with libFuzzer (tools/fuzz) feeds the target as its arguments say; without
// it, reads the files that are named.

/// Writes the target's first inputs into `folder`.
private func writeSeeds(of target: FuzzTarget, to folder: String) throws {
    for (number, bytes) in try target.seeds().enumerated() {
        let path = "\(folder)/seed-\(number + 1)"
        guard let file = fopen(path, "we"), fwrite(bytes, 1, bytes.count, file) == bytes.count,
            fclose(file) == 0
        else {
            perror(path)
            exit(1)
        }
    }
}

let words = CommandLine.arguments.dropFirst()
if words.first == "--list" {
    for target in FuzzTarget.all { print(target.name, target.testRuns, target.maximumLength) }
    exit(0)
}
let target = FuzzTarget.chosen
if words.count == 3, words.dropFirst().first == "--seeds", let folder = words.last {
    try writeSeeds(of: target, to: folder)
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
    FuzzTarget.chosen.read(Array(UnsafeBufferPointer(start: start, count: count)))
    return 0
}

// Without the target's name, which takes the program's place.
var count = CommandLine.argc - 1
var arguments = CommandLine.unsafeArgv + 1
exit(runFuzzer(&count, &arguments, readOne))
#else
for path in words.dropFirst() {
    guard let file = fopen(path, "re") else {
        perror(path)
        exit(1)
    }
    var bytes = [UInt8](repeating: 0, count: 1 << 24)
    bytes.removeLast(bytes.count - fread(&bytes, 1, bytes.count, file))
    fclose(file)
    target.read(bytes)
}
#endif
