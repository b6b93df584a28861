package import Glibc

// What the kernel tells in /proc and /sys.

/// The names in the directory `path`; none when it cannot be read.
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

/// Calls `body` with the name of what readdir(3) has found; valid within it.
package func withName<Result>(
    of entry: UnsafeMutablePointer<dirent>,
    _ body: (UnsafeBufferPointer<UInt8>) -> Result
) -> Result {
    // By its address: what was read is as long as the name, and shorter than what Swift would copy.
    withUnsafeMutablePointer(to: &entry.pointee.d_name) { field in
        let start = UnsafeRawPointer(field).assumingMemoryBound(to: CChar.self)
        let bytes = UnsafeRawPointer(field).assumingMemoryBound(to: UInt8.self)
        return body(UnsafeBufferPointer(start: bytes, count: strlen(start)))
    }
}

/// What the small text file `path` says, without the line's end; `nil` when it cannot be read.
package func content(_ path: String) -> String? {
    guard let file = fopen(path, "re") else { return nil }
    defer { fclose(file) }
    var bytes = [UInt8](repeating: 0, count: 256)
    let count = fread(&bytes, 1, bytes.count, file)
    let text = String(decoding: bytes[..<count], as: UTF8.self)
    return String(text.prefix { $0 != "\n" })
}
