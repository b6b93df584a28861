import ArgumentParser

struct Completions: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Print the script with which a shell completes commands and options.",
        discussion: "To complete with Tab in this bash, run: source <(dualcamctl completions bash)"
    )

    enum Shell: String, CaseIterable, ExpressibleByArgument {
        case bash
        case zsh
        case fish

        /// The same shell as a type of the argument parser.
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
        let text = script.hasSuffix("\n") ? String(script) : script + "\n"
        Output.write(
            options.json
                ? JSON.document([
                    ("shell", .string(shell.rawValue)), ("script", .string(text)),
                ]) : text
        )
    }
}
