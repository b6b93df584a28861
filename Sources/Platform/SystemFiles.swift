package import Glibc

// Readers of the kernel's files in /proc and /sys.

/// Returns the names in the directory `path`; empty if it cannot be read.
package func entries(of path: String) -> [String] {
    guard let directory = opendir(path) else { return [] }
    defer { closedir(directory) }
    var names: [String] = []
    while let entry = readdir(directory) {
        let name = withName(of: entry) { String(decoding: $0, as: UTF8.self) }
        if name != "." && name != ".." { names.append(name) }
    }
    return names
}

/// Returns the names in the directory that the file at `path` is in, or would be; `nil` if there is
/// no such directory.
package func neighbors(of path: String) -> [String]? {
    let folder = path.lastIndex(of: "/").map { $0 == path.startIndex ? "/" : String(path[..<$0]) }
    let name = folder ?? "."
    return access("\(name)/.", F_OK) == 0 ? entries(of: name) : nil
}

/// Calls `body` with the name in an entry of readdir(3), valid within it.
package func withName<Result>(
    of entry: UnsafeMutablePointer<dirent>,
    _ body: (UnsafeBufferPointer<UInt8>) -> Result
) -> Result {
    // By address: an entry is only as long as its name, and shorter than the struct that Swift
    // would copy.
    withUnsafeMutablePointer(to: &entry.pointee.d_name) { field in
        let start = UnsafeRawPointer(field).assumingMemoryBound(to: CChar.self)
        let bytes = UnsafeRawPointer(field).assumingMemoryBound(to: UInt8.self)
        return body(UnsafeBufferPointer(start: bytes, count: strlen(start)))
    }
}

/// Returns the first line of the small text file `path`, at most 256 bytes; `nil` if it cannot be
/// read.
package func content(_ path: String) -> String? {
    guard let file = fopen(path, "re") else { return nil }
    defer { fclose(file) }
    var bytes = [UInt8](repeating: 0, count: 256)
    let count = fread(&bytes, 1, bytes.count, file)
    let text = String(decoding: bytes[..<count], as: UTF8.self)
    return String(text.prefix { $0 != "\n" })
}
