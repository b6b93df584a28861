import Control
import Foundation
import FoundationXML
import Testing

@testable import DBusKit

/// Elements and their attributes, in the order of the document, without comments.
private final class Outline: NSObject, XMLParserDelegate {
    private(set) var lines: [String] = []
    private var depth = 0

    init(_ document: Data) throws {
        super.init()
        let parser = XMLParser(data: document)
        parser.delegate = self
        try #require(parser.parse(), "\(String(describing: parser.parserError))")
    }

    func parser(
        _ parser: XMLParser,
        didStartElement name: String,
        namespaceURI: String?,
        qualifiedName: String?,
        attributes: [String: String]
    ) {
        let attributes = attributes.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
        lines.append(String(repeating: " ", count: depth) + "\(name) \(attributes)")
        depth += 1
    }

    func parser(
        _ parser: XMLParser,
        didEndElement name: String,
        namespaceURI: String?,
        qualifiedName: String?
    ) { depth -= 1 }
}

private let directory = URL(fileURLWithPath: #filePath)
    .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    .appendingPathComponent("dbus")

@Suite("Interfaces")
struct InterfaceTests {
    @Test(arguments: [Interface.stream, .scene, .privacy, .camera])
    func theDefinitionEqualsItsFile(_ interface: Interface) throws {
        let file = directory.appendingPathComponent("\(interface.name).xml")
        let document = Introspection.document(interfaces: [interface], children: [])
        #expect(
            try Outline(Data(document.utf8)).lines == Outline(Data(contentsOf: file)).lines
        )
    }

    @Test func everyFileHasADefinition() throws {
        let names = try FileManager.default.contentsOfDirectory(atPath: directory.path)
            .filter { $0.hasSuffix(".xml") }
        let defined = [Interface.stream, .scene, .privacy, .camera].map { "\($0.name).xml" }
        #expect(names.sorted() == defined.sorted())
    }

    @Test(arguments: [Interface.stream, .scene, .privacy, .camera])
    func everyMemberIsDocumented(_ interface: Interface) throws {
        let file = directory.appendingPathComponent("\(interface.name).xml")
        let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n").map {
            $0.trimmingCharacters(in: .whitespaces).replacing("<!-- ", with: "")
        }
        let members =
            interface.methods.map(\.name) + interface.signals.map(\.name)
            + interface.properties.map(\.name)
        for member in members {
            #expect(lines.contains { $0.hasPrefix("\(member):") }, "\(member)")
        }
        for argument in interface.methods.flatMap({ $0.takes + $0.gives }) {
            #expect(lines.contains { $0.hasPrefix("@\(argument.name):") }, "\(argument.name)")
        }
    }

    @Test func everyMethodEndsWithOptions() {
        for method in [Interface.stream, .scene, .privacy, .camera].flatMap(\.methods) {
            #expect(method.takes.last == Interface.Argument(name: "options", type: "a{sv}"))
        }
    }
}
