import Control
import DBusKit
import Foundation
import TestSupport
import Testing

@Suite("Completions and manual", .timeLimit(.minutes(2)))
struct CompletionTests {
    /// A shell that completes a line: its name, and a script that prints what it offers for LINE.
    /// bash cuts words at ":", and asks for the last part; what it offers is read as at Enter.
    /// zsh is driven through a terminal, since only its line editor completes; it takes the next
    /// key when it has.
    private static let shells = [
        (
            "bash",
            """
            source <(dualcamctl completions bash)
            COMP_LINE=$LINE; COMP_POINT=${#COMP_LINE}
            read -ra COMP_WORDS <<<"${LINE//:/ : }"
            [[ $LINE != *' ' ]] || COMP_WORDS+=('')
            COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
            [[ $(complete -p dualcamctl) =~ -F\\ ([^ ]+) ]]
            part=${COMP_WORDS[COMP_CWORD]#:}
            "${BASH_REMATCH[1]}" dualcamctl "$part" "${COMP_WORDS[COMP_CWORD-1]}"
            for word in "${COMPREPLY[@]}"; do
                eval "set -- $word"
                printf '%s\\n' "$1"
            done
            """
        ),
        (
            "fish",
            """
            dualcamctl completions fish | source
            complete -C $LINE | cut -f 1
            """
        ),
        (
            "zsh",
            """
            zmodload zsh/zpty
            zpty shell zsh -f -i
            zpty -w shell 'PS1=; autoload -Uz compinit; compinit -D -u -d $TMPDIR/zcompdump'
            zpty -w shell 'source <(dualcamctl completions zsh); compdef _dualcamctl dualcamctl'
            zpty -w shell 'compadd () { [[ ${@[1,(i)(-|--)]} == *-(O|A|D)\\ * ]] && { builtin compadd "$@"; return $? }
                typeset -a hits; builtin compadd -A hits "$@"; for hit in "${hits[@]}"; do print -r -- "<${(Q)hit}>" >>$OFFERS; done; builtin compadd "$@" }'
            zpty -w shell 'ended () { : >$OFFERS.end }; zle -N ended; bindkey "^G" ended; LISTMAX=10000'
            zpty -w shell 'bindkey "^I" expand-or-complete; print REA""DY'
            zpty -r -m shell seen '*READY*'
            zpty -w -n shell "$LINE"$'\\t\\a'
            for try in {1..200}; do sleep 0.05; [[ -e $OFFERS.end ]] && break; done
            zpty -d shell
            sed -n 's/^<\\(.*\\)>$/\\1/p' $OFFERS | sort -u
            """
        ),
    ]

