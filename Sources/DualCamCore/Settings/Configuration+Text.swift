import TOMLKit

extension Configuration {
    /// The whole configuration as a commented TOML document, which `parse` reads back.
    package var rendered: String {
        var sections: [String] = []
        for table in Self.tables {
            let name = table.path.joined(separator: ".")
            sections.append(section(name, self, table.rows))
            for role in Role.allCases where table.path == ["cameras", role.rawValue] {
                let lenses = cameras[role].lenses
                if lenses.isEmpty, role == .back { sections.append(Self.lensExample) }
                for lens in lenses {
                    sections.append(section("[\(name).lenses]", lens, LensSettings.rows))
                }
            }
        }
        return "# DualCam's configuration. You can leave out any key.\n\n"
            + sections.joined(separator: "\n")
    }

    /// Every value, defaults too, as JSON in one line, with the tables and keys of the file.
    package var json: String {
        // TOML of our own always parses.
        guard let root = try? TOMLKit.TOMLTable(string: rendered) else {
            preconditionFailure("no TOML")
        }
        return root.convert(to: .json).split(separator: "\n")
            .map { $0.drop { $0 == " " } }.joined()
    }

    /// An example of a lens, as a comment, for a document without lenses.
    private static let lensExample = """
        # A lens is another device, or a zoom step of the same one; the camera itself is "wide", 1.
        # [[cameras.back.lenses]]
        # name = "telephoto"        # ultra-wide | wide | telephoto, or any word
        # factor = 3                # magnification; "wide" is 1
        # source = "v4l2:…"         # another device; if left out, a zoom step of the same one

        """

    private func section<Owner>(
        _ name: String,
        _ owner: Owner,
        _ rows: [Setting<Owner>]
    ) -> String {
        let lines = rows.compactMap { row -> String? in
            guard let value = row.plain(owner), let comment = row.comment else { return nil }
            let setting = "\(row.key) = \(value.toml())"
            guard !comment.isEmpty else { return setting }
            let padding = String(repeating: " ", count: max(1, 28 - setting.count))
            return "\(setting)\(padding)# \(comment)"
        }
        return "[\(name)]\n" + lines.joined(separator: "\n") + "\n"
    }
}
