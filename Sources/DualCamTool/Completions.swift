import ArgumentParser
import Control

struct Completions: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Print the script with which a shell completes commands and options.",
        discussion:
            "To complete with Tab in bash, run: source <(dualcamctl completions bash)"
    )

    enum Shell: String, CaseIterable, ExpressibleByArgument {
        case bash
        case zsh
        case fish

        fileprivate var target: CompletionShell {
            switch self {
            case .bash: .bash
            case .zsh: .zsh
            case .fish: .fish
            }
        }
    }

    @Argument(help: "Your shell.")
    var shell: Shell
    @OptionGroup var options: CommonOptions

    func run() {
        var script = Tool.completionScript(for: shell.target)[...]
        // The script is sourced, not run.
        if script.hasPrefix("#!") {
            script = script.drop { $0 != "\n" }.drop { $0 == "\n" }
        }
        let text = withScenes(Self.mended(script.hasSuffix("\n") ? String(script) : script + "\n"))
        Output.write(
            options.json
                ? JSON.document([
                    ("shell", .string(shell.rawValue)), ("script", .string(text)),
                ]) : text
        )
    }

    /// Returns `script` with what `scene apply` offers beside the verbs of `scene`.
    private func withScenes(_ script: String) -> String {
        let call = "__dualcamctl_custom_complete ---completion scene apply -- positional@0"
        let cursor = "\"$(__dualcamctl_cursor_index_in_current_word)\""
        func adding(_ line: String, after anchor: String) -> String {
            guard let start = script.firstRange(of: "\n_dualcamctl_scene() {\n")?.upperBound,
                let place = script[start...].firstRange(of: anchor)?.upperBound
            else { return script }
            return script[..<place] + line + script[place...]
        }
        switch shell {
        case .bash:
            let isFirst = "[[ ${#unparsed_words[@]} -eq 0 ]]"
            let line =
                "\(isFirst) && __dualcamctl_offer \"$(\(call) \"${COMP_CWORD}\" \(cursor))\"\n"
            return adding(line, after: "# Offer subcommand completions\n")
        case .zsh:
            let line = "\(call) \"${current_word_index}\" \(cursor) && ret=0\n"
            return adding(line, after: "_describe -V subcommand subcommands && ret=0\n")
        case .fish:
            let (apply, own) = ("\"dualcamctl scene apply\" -eq 1", "\"dualcamctl scene\" -eq 1")
            let lines = script.split(separator: "\n").filter { $0.contains(apply) }
            return script + lines.map { $0.replacing(apply, with: own) + "\n" }.joined()
        }
    }

    /// Returns the parser's script without what is wrong in practice, in swift-argument-parser
    /// 1.8.2.
    private static func mended(_ script: String) -> String {
        // compgen -W expands words, and these may be foreign: a scene's name, a file's. bash quotes
        // what it inserts only where there is such a file. A space follows it; but after "gain="
        // comes its value.
        let custom = "\"$(__dualcamctl_custom_complete"
        return script.replacing(
            "__dualcamctl_add_completions -W \(custom)",
            with: "__dualcamctl_offer \(custom)"
        )
        .replacing(
            "__dualcamctl_add_completions() {",
            with: #"""
                __dualcamctl_offer() {
                    local name rest
                    while IFS='' read -r name; do
                        [[ -n "${name}" && "${name//\\/}" = "${cur//\\/}"* ]] || continue
                        rest="${name#"${before//\\/}"}"
                        case "${quote}" in
                        \') rest="${rest//\'/\'\\\'\'}" ;;
                        \")
                            rest="${rest//\\/\\\\}" rest="${rest//\"/\\\"}" rest="${rest//\$/\\\$}"
                            rest="${rest//\`/\\\`}" rest="${rest//!/\"\'!\'\"}"
                            ;;
                        *) printf -v rest %q "${rest}" ;;
                        esac
                        COMPREPLY+=("${rest}")
                        [[ "${name}" != *= ]] || compopt -o nospace 2>/dev/null
                    done <<<"${1}"
                    before=''
                    compopt +o filenames 2>/dev/null
                }

                # Bash cuts words at ":", "=" and "@", and asks for the last part.
                __dualcamctl_complete() {
                    local line="${COMP_LINE}" rest word typed=''
                    local -i index start number
                    local -a words=()
                    for index in "${!COMP_WORDS[@]}"; do
                        word="${COMP_WORDS[index]}"
                        rest="${line#"${line%%[![:space:]]*}"}"
                        if [[ "${index}" -gt 0 && "${rest}" = "${line}" ]]; then
                            words[-1]+="${word}"
                        else
                            words+=("${word}")
                            start=$((${#COMP_LINE} - ${#rest}))
                        fi
                        if [[ "${index}" -eq "${COMP_CWORD}" ]]; then
                            number=$((${#words[@]} - 1))
                            [[ "${COMP_POINT}" -lt "${start}" ]] ||
                                typed="${COMP_LINE:start:COMP_POINT-start}"
                        fi
                        line="${rest#"${word}"}"
                    done
                    local before="${typed%"${2}"}" quote=''
                    if [[ "${before}" = *[\"\'] ]]; then
                        quote="${before: -1}"
                        before="${before%?}"
                    fi
                    local -a COMP_WORDS=("${words[@]}")
                    local -i COMP_CWORD="${number}"
                    _dualcamctl "${1}" "${before}${2}" "${COMP_WORDS[COMP_CWORD-1]}"
                    COMPREPLY=("${COMPREPLY[@]#"${before//\\/}"}")
                }

                __dualcamctl_add_completions() {
                """#
        )
        .replacing("-F _dualcamctl ", with: "-F __dualcamctl_complete ")
        // fish 3.6 gives no place of the cursor in a word, and then nothing is completed. No
        // suggestion depends on it.
        .replacing("(__dualcamctl_tokens -tC)", with: "0")
    }
}