    /// Returns the words that a shell offers at the end of `line`, and what it says of errors.
    private func offers(
        of shell: String,
        for line: String,
        from daemon: FakeDaemon
    ) throws -> (words: Set<String>, errors: String) {
        let script = try #require(Self.shells.first { $0.0 == shell }).1
        let folder = daemon.session.directory
        let path = "\(Programs.directory):\(daemon.session.environment["PATH"] ?? "/usr/bin:/bin")"
        let file = "\(folder)/offers"
        try put("", at: file)
        try? FileManager.default.removeItem(atPath: "\(file).end")
        let quiet = ["bash": "--norc", "zsh": "-f", "fish": "--no-config"]
        let child = try daemon.session.run(
            shell,
            [try #require(quiet[shell]), "-c", script],
            adding: ["PATH": path, "LINE": line, "OFFERS": file, "TMPDIR": folder]
        )
        try daemon.wait(for: line) { child.exit != nil }
        return (Set(child.output.split(separator: "\n").map(String.init)), child.errors)
    }

    /// The values of arguments, in each shell, as far as a daemon, the fake one, knows them.
    @Test(arguments: shells.map(\.0))
    func aShellCompletesValues(_ shell: String) throws {
        let cases: [(line: String, offered: Set<String>)] = [
            ("dualcamctl sw", ["swap", "swap-icon"]), ("dualcamctl lay", ["layout"]),
            ("dualcamctl iso --camera f", ["front"]), ("dualcamctl completions z", ["zsh"]),
            ("dualcamctl layout s", ["side-by-side", "single", "stacked"]),
            ("dualcamctl layout n", ["next"]), ("dualcamctl wb sh", ["shade"]),
            ("dualcamctl focus ", ["auto", "near", "infinity"]),
            ("dualcamctl iso 4", ["400"]), ("dualcamctl lens u", ["ultra-wide"]),
            ("dualcamctl scene apply d", ["desk"]), ("dualcamctl scene d", ["delete", "desk"]),
            ("dualcamctl scene apply --only per", ["perspective"]),
            ("dualcamctl use back usb-De", ["usb-Desk"]), ("dualcamctl use front a", ["auto"]),
            ("dualcamctl use back pipe", ["pipewire:cam:1"]),
            ("dualcamctl use back pipewire:", ["pipewire:cam:1"]),
            ("dualcamctl use back --json pipewire:cam:", ["pipewire:cam:1"]),
            ("dualcamctl inset --corner bottom-l", ["bottom-left"]),
            ("dualcamctl media thumbnail /", ["/home/me/Videos/DualCam/a.mkv"]),
            ("dualcamctl controls --set ", ["auto_exposure=", "exposure_time_absolute="]),
        ]
        let daemon = try FakeDaemon()
        let desk: [String: Value] = [
            "id": .string("v4l2:usb-Desk"), "path": .string("/dev/video0"),
        ]
        let node: [String: Value] = ["id": .string("pipewire:cam:1"), "path": .string("")]
        try daemon.appear(changing: [.stream: ["Devices": .named([desk, node])]])
        for (line, offered) in cases {
            let (words, errors) = try offers(of: shell, for: line, from: daemon)
            let typed = line.split(separator: " ").last ?? ""
            let colon = shell == "bash" ? typed.lastIndex(of: ":") : nil
            let start = colon.map { typed[...$0] } ?? ""
            let inserted = Set(offered.map { String($0.trimmingPrefix(start)) })
            #expect(words == inserted, "\(shell): \(line): \(errors)")
        }
    }

    /// Names that other programs may give, of what a shell would expand, cut or colour.
    private static let hostile = [
        "$(touch MARK)", "`touch MARK`", "${x:=$(touch MARK)}", "a;touch MARK", "q'x", "two words",
        "d\"q", "b\\s", "*", "~root", "a:b", "$((a[$(touch MARK)]))", "<(touch MARK)", "=ls", "%s",
        "-x", "{a,b}", "#", "!!",
    ]

    /// Nothing foreign runs on Tab, and each name is offered as it is.
    @Test(arguments: shells.map(\.0))
    func foreignNamesAreOfferedAndNeverRun(_ shell: String) throws {
        let daemon = try FakeDaemon()
        let folder = daemon.session.directory
        let names = Self.hostile.map { $0.replacing("MARK", with: "\(folder)/mark") }
        let devices = names.map { name -> [String: Value] in
            ["id": .string("pipewire:\(name)"), "path": .string("")]
        }
        // No line break and no colour comes to a terminal.
        let unseen = ["a\nb", "a\u{1B}[31m", "a\tb", "a\u{202E}b"]
        try daemon.appear(changing: [
            .stream: ["Devices": .named(devices)],
            .scenes: ["Names": .strings(names + unseen)],
        ])
        let verbs = [
            "save", "apply", "next", "list", "show", "delete", "rename", "export", "import",
        ]
        for (line, offered) in [
            ("dualcamctl scene apply ", names), ("dualcamctl scene ", verbs + names),
            ("dualcamctl use back ", names.map { "pipewire:\($0)" } + ["auto"]),
        ] {
            var (words, errors) = try offers(of: shell, for: line, from: daemon)
            words.subtract(["-h", "--help", "--version"])
            // zsh puts a line of its history for a "!", whoever quotes it.
            let known = Set(shell == "zsh" ? offered.filter { !$0.contains("!") } : offered)
            #expect(words == known, "\(shell): \(line): \(errors)")
            #expect(access("\(folder)/mark", F_OK) != 0, "\(shell): \(line) ran a name")
        }
    }

    @Test(arguments: [("zsh", "zsh -n"), ("fish", "fish --no-execute"), ("bash", "bash -n")])
    func theShellReadsIt(_ shell: String, _ reader: String) throws {
        try PrivateSession.with([]) { session in
            let script = try session.output(FakeDaemon.tool, "completions", shell)
            #expect(script.contains("side-by-side") && !script.hasPrefix("#!"))
            let file = "\(session.directory)/completions"
            try put(script, at: file)
            let child = try session.run("sh", ["-c", "\(reader) \(file)"])
            try child.wait(within: 30)
            #expect(child.exit == .status(0) && child.errors == "", "\(child.errors)")
        }
    }

    /// Returns the manual pages, generated from the build.
    private func pages(_ session: PrivateSession) throws -> [String: String] {
        let folder = "\(session.directory)/man"
        let tool = repository.appending(path: "tools/manual").path
        _ = try session.output(tool, Programs.directory, folder)
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
                try put(text, at: file)
                let lint = try session.run("mandoc", "-T", "lint", "-W", "warning", file)
                try lint.wait(within: 30)
                #expect(lint.exit == .status(0) && lint.output == "", "\(lint.output)")
                let title = text.split(separator: "\n").first { $0.hasPrefix(".TH ") } ?? ""
                #expect(title.contains("DualCam \(DualCam.version)"), "\(name): \(title)")
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
            // The defaults have no lens: its keys are a comment in the file.
            for entry in [
                ".SS [[cameras.back.lenses]], [[cameras.front.lenses]]", "\\fBfactor\\fR = ",
            ] {
                #expect(pages["dualcam.toml.5.gz"]?.contains(entry) == true, "\(entry)")
            }
        }
    }
}
