extension Configuration {
    /// The whole configuration as a TOML document with comments, which `parse` reads back.
    package var rendered: String {
        var sections = [section("output", output, Output.keys)]
        for role in Role.allCases {
            let camera = cameras[role]
            let name = "cameras.\(role.rawValue)"
            sections.append(section(name, camera, Camera.keys))
            for lens in camera.lenses {
                sections.append(section("[\(name).lenses]", lens, Lens.keys))
            }
        }
        sections.append(section("scene", scene, Scene.keys))
        sections.append(section("capture", capture, Capture.keys))
        sections.append(section("state", state, State.keys))
        sections.append(section("loopback", loopback, Loopback.keys))
        return "# DualCam's configuration. Every value may be left out.\n\n"
            + sections.joined(separator: "\n")
    }

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
