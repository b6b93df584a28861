import Foundation
import TestSupport
import Testing

@Suite("Completions and manual", .timeLimit(.minutes(2)))
struct CompletionTests {
    /// Returns the words that bash offers for the last of `words`.
    private func offered(_ words: [String], in session: PrivateSession) throws -> [String] {
        let quoted = words.map { "'\($0)'" }.joined(separator: " ")
        let script = """
            source <('\(FakeDaemon.tool)' completions bash)
            how=$(complete -p dualcamctl)
            [[ $how =~ -F\\ ([^ ]+) ]]
            COMP_WORDS=(dualcamctl \(quoted)) COMP_CWORD=\(words.count)
            COMP_LINE="${COMP_WORDS[*]}" COMP_POINT=${#COMP_LINE}
            ${BASH_REMATCH[1]} dualcamctl "${COMP_WORDS[COMP_CWORD]}" "${COMP_WORDS[COMP_CWORD-1]}"
            printf '%s\\n' "${COMPREPLY[@]}"
            """
        let child = try session.run("bash", ["-c", script])
        try child.wait(within: 30)
        #expect(child.errors == "")
        return child.output.split(separator: "\n").map {
            $0.trimmingCharacters(in: .whitespaces)
        }
    }

    @Test func bashCompletesVerbsAndTheirWords() throws {
        let cases = [
            (["sw"], ["swap"]), (["layout", "s"], ["side-by-side", "single", "stacked"]),
            (["iso", "--camera", "f"], ["front"]), (["completions", "z"], ["zsh"]),
        ]
        try PrivateSession.with([]) { session in
            for (words, completed) in cases {
                let offered = try offered(words, in: session)
                #expect(offered.sorted() == completed)
            }
        }
    }

    @Test(arguments: [("zsh", "zsh -n"), ("fish", "fish --no-execute"), ("bash", "bash -n")])
    func theShellReadsIt(_ shell: String, _ reader: String) throws {
        try PrivateSession.with([]) { session in
            let script = try session.output(FakeDaemon.tool, "completions", shell)
            #expect(script.contains("side-by-side") && !script.hasPrefix("#!"))
            let file = "\(session.directory)/completions"
            try script.write(toFile: file, atomically: true, encoding: .utf8)
            let child = try session.run("sh", ["-c", "\(reader) \(file)"])
            try child.wait(within: 30)
            #expect(child.exit == .status(0) && child.errors == "", "\(child.errors)")
        }
    }

    @Test func fishCompletesAVerb() throws {
        try PrivateSession.with([]) { session in
            let words = try session.output(
                "fish",
                "--no-config",
                "-c",
                "'\(FakeDaemon.tool)' completions fish | source; complete -C 'dualcamctl lay'"
            )
            #expect(words.hasPrefix("layout\t"), "\(words)")
        }
    }

    /// Returns the manual pages, generated from the build.
    private func pages(_ session: PrivateSession) throws -> [String: String] {
        let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().path
        let folder = "\(session.directory)/man"
        _ = try session.output("\(root)/tools/manual", Programs.directory, folder)
        var pages: [String: String] = [:]
        for name in try FileManager.default.contentsOfDirectory(atPath: folder) {
            pages[name] = try session.output("gzip", "-dc", "\(folder)/\(name)")
        }
        return pages
    }

    @Test func theManualIsWellMade() throws {
        try PrivateSession.with([]) { session in
            let pages = try pages(session)
            #expect(
                pages.keys.sorted() == [
                    "dualcam.toml.5.gz", "dualcamctl.1.gz", "dualcamd.8.gz",
                    "org.dualcam.DualCam1.5.gz",
                ]
            )
            for (name, text) in pages {
                let file = "\(session.directory)/\(name)"
                try text.write(toFile: file, atomically: true, encoding: .utf8)
                let lint = try session.run("mandoc", "-T", "lint", "-W", "warning", file)
                try lint.wait(within: 30)
                #expect(lint.exit == .status(0) && lint.output == "", "\(lint.output)")
            }
        }
    }

    @Test func theManualHasEveryVerbAndEveryKey() throws {
        try PrivateSession.with([]) { session in
            let pages = try pages(session)
            let help = try session.output(FakeDaemon.tool, "--help")
            let verbs = help.split(separator: "\n").compactMap {
                $0.firstMatch(of: /^  ([a-z]+) +[A-Z]/)?.1
            }
            #expect(verbs.contains("swap"))
            for verb in verbs {
                let heading = ".SS \\fBdualcamctl \(verb)"
                #expect(pages["dualcamctl.1.gz"]?.contains(heading) == true, "\(verb)")
            }
            let shown = try session.output(FakeDaemon.tool, "config", "show")
            for key in shown.split(separator: "\n").compactMap({
                $0.firstMatch(of: /^([a-z-]+) =/)?.1
            }) {
                let entry = "\\fB\(key.replacing("-", with: "\\-"))\\fR = "
                #expect(pages["dualcam.toml.5.gz"]?.contains(entry) == true, "\(key)")
            }
        }
    }
}
