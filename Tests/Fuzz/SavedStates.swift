import DualCamCore

extension FuzzTarget {
    /// The state that the last run left: `state.toml`.
    static let savedStates = FuzzTarget(
        name: "saved-states",
        maximumLength: 8192,
        seeds: savedStateSeeds,
        read: readSavedState
    )
}

/// Reads the state, and reads again what would be stored of it.
@Sendable private func readSavedState(_ bytes: [UInt8]) {
    guard let text = String(validating: bytes, as: UTF8.self),
        let saved = try? SavedState(parsing: text)
    else { return }
    guard let again = try? SavedState(parsing: saved.text) else {
        fatalError("what was stored cannot be read")
    }
    // Cameras of an absurd name are not stored.
    guard saved.cameras.keys.allSatisfy({ $0.utf8.count < 600 }), again != saved else { return }
    fatalError("what was stored is read as something else")
}

@Sendable private func savedStateSeeds() -> [[UInt8]] {
    [
        "swapped = true\nlayout = \"stacked\"\ninset-size = 0.3\npro = true\ndial = \"focus\"\n",
        "[cameras.\"v4l2:usb-0000:00:14.0-1\"]\nzoom = 2.5\niso = 400\nshutter = 8000\nfocus = 0.5\n",
        "[cameras.a]\nmirror = true\nrotation = 90\nconfigured-mirror = true\n"
            + "configured-rotation = 0\n[configured]\nhud = \"off\"\nlayout = \"pip\"\n",
        "title = [\"Ada\", \"Engines\"]\ntitle-corner = \"top-left\"\n[cameras.a]\nink = true\n"
            + "configured-ink = false\nperspective = [[0.1, 0], [1, 0], [1, 1], [0, 1]]\n"
            + "configured-perspective = []\n",
        "title = [\"Back soon\"]\n[scene]\ntitle = [\"Ada\"]\ntitle-corner = \"top-left\"\n"
            + "until-privacy-ends = true\nprivacy = true\n",
        "[cameras.a]\nholds-shutter = true\nwhite-balance = \"shade\"\ncompensation = -0.5\n",
        "[cameras.'b']\nwhite-balance = 5000\n[cameras.\"c\\u0001\\\"\"]\nzoom = 1.0\n",
        "a.b.c = [ { d = 1979-05-27T07:32:00Z }, '''x''', \"\"\"y\"\"\" ] # z\n", "a = [ }",
    ].map { Array($0.utf8) }
}
