package import Glibc

// Readers of directories, links and small files, such as the kernel's in /proc and /sys.

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

/// Returns the names in the directory of `path`; `nil` if there is no such directory.
package func neighbors(of path: String) -> [String]? {
    let folder = path.lastIndex(of: "/").map { $0 == path.startIndex ? "/" : String(path[..<$0]) }
    let name = folder ?? "."
    return access("\(name)/.", F_OK) == 0 ? entries(of: name) : nil
}

/// Returns the path of the directory that `path` is in; empty for the root, and if it names none.
package func folder(of path: String) -> String {
    String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)])
}

/// Returns the name of the file or directory at `path`; empty for the root.
package func fileName(of path: String) -> String {
    path.split(separator: "/").last.map(String.init) ?? ""
}

/// Calls `body` with the name in an entry of readdir(3), valid within it.
package func withName<Result>(
    of entry: UnsafeMutablePointer<dirent>,
    _ body: (UnsafeBufferPointer<UInt8>) -> Result
) -> Result {
    // By address: an entry is as long as its name, shorter than the struct to be copied.
    withUnsafeMutablePointer(to: &entry.pointee.d_name) { field in
        let start = UnsafeRawPointer(field).assumingMemoryBound(to: CChar.self)
        let bytes = UnsafeRawPointer(field).assumingMemoryBound(to: UInt8.self)
        return body(UnsafeBufferPointer(start: bytes, count: strlen(start)))
    }
}

/// Returns the first line of a small text file, up to 256 bytes; `nil` if unreadable.
package func content(_ path: String) -> String? {
    guard let file = fopen(path, "re") else { return nil }
    defer { fclose(file) }
    var bytes = [UInt8](repeating: 0, count: 256)
    let count = fread(&bytes, 1, bytes.count, file)
    let text = String(decoding: bytes[..<count], as: UTF8.self)
    return String(text.prefix { $0 != "\n" })
}

/// Returns the text of a regular file; "" if unreadable, or of more than `limit` bytes.
package func wholeText(of path: String, limit: Int = 1 << 24) -> String {
    let bytes = try? readFile(path, limit: limit)
    return bytes.map { String(decoding: $0, as: UTF8.self) } ?? ""
}

/// Returns `path` without links and dots; `nil` if it does not exist.
package func resolvedPath(_ path: String) -> String? {
    guard let found = realpath(path, nil) else { return nil }
    defer { free(found) }
    return String(cString: found)
}

/// Returns the path that the symbolic link at `path` holds; `nil` if it is none.
package func linkTarget(_ path: String) -> String? {
    var target = [CChar](repeating: 0, count: Int(PATH_MAX))
    let count = readlink(path, &target, target.count)
    guard count > 0 else { return nil }
    return String(decoding: target[..<count].map(UInt8.init(bitPattern:)), as: UTF8.self)
}

/// Returns the path of the first program called `name` in PATH; `nil` if there is none.
package func pathOfProgram(_ name: String) -> String? {
    let path = environmentVariable("PATH") ?? "/usr/bin:/bin"
    return path.split(separator: ":").map { "\($0)/\(name)" }.first { access($0, X_OK) == 0 }
}

/// The directory of this program; `nil` if it cannot be told, as once its file was replaced.
package var programFolder: String? { resolvedPath("/proc/self/exe").map { folder(of: $0) } }

/// Returns the path of the program `name` in the directory of this one; `nil` if there is none.
package func programBeside(_ name: String) -> String? {
    let path = programFolder.map { $0 + "/" + name }
    return path.flatMap { access($0, X_OK) == 0 ? $0 : nil }
}

/// Returns the place of a USB device, as the kernel's usb_make_path() makes it:
/// "usb-0000:00:14.0-1". `interface` is its path in sysfs, "…/0000:00:14.0/usb1/1-2/1-2:1.0".
package func busOfUSB(_ interface: String) -> String? {
    let parts = interface.split(separator: "/")
    guard let hub = parts.lastIndex(where: { $0.hasPrefix("usb") }), hub > 0,
        let port = content("\(interface)/../devpath")
    else { return nil }
    return "usb-\(parts[hub - 1])-\(port)"
}
