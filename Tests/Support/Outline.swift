import CGLib
package import Foundation

/// The content of an introspection document, without comments and blanks.
package struct Outline {
    /// The elements and their attributes, in the order of the document, by interface.
    package var interfaces: [String: [String]] { reader.interfaces }
    private let reader = Reader()

    /// Parses `document`.
    ///
    /// - Throws: An error when it is not well-formed.
    package init(_ document: Data) throws {
        var parser = GMarkupParser()
        parser.start_element = { _, name, keys, values, reader, _ in
            guard let name, let reader else { return }
            var attributes: [String: String] = [:]
            var index = 0
            while let key = keys?[index], let value = values?[index] {
                attributes[String(cString: key)] = String(cString: value)
                index += 1
            }
            Unmanaged<Reader>.fromOpaque(reader).takeUnretainedValue()
                .begin(String(cString: name), attributes)
        }
        parser.end_element = { _, name, reader, _ in
            guard let name, let reader else { return }
            Unmanaged<Reader>.fromOpaque(reader).takeUnretainedValue().end(String(cString: name))
        }
        let text = String(decoding: document, as: UTF8.self)
        let pointer = Unmanaged.passUnretained(reader).toOpaque()
        var failure: UnsafeMutablePointer<GError>?
        let isWhole = withUnsafePointer(to: parser) { parser in
            let flags = GMarkupParseFlags(rawValue: 0)
            let context = g_markup_parse_context_new(parser, flags, pointer, nil)
            defer { g_markup_parse_context_free(context) }
            return g_markup_parse_context_parse(context, text, gssize(text.utf8.count), &failure)
                != 0 && g_markup_parse_context_end_parse(context, &failure) != 0
        }
        guard isWhole else {
            let reason = failure?.pointee.message.map { String(cString: $0) } ?? "no reason"
            g_clear_error(&failure)
            throw ServiceFailed(description: "not well-formed: \(reason)")
        }
    }

    private final class Reader {
        var interfaces: [String: [String]] = [:]
        private var interface: String?
        private var depth = 0

        func begin(_ name: String, _ attributes: [String: String]) {
            depth += 1
            if name == "interface" { interface = attributes["name"] }
            guard let interface else { return }
            let attributes = attributes.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
            let line = String(repeating: " ", count: depth) + "\(name) \(attributes)"
            interfaces[interface, default: []].append(line)
        }

        func end(_ name: String) {
            depth -= 1
            if name == "interface" { interface = nil }
        }
    }
}
