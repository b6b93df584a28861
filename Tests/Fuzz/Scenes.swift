import DualCamCore

extension FuzzTarget {
    /// Saved scenes: `scenes.toml`, and what Import gets.
    static let scenes = FuzzTarget(
        name: "scenes",
        maximumLength: 8192,
        seeds: sceneSeeds,
        read: readScenes
    )
}

/// Reads scenes, and reads again what would be stored of them, and of others saved over each.
@Sendable private func readScenes(_ bytes: [UInt8]) {
    guard let text = String(validating: bytes, as: UTF8.self),
        let book = try? SceneBook(parsing: text)
    else { return }
    guard let again = try? SceneBook(parsing: book.text) else {
        fatalError("what was stored cannot be read")
    }
    guard again.text == book.text else { fatalError("what was stored is read as something else") }
    for name in book.names { _ = try? SceneBook().exported([name]) }
    var saved = book
    let cameras = "[[scene]]\nname = \"a\"\n[scene.back]\nzoom = 2\n[scene.front]\nzoom = 2\n"
    guard let preset = try? SceneBook(parsing: cameras).preset("a") else {
        fatalError("the scene to save cannot be read")
    }
    for name in book.names { try? saved.save(preset, as: name) }
    guard (try? SceneBook(parsing: saved.text))?.text == saved.text else {
        fatalError("what was saved over others cannot be read")
    }
}

@Sendable private func sceneSeeds() -> [[UInt8]] {
    [
        "[[scene]]\nname = \"a\"\nmain = \"front\"\nlayout = \"stacked\"\ninset-size = 0.3\n",
        "[[scene]]\nname = \"a\"\ntitle = [\"b\", \"c\"]\ntitle-corner = \"top-left\"\n"
            + "privacy = true\n[[scene]]\nname = \"d\"\nhud = \"off\"\npro = true\n",
        "removed = [\"talk\"]\n[[scene]]\nname = \"a\"\n[scene.back]\nrotation = 90\nzoom = 2.5\n"
            + "zoom-at = [0.5, 0.25]\nperspective = [[0, 0], [1, 0], [1, 1], [0, 1]]\n",
        "[[scene]]\nname = \"a\"\n[scene.front]\niso = 400\nshutter = \"auto\"\nfocus = 0.5\n"
            + "white-balance = \"shade\"\ncompensation = -0.5\nmirror = true\n",
        "x = 1\n[y]\nz = [ { d = 1979-05-27T07:32:00Z }, 07:32:00, 1979-05-27, nan ]\n"
            + "[[scene]]\nname = 'a'\n\"odd\\u0001 key\" = { a.b = '''x''' }\n",
    ].map { Array($0.utf8) }
}
