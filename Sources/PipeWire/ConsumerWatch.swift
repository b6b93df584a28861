import Glibc
package import Platform

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

/// Watches which programs are linked to nodes, through a connection to PipeWire of its own: the
/// composite thread must not collect names.
///
/// - Context: bound to the thread of its event loop.
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

    private let report: @Sendable ([Consumer]) -> Void
    private var registry: RegistryWatch?
    private var nodes: [UInt32] = []
    private var links: [UInt32: Link] = [:]
    private var owners: [UInt32: String] = [:]
    private var programs: [String: Program] = [:]
    private var reported: [Consumer] = []

    /// The seconds after which a PipeWire that is not there is looked for again: one that has just
    /// started may have our node before it takes another connection.
    private static let pause = 1.0

    /// Creates a watch that watches nothing yet. `report` is called with the programs after each
    /// change, in a stable order.
    ///
    /// - Throws: `SystemError` if the process is out of descriptors.
    package init(
        loop: EventLoop,
        report: @escaping @Sendable ([Consumer]) -> Void
    ) throws(SystemError) {
        self.report = report
        registry = try RegistryWatch(
            loop: loop,
            [.link, .client, .node],
            retryingAfter: Self.pause,
            by: self
        ) { [unowned self] change in
            if change == .lost { (links, owners, programs) = ([:], [:], [:]) }
            reportConsumers()
        }
    }

    /// Watches the nodes with these ids from now on. Without PipeWire there are no programs to
    /// report.
    package func watch(_ nodes: [UInt32]) {
        let hadNone = self.nodes.isEmpty
        self.nodes = nodes
        if nodes.isEmpty { registry?.end() } else if hadNone { registry?.begin() }
        reportConsumers()
    }

    private func reportConsumers() {
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
        report(consumers)
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
        case .camera: break
        }
    }

    /// Forgets an object.
    package func objectWent(_ id: UInt32) {
        links[id] = nil
        owners[id] = nil
        programs["\(id)"] = nil
    }
}
