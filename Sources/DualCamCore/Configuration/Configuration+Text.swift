import TOMLKit

extension Configuration {
    /// The whole configuration as a commented TOML document, which `parse` reads back.
    package var rendered: String {
        var sections = [section("output", output, Output.keys)]
        sections.append(section("cameras", self, Self.cameraKeys))
        for role in Role.allCases {
            let camera = cameras[role]
            let name = "cameras.\(role.rawValue)"
            sections.append(section(name, camera, Camera.keys))
            if camera.lenses.isEmpty, role == .back { sections.append(Self.lensExample) }
            for lens in camera.lenses {
                sections.append(section("[\(name).lenses]", lens, LensSettings.keys))
            }
        }
        sections.append(section("scene", scene, SceneSettings.keys))
        sections.append(section("capture", capture, Capture.keys))
        sections.append(section("state", state, State.keys))
        sections.append(section("access", access, Access.keys))
        sections.append(section("loopback", loopback, Loopback.keys))
        sections.append(section("desktop", desktop, Desktop.keys))
        return "# DualCam's configuration. You can leave out any key.\n\n"
            + sections.joined(separator: "\n")
    }

    /// Every value, defaults included, as a JSON object in one line, with the tables and keys of a
    /// configuration file.
    package var json: String {
        // TOML of our own always parses.
        guard let root = try? TOMLTable(string: rendered) else { preconditionFailure("no TOML") }
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
        _ keys: [ConfigurationKey<Owner>]
    ) -> String {
        let lines = keys.compactMap { key -> String? in
            let value = key.text(owner)
            guard !value.isEmpty else { return nil }
            let setting = "\(key.name) = \(value)"
            guard !key.comment.isEmpty else { return setting }
            let padding = String(repeating: " ", count: max(1, 28 - setting.count))
            return "\(setting)\(padding)# \(key.comment)"
        }
        return "[\(name)]\n" + lines.joined(separator: "\n") + "\n"
    }
}
