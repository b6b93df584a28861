import FuzzTargets
import Glibc

// fuzz --list: each target's name, and the length of its longest input.
// fuzz NAME --seeds FOLDER: writes the first inputs into the folder.
// fuzz NAME ARGUMENT...: has libFuzzer feed the target, as its arguments say (tools/fuzz).

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
    for target in FuzzTarget.all { print(target.name, target.maximumLength) }
    exit(0)
}
private let target = FuzzTarget.named(words.first ?? "")
if words.count == 3, words.dropFirst().first == "--seeds", let folder = words.last {
    try writeSeeds(of: target, to: folder)
    exit(0)
}

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
    target.read(Array(UnsafeBufferPointer(start: start, count: count)))
    return 0
}

// Without the target's name, which takes the program's place.
var count = CommandLine.argc - 1
var arguments = CommandLine.unsafeArgv + 1
exit(runFuzzer(&count, &arguments, readOne))
