/// A reader of bytes from outside, with what it takes to feed it.
///
/// A new target is an extension with a constant in a file of its own, and its name in `all`.
package struct FuzzTarget: Sendable {
    /// The name in `fuzz NAME` and in `.build/fuzz/NAME`.
    package let name: String
    package let maximumLength: Int
    /// Returns the inputs to start from: small valid ones that reach far into the reader. A target
    /// may need the main actor for this, and to read.
    package let seeds: @Sendable () throws -> [[UInt8]]
    /// Reads one input. It has to return for each; whatever traps is a finding.
    package let read: @Sendable ([UInt8]) -> Void

    /// All targets, in the order in which `make fuzz` runs them.
    package static let all: [FuzzTarget] = [
        photographs, recordings, savedStates, scenes, pods, messages, multiparts,
    ]

    /// Returns the target of that name.
    package static func named(_ name: String) -> FuzzTarget {
        guard let target = all.first(where: { $0.name == name }) else {
            fatalError("no target \"\(name)\"; there are \(all.map(\.name))")
        }
        return target
    }
}
