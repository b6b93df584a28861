import Foundation

/// A node as PipeWire lists it for every client (`pw-dump`).
package struct Listed {
    package let id: UInt32
    package let properties: [String: String]
    /// The formats that it offers, as pw-dump writes them.
    package let formats: [[String: Any]]

    /// The properties that are the same each time the node is published.
    package var lasting: [String: String] {
        properties.filter { !["client.id", "object.id", "object.serial"].contains($0.key) }
    }

    /// Finds the node called `name`; `nil` while there is none.
    package init?(_ name: String, in session: PrivateSession) throws {
        let text = try session.output("pw-dump")
        guard
            let objects = try JSONSerialization.jsonObject(with: Data(text.utf8))
                as? [[String: Any]]
        else { return nil }
        for object in objects {
            guard let content = object["info"] as? [String: Any],
                let properties = content["props"] as? [String: Any],
                properties["node.name"] as? String == name,
                let parameters = content["params"] as? [String: Any],
                let id = object["id"] as? Int
            else { continue }
            self.id = UInt32(id)
            self.properties = properties.mapValues { "\($0)" }
            formats = parameters["EnumFormat"] as? [[String: Any]] ?? []
            return
        }
        return nil
    }
}
