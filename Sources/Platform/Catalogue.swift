import Frames
import Glibc

/// The words of one language, in a catalogue of gettext's: `LANGUAGE/LC_MESSAGES/dualcam.mo`, made
/// of a file in `po`.
///
/// It is read here, since gettext(3) of glibc 2.39 and later translates in locales alone that are
/// installed, and then what strerror(3) says, too.
package struct Catalogue: Hashable, Sendable {
    /// The languages in order of preference, such as "pt_BR".
    private let languages: [String]
    private let folder: String

    /// The folder of the catalogues: of an installation, or of what was built; `nil` without one.
    package static let usualFolder = programFolder.flatMap { program -> String? in
        let folders = ["\(program)/generated/locale", "\(program)/../share/locale"]
        return folders.first { access($0, R_OK | X_OK) == 0 }
    }

    /// The languages of the session, as gettext(3) takes them from the environment.
    private static let session: [String] = {
        let locale = ["LC_ALL", "LC_MESSAGES", "LANG"].lazy.compactMap(nonemptyVariable).first
        guard let locale, !["C", "POSIX"].contains(locale) else { return [] }
        return (nonemptyVariable("LANGUAGE") ?? locale).split(separator: ":").map(String.init)
    }()

    /// The catalogue of `language`, or of the session's for "auto"; `nil` if there are none.
    package init?(_ language: String, in folder: String? = Self.usualFolder) {
        guard let folder else { return nil }
        // Languages after English are not asked for.
        languages = (language == "auto" ? Self.session : [language])
            .map { String($0.prefix { $0 != "." && $0 != "@" }) }
            .prefix { !$0.hasPrefix("en") && !["C", "POSIX"].contains($0) }.map(\.self)
        self.folder = folder
    }

    /// Reads the translations by their English text: of the first language that there is, of its
    /// country, of any, or of another one. Empty for English, and where there is none.
    package func read() -> [String: String] {
        for language in languages {
            let base = language.prefix { $0 != "_" }
            let kin = ["zh_HK": "zh_TW", "zh_MO": "zh_TW"][language]
            let others = entries(of: folder).filter { $0.hasPrefix("\(base)_") }.sorted()
            for name in [language, kin ?? language, String(base)] + others
            where !name.contains("/") {
                let file = "\(folder)/\(name)/LC_MESSAGES/dualcam.mo"
                if let bytes = try? readFile(file, limit: 1 << 20) { return Self.parse(bytes) }
            }
        }
        return [:]
    }

    /// Returns the texts in the bytes of a catalogue, as far as they can be read:
    /// https://www.gnu.org/software/gettext/manual/html_node/MO-Files.html.
    package static func parse(_ bytes: [UInt8]) -> [String: String] {
        func number(_ place: Int) -> Int? {
            guard place >= 0, place <= bytes.count - 4 else { return nil }
            return (0..<4).reduce(0) { $0 | Int(bytes[place + $1]) << (8 * $1) }
        }
        func text(_ entry: Int) -> String? {
            guard let length = number(entry), let start = number(entry + 4),
                start + length <= bytes.count
            else { return nil }
            return String(validating: bytes[start..<start + length], as: UTF8.self)
        }
        guard number(0) == 0x9504_12de, let count = number(8), let texts = number(12),
            let translations = number(16)
        else { return [:] }
        var words: [String: String] = [:]
        for index in 0..<min(count, bytes.count / 8) {
            guard let english = text(texts + 8 * index), let own = text(translations + 8 * index),
                !english.isEmpty
            else { continue }
            words[english] = own
        }
        return words
    }
}
