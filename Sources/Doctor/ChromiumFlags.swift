import Control
import FoundationEssentials

/// The experiment that makes Chromium and its kin look for cameras in PipeWire, as `chrome://flags`
/// keeps it in the file `Local State`. Experiments are "name" or "name@option".
enum ChromiumFlags {
    private static let camera = "enable-webrtc-pipewire-camera"
    /// The option Enabled of an experiment with Default, Enabled and Disabled.
    static let enabled = "1"

    private static let (group, list) = ("browser", "enabled_labs_experiments")

    /// Returns the option, such as "1"; `nil`: Default. Throws if the file is not as Chromium's.
    static func option(in bytes: [UInt8]) throws(Failure) -> String? {
        let places = try places(in: bytes)
        return entries(places.list.map { String(decoding: bytes[$0], as: UTF8.self) } ?? "")
            .compactMap(\.option).last
    }

    /// Returns the file with the experiment set to `option`, or back to Default for `nil`. All
    /// other bytes stay. Throws `Failure` if the file is not as Chromium writes it.
    static func setting(_ option: String?, in bytes: [UInt8]) throws(Failure) -> [UInt8] {
        let places = try places(in: bytes)
        // What is inside of the brackets changes.
        let place = places.list ?? places.group ?? places.root
        var text = String(decoding: bytes[place], as: UTF8.self)
        if places.list != nil {
            while let other = entries(text).first(where: { $0.option != option }) {
                text.removeSubrange(other.place)
            }
        }
        if let option, places.list == nil || entries(text).isEmpty {
            var entry = "\"\(camera)@\(option)\""
            if places.list == nil { entry = "\"\(list)\":[\(entry)]" }
            if places.group == nil { entry = "\"\(group)\":{\(entry)}" }
            let isFirst = text.allSatisfy(\.isWhitespace)
            text = entry + (isFirst ? "" : ",") + text
        }
        return Array(bytes[..<place.lowerBound] + text.utf8 + bytes[place.upperBound...])
    }

    /// Returns the entries of the experiment, each with its comma and the space to its neighbour.
    private static func entries(
        _ list: String
    ) -> [(option: String?, place: Range<String.Index>)] {
        list.matches(of: /(,\s*)?("enable-webrtc-pipewire-camera(?:@([^"\\]*))?"(\s*,\s*)?)/).map {
            let isBeforeAnother = $0.output.4 != nil
            let place = isBeforeAnother ? $0.output.2.startIndex..<$0.range.upperBound : $0.range
            return ($0.output.3.map(String.init), place)
        }
    }

    /// Returns the places inside the brackets of the document, its group and its list, if there.
    private static func places(
        in bytes: [UInt8]
    ) throws(Failure) -> (root: Range<Int>, group: Range<Int>?, list: Range<Int>?) {
        do { _ = try JSONDecoder().decode(Anything.self, from: Data(bytes)) } catch {
            throw Failure("it is not valid JSON")
        }
        // Containers by their path, "{browser{enabled_labs_experiments[", since the names may be
        // in others, too; and the paths of the members of objects.
        let (groupName, listName) = ("{\(group)", "{\(group){\(list)")
        var places: [String: Range<Int>] = [:]
        var names: Set<String> = []
        var open: [(path: String, start: Int)] = []
        var (word, index, last) = ("", 0, UInt8(0))
        while index < bytes.count {
            switch bytes[index] {
            case UInt8(ascii: "\""):
                let start = index + 1
                index = start
                while bytes[index] != UInt8(ascii: "\"") {
                    index += bytes[index] == UInt8(ascii: "\\") ? 2 : 1
                }
                word = String(decoding: bytes[start..<index], as: UTF8.self)
            case UInt8(ascii: ":"):
                let name = (open.last?.path ?? "") + word
                guard names.insert(name).inserted || name != groupName && name != listName else {
                    throw Failure("it has \(word) twice")
                }
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                let bracket = String(UnicodeScalar(bytes[index]))
                open.append(((open.last?.path ?? "") + word + bracket, index + 1))
                word = ""
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                // The decoder permits this comma.
                guard last != UInt8(ascii: ",") else { throw Failure("it is not valid JSON") }
                let container = open.removeLast()
                places[container.path] = container.start..<index
            // What follows in a list has no name.
            case UInt8(ascii: ","): word = ""
            default: break
            }
            if !" \t\r\n".utf8.contains(bytes[index]) { last = bytes[index] }
            index += 1
        }
        guard let root = places["{"] else { throw Failure("it is not an object") }
        let (groupPlace, listPlace) = (places["\(groupName){"], places["\(listName)["])
        guard !names.contains(groupName) || groupPlace != nil else {
            throw Failure("\(group) is not an object")
        }
        guard !names.contains(listName) || listPlace != nil else {
            throw Failure("\(list) is not an array")
        }
        return (root, groupPlace, listPlace)
    }

    /// Any value, of which the decoder looks at every part.
    private struct Anything: Decodable {
        init(from decoder: any Decoder) throws {
            let value = try decoder.singleValueContainer()
            let isPlain =
                value.decodeNil() || (try? value.decode(String.self)) != nil
                || (try? value.decode(Double.self)) != nil
                || (try? value.decode(Bool.self)) != nil
            guard !isPlain, (try? value.decode([String: Anything].self)) == nil else { return }
            _ = try value.decode([Anything].self)
        }
    }
}
