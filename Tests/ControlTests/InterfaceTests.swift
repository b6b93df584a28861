import Control
import DualCamCore
import Foundation
import TestSupport
import Testing

@testable import DBusKit

private let directory = repository.appending(path: "dbus")

@Suite("Interfaces")
struct InterfaceTests {
    @Test(arguments: Interface.all)
    func theDefinitionEqualsItsFile(_ interface: Interface) throws {
        let file = directory.appendingPathComponent("\(interface.name).xml")
        let document = Introspection.document(interfaces: [interface], children: [])
        #expect(
            try Outline(Data(document.utf8)).interfaces
                == Outline(Data(contentsOf: file)).interfaces
        )
    }

    @Test func everyFileHasADefinition() throws {
        let names = try FileManager.default.contentsOfDirectory(atPath: directory.path)
            .filter { $0.hasSuffix(".xml") }
        let defined = Interface.all.map { "\($0.name).xml" }
        #expect(names.sorted() == defined.sorted())
    }

    @Test(arguments: Interface.all)
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

    @Test(arguments: Interface.all)
    func everyOptionIsDocumentedWithItsType(_ interface: Interface) throws {
        let file = directory.appendingPathComponent("\(interface.name).xml")
        let text = try String(contentsOf: file, encoding: .utf8)
        for method in interface.methods {
            let comment = try #require(
                text.components(separatedBy: "<!--").first {
                    $0.trimmingCharacters(in: .whitespacesAndNewlines).hasPrefix("\(method.name):")
                }
            )
            for (option, type) in method.options {
                let words = comment.split(whereSeparator: \.isWhitespace).joined(separator: " ")
                #expect(
                    words.contains("\"\(option)\" (\(type.code))"),
                    "\(method.name) \(option) \(type.code)"
                )
            }
        }
    }

    @Test func everyInterruptionIsDocumented() throws {
        let file = directory.appendingPathComponent("\(CameraInterface.name).xml")
        let text = try String(contentsOf: file, encoding: .utf8)
        let comment = try #require(
            text.components(separatedBy: "<!--").first {
                $0.trimmingCharacters(in: .whitespacesAndNewlines).hasPrefix("Interruption:")
            }
        )
        for interruption in Interruption.allCases {
            #expect(comment.contains("\"\(interruption.rawValue)\""), "\(interruption)")
        }
    }

    @Test func whatIsOutOfRangeIsToldInShortNumbersAndWords() throws {
        #expect(throws: DBusError.outOfRange("Zoom must be between 1 and 8, not 99.")) {
            try checked("Zoom", 99.0, in: 1...8)
        }
        #expect(throws: DBusError.outOfRange("Size must be between 0.1 and 0.5, not 1.")) {
            try checked("Size", 1.0, in: 0.1...0.5)
        }
        #expect(try checked("Size", 0.5, in: 0.1...0.5) == 0.5)
        let (long, short) = (String(repeating: "x", count: 5000), String(repeating: "x", count: 64))
        let words = ["a", "b"]
        #expect(
            DBusError.outOfRange("Word", long, expecting: words)
                == DBusError.outOfRange("Word", short, expecting: words)
        )
    }

    @Test func everyMethodEndsWithOptions() {
        for method in Interface.all.flatMap(
            \.methods
        ) {
            #expect(method.takes.last == Interface.Argument(name: "options", type: "a{sv}"))
        }
    }
}
