import CGLib

/// Returns the URI of the file `path`, or `nil` if the path is not absolute.
///
/// Spelled as by GLib's g_filename_to_uri(), under which other desktop programs know the file.
package func fileURI(_ path: String) -> String? {
    guard let text = g_filename_to_uri(path, nil, nil) else { return nil }
    defer { g_free(text) }
    return String(cString: text)
}
