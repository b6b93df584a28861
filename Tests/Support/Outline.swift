package import Foundation
package import FoundationXML

/// What an introspection document says, without comments and blanks.
package final class Outline: NSObject, XMLParserDelegate {
    /// Elements and their attributes, in the order of the document, for each interface.
    package private(set) var interfaces: [String: [String]] = [:]
    /// The names of the nodes below.
    package private(set) var children: [String] = []
    private var interface: String?
    private var depth = 0

    /// Throws when `document` is not well-formed.
    package init(_ document: Data) throws {
        super.init()
        let parser = XMLParser(data: document)
        parser.delegate = self
        guard parser.parse() else {
            throw ServiceFailed(description: "not well-formed: \(parser.parserError as Any)")
        }
    }

    package func parser(
        _ parser: XMLParser,
        didStartElement name: String,
        namespaceURI: String?,
        qualifiedName: String?,
        attributes: [String: String]
    ) {
        depth += 1
        if name == "interface" { interface = attributes["name"] }
        if name == "node", depth == 2 { children.append(attributes["name"] ?? "") }
        guard let interface else { return }
        let attributes = attributes.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
        let line = String(repeating: " ", count: depth) + "\(name) \(attributes)"
        interfaces[interface, default: []].append(line)
    }

    package func parser(
        _ parser: XMLParser,
        didEndElement name: String,
        namespaceURI: String?,
        qualifiedName: String?
    ) {
        depth -= 1
        if name == "interface" { interface = nil }
    }
}
