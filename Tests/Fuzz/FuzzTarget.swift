/// A reader of bytes from outside, with what libFuzzer has to know to feed it.
///
/// A new target is an extension with a constant in a file of its own, and its name in `all`.
struct FuzzTarget: Sendable {
    /// The name in `fuzz NAME` and in `.build/fuzz/NAME`.
    let name: String
    /// The length of the longest input in bytes.
    let maximumLength: Int
    /// The number of inputs that `make test` tries; they should take at most 20 s.
    let testRuns: Int
    /// Returns the inputs to start from: small valid ones that reach far into the reader.
    let seeds: @Sendable () throws -> [[UInt8]]
    /// Reads one input. It has to return for each; whatever traps is a finding.
    let read: @Sendable ([UInt8]) -> Void

    /// All targets, in the order in which `make fuzz` runs them.
    static let all: [FuzzTarget] = [
        photographs, recordings, savedStates, scenes, pods, messages, multiparts,
    ]

    /// The target that the first argument names.
    static let chosen: FuzzTarget = {
        let name = CommandLine.arguments.dropFirst().first ?? ""
        guard let target = all.first(where: { $0.name == name }) else {
            fatalError("no target \"\(name)\"; there are \(all.map(\.name))")
        }
        return target
    }()
}
