import Platform

/// A program that is linked to a node.
package struct Consumer: Hashable, Sendable {
    /// The name that the program gives itself; empty if it has none.
    package let name: String
    /// The identity that a sandbox gives it; empty outside.
    package let application: String
    /// Its process, as the kernel tells PipeWire; 0 if unknown. For a program that has its camera
    /// from the portal, this is the process of the portal.
    package let process: UInt32
    /// When it was linked, in microseconds since 1970.
    package let since: Int64
    /// The id of the node that it is linked to.
    package let node: UInt32
}

/// The programs that are linked to nodes, as PipeWire's objects tell. Bound to one thread.
package final class ConsumerWatch: PipeWireObserver {
    private struct Link {
        let source: UInt32
        let target: UInt32
        let since: Int64
    }

    private struct Program {
        let name: String
        let application: String
        let process: UInt32
    }

    private let onChange: @Sendable ([Consumer]) -> Void
    private let refused: @Sendable (String) -> Void
    private var nodes: [UInt32] = []
    private var links: [UInt32: Link] = [:]
    private var owners: [UInt32: String] = [:]
    private var programs: [String: Program] = [:]
    private var reported: [Consumer] = []

    /// Creates a watch that watches nothing yet. `onChange` is called with the programs after each
    /// change, in a stable order; `refused` with the name of a program that cannot be linked, since
    /// it takes no format of the node's.
    package init(
        onChange: @escaping @Sendable ([Consumer]) -> Void,
        refused: @escaping @Sendable (String) -> Void
    ) {
        self.onChange = onChange
        self.refused = refused
    }

    /// Watches the nodes with these ids from now on.
    package func watch(_ nodes: [UInt32]) {
        self.nodes = nodes
        report()
    }

    /// Forgets all objects, which went with PipeWire.
    package func forget() { (links, owners, programs) = ([:], [:], [:]) }

    /// Reports the programs if they have changed.
    package func report() {
        let ours = links.values.filter { nodes.contains($0.source) }
            .sorted { ($0.since, $0.target) < ($1.since, $1.target) }
        let consumers = ours.map { link in
            let program = owners[link.target].flatMap { programs[$0] }
            return Consumer(
                name: program?.name ?? "",
                application: program?.application ?? "",
                process: program?.process ?? 0,
                since: link.since,
                node: link.source
            )
        }
        guard consumers != reported else { return }
        reported = consumers
        onChange(consumers)
    }

    /// Takes an object over.
    package func objectCame(_ id: UInt32, _ object: PipeWireObject) {
        switch object {
        case .link(let source, let target):
            let now = WallTime.now.microseconds
            links[id] = Link(source: source, target: target, since: now)
        case .client(let process, let name, let application):
            programs["\(id)"] = Program(
                name: name,
                application: application,
                process: UInt32(process) ?? 0
            )
        case .node(let client): owners[id] = client
        case .failure(let reason):
            guard let link = links[id], nodes.contains(link.source) else { return }
            // "no more input formats" where both ends have none in common, as `find_format` of
            // PipeWire's context says, from 1.6 on its link. An end that goes fails it, too.
            guard reason.hasPrefix("no "), reason.contains(" format") else { return }
            refused(owners[link.target].flatMap { programs[$0]?.name } ?? "")
        case .camera(let camera): owners[id] = camera.client
        case .microphone: break
        }
    }

    /// Forgets an object.
    package func objectWent(_ id: UInt32) {
        links[id] = nil
        owners[id] = nil
        programs["\(id)"] = nil
    }
}
