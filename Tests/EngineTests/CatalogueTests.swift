import Compositing
import DualCamCore
import Engine
import Foundation
import Frames
import Platform
import TestSupport
import Testing

/// The words in the picture, in each language of `po`.
@Suite("The languages of the picture", .timeLimit(.minutes(5))) struct CatalogueTests {
    /// The words by what translators need to know of them: all that the picture can say.
    private static let words: [(about: String, words: [String])] = {
        var (notices, hints): ([String], [String]) = ([], [])
        for notice in Notice.allCases {
            for role in Role.allCases {
                let lines = notice.text(for: role).split(separator: "\n").map(String.init)
                notices.append(lines[0])
                hints += lines.dropFirst()
            }
        }
        var dial = Dial.allCases.map(\.title).filter { $0 != "ISO" }
        dial += WhiteBalance.Preset.allCases.map(\.title)
        dial += HudContent.Scale.Note.allCases.map(\.rawValue)
        func unique(_ words: [String]) -> [String] {
            words.enumerated().filter { words.firstIndex(of: $1) == $0 }.map(\.element)
        }
        let short = "As short as the English text."
        return [
            ("Over a camera's picture that is not live. \(short)", unique(notices)),
            ("The second line below one of the notices: what helps. \(short)", unique(hints)),
            ("A word on the camera's dial in the picture.", dial),
        ]
    }()

    private static let folder = repository.appending(path: "po")
    private static let languages = entries(of: folder.path).filter { $0.hasSuffix(".po") }.sorted()
        .map { String($0.dropLast(3)) }

    /// The template of the catalogues.
    private static var template: String {
        let head = ["Content-Type: text/plain; charset=UTF-8", "Content-Transfer-Encoding: 8bit"]
        let entries = words.flatMap { section in
            section.words.map { "\n#. \(section.about)\nmsgid \"\($0)\"\nmsgstr \"\"\n" }
        }
        return "msgid \"\"\nmsgstr \"\"\n"
            + (["Project-Id-Version: DualCam"] + head).map { "\"\($0)\\n\"\n" }.joined()
            + entries.joined()
    }

    @Test("the template has all that the picture says; DUALCAM_UPDATE_GOLDENS=1 writes it anew")
    func template() throws {
        let file = Self.folder.appending(path: "dualcam.pot")
        if ProcessInfo.processInfo.environment["DUALCAM_UPDATE_GOLDENS"] == "1" {
            try Data(Self.template.utf8).write(to: file)
        }
        #expect(try String(contentsOf: file, encoding: .utf8) == Self.template)
    }

    @Test(arguments: languages) func eachHasAllWords(_ language: String) throws {
        let files = ["\(language).po", "dualcam.pot"].map { Self.folder.appending(path: $0).path }
        let compared = try Child("msgcmp", files)
        #expect(try compared.wait() == .status(0), "\(compared.errors)")
    }

    /// The places of notices, main picture and inset, and the English lines that fit there: a
    /// notice, or a hint below one.
    private static let places = [(640, 360), (1280, 720), (720, 1280)].map(Size.init)
        .flatMap { canvas in
            let both = PerRole(back: true, front: true)
            let scene = SceneState(canvas: canvas, style: SceneStyle(), present: both)
                .scene(at: .zero)
            return (0..<scene.count).map { (canvas, layer: scene[$0]) }
        }
        .map { canvas, layer in
            let lines = words[0].words.map { ("", $0) } + words[1].words.map { ("–\n", $0) }
            return (canvas, layer, shown: lines.filter { isShown($1, below: $0, layer, canvas) })
        }

    /// A line too long for its place is left out, so none may be too long where it is not in
    /// English.
    @Test(arguments: languages) func wordsKeepTheirPlace(_ language: String) throws {
        try withCatalogues([language]) { catalogue, _ in
            let translations = try catalogue(language).read()
            for (canvas, layer, shown) in Self.places {
                try #require(shown.count > 1)
                for (above, line) in shown {
                    let words = try #require(translations[line])
                    #expect(
                        Self.isShown(words, below: above, layer, canvas),
                        "\(canvas), \(layer.rect.width) wide, \(line): \(words)"
                    )
                }
            }
        }
    }

    @Test(arguments: languages) func fontsHaveAllLetters(_ language: String) throws {
        try withCatalogues([language]) { catalogue, _ in
            let translations = try catalogue(language).read()
            for word in Self.words.flatMap(\.words) {
                let words = try #require(translations[word])
                #expect(!TitlePicture.lacksFont(for: words), "\(words)")
            }
        }
    }

    /// Returns `true` if `text` leaves a trace in `layer`, below what is there without it.
    private static func isShown(
        _ text: String,
        below above: String,
        _ layer: Layer,
        _ canvas: Size
    ) -> Bool {
        pixels(NoticeLabels(above + text, canvas: canvas), layer, canvas)
            != pixels(NoticeLabels(above, canvas: canvas), layer, canvas)
    }

    /// Returns the bytes of `canvas`, grey, with `labels` on it.
    private static func pixels(_ labels: NoticeLabels, _ layer: Layer, _ canvas: Size) -> [UInt8] {
        var rows = [UInt8](repeating: 128, count: 2 * canvas.area)
        var layer = layer
        layer.veil = 1
        labels.draw(in: layer, into: &rows, stride: 2 * canvas.width)
        return rows
    }

    @Test func aDamagedCatalogueIsReadAsFarAsItCanBe() throws {
        try withCatalogues(["de"]) { _, directory in
            let bytes = try readFile("\(directory)/de/LC_MESSAGES/dualcam.mo", limit: 1 << 20)
            let whole = Catalogue.parse(bytes)
            #expect(whole["No signal"] == "Kein Signal")
            for count in stride(from: 0, to: bytes.count, by: 5) {
                let words = Catalogue.parse(Array(bytes[..<count]))
                #expect(words.allSatisfy { whole[$0] == $1 }, "\(count) bytes")
            }
            for place in 4..<200 {
                var damaged = bytes
                damaged[place] = 0xff
                #expect(Catalogue.parse(damaged).count <= bytes.count)
            }
        }
    }

    @Test func theDialChangesItsLanguage() throws {
        let canvas = Size(width: 1280, height: 720)
        let camera = CameraState(source: .auto, mirror: false, rotation: 0)
        var state = State(
            canvas: canvas,
            style: SceneStyle(),
            cameras: PerRole(back: camera, front: camera)
        )
        var controls = CameraControls()
        controls.read([
            DeviceControl(id: 3, name: "gain", purpose: .gain, range: 0...255, value: 255)
        ])
        for event in [
            Event.pro(.setEnabled(true)), .controls(.back, .read(identity: "", controls)),
            .controls(.back, .dialTurned(.iso, limit: .maximum)),
        ] {
            _ = reduce(&state, event, at: .zero)
        }
        var content = try #require(state.scene.hud.content)
        let pose = try #require(state.scene.hud.pose(at: Timestamp(seconds: 1)))
        func pixels(_ hud: HudPicture) -> [UInt8] {
            var rows = [UInt8](repeating: 128, count: 2 * canvas.area)
            hud.lay(pose, over: &rows, stride: 2 * canvas.width)
            return rows
        }
        try withCatalogues(["de"]) { catalogue, _ in
            let shown = try OverlayThread(state.scene, canvas: canvas)
            defer { _ = shown.end(by: MonotonicClock.now + Timestamp(seconds: 5)) }
            for (language, note) in [("en", "at its end"), ("de", "am Limit")] {
                shown.speak(try catalogue(language))
                content.scale?.note = note
                let expected = pixels(HudPicture(content, canvas: canvas))
                try eventually("the dial: \(note)", within: 30) {
                    shown.current.hud.map { pixels($0.picture) } == expected
                }
            }
        }
    }

    @Test func noticesChangeTheirLanguage() throws {
        let canvas = Size(width: 640, height: 360)
        let both = PerRole(back: true, front: true)
        var state = SceneState(canvas: canvas, style: SceneStyle(), present: both)
        state.setNotice(.interrupted(.noSignal), of: .back, at: .zero)
        func pixels(_ labels: NoticeLabels) -> [UInt8] {
            Self.pixels(labels, Layer(role: .back, rect: Rect(canvas)), canvas)
        }
        try withCatalogues(["de", "fr"]) { catalogue, _ in
            let shown = try OverlayThread(state, canvas: canvas, language: catalogue("de"))
            defer { _ = shown.end(by: MonotonicClock.now + Timestamp(seconds: 5)) }
            for (language, text) in [
                ("de", "Kein Signal"), ("fr", "Aucun signal"), ("tlh", "No signal"),
                ("..", "No signal"), ("de_AT.UTF-8", "Kein Signal"), ("en_US", "No signal"),
            ] {
                shown.speak(try catalogue(language))
                let expected = pixels(NoticeLabels(text, canvas: canvas))
                try eventually("\(language): \(text)", within: 30) {
                    shown.current.labels.back.map(pixels) == expected
                }
            }
        }
    }
}

/// Runs `body` with catalogues of `languages` as `make documents` makes them.
private func withCatalogues(
    _ languages: [String],
    _ body: ((String) throws -> Catalogue, _ directory: String) throws -> Void
) throws {
    try ScratchDirectory.with { directory in
        for language in languages {
            let made = try Child(
                repository.appending(path: "tools/catalogue").path,
                [repository.appending(path: "po/\(language).po").path, directory]
            )
            guard try made.wait() == .status(0) else {
                throw ServiceFailed(description: made.errors)
            }
        }
        try body({ try #require(Catalogue($0, in: directory)) }, directory)
    }
}
