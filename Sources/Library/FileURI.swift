import CGLib

/// The URI of the file `path`, spelled as GLib does it (g_filename_to_uri), by which other programs of a desktop know the
/// file; `nil` where `path` does not begin at the root.
package func fileURI(_ path: String) -> String? {
    guard let text = g_filename_to_uri(path, nil, nil) else { return nil }
    defer { g_free(text) }
    return String(cString: text)
}
