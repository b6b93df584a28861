import CPhone
package import DualCamCore
package import Frames
import Glibc
import Logging
package import Platform
import Synchronization

/// The way in for a phone: an address with a code that works once, and its picture.
package struct PhoneOffer: Sendable {
    /// "https://192.168.1.4:8447/CODE".
    package let url: String
    /// The rows of the picture, "1" for each black module.
    package let picture: [String]
}

/// The phones whose pages send pictures: one helper process for each, which lives while its phone
/// is being added or its camera is open, and for a minute after that. From any thread.
package final class Phones: Sendable {
    /// Reports an event on the thread `phone`; with it, why a phone is served no more if that was
    /// not wanted.
    package typealias Report = @Sendable (PhoneEvent, _ reason: String?) -> Void

    private let worker = Mutex<LoopWorker<PhoneDesk>?>(nil)
    private let report: Report
    private let timed: RealTimeThreads?
    /// The last words of the pages, by name.
    private let reports = Mutex<[String: PhoneReport]>([:])
    /// `false` while no helper process may start.
    let isAllowed = Mutex(true)

    /// Creates the place for phones, without a thread until one is wanted, which is one of `timed`.
    package init(timed: RealTimeThreads? = nil, report: @escaping Report = { _, _ in }) {
        self.timed = timed
        self.report = report
    }

    /// Reports `event`, and keeps what a page says. The thread `phone`.
    func say(_ event: PhoneEvent, because reason: String? = nil) {
        if case .served(let name, let served) = event {
            reports.withLock { $0[name] = served?.report }
        }
        report(event, reason)
    }

    /// Lets the thread do `work`, if there is one.
    func post(_ work: @escaping @Sendable (PhoneDesk) -> Void) {
        worker.withLock { $0 }?.post(work)
    }

    /// Lets the thread do `work`, and starts it if there is none: one step, since several threads
    /// may want it.
    private func begin(
        _ work: @escaping @Sendable (PhoneDesk) -> Void
    ) throws(SystemError) {
        try worker.withLock { worker throws(SystemError) in
            if worker == nil {
                let new = try LoopWorker<PhoneDesk>(name: "phone")
                try new.start(timed: timed) { PhoneDesk($0, of: self) }
                worker = new
            }
            worker?.post(work)
        }
    }

    /// Reports the phones that an earlier run has added, if any.
    package func load() {
        // Without such a file no phone was added, or tried to.
        guard (try? StateFile("phones")?.exists()) == true else { return }
        try? begin { $0.reportKnown() }
    }

    /// Serves the phone called `name`, and offers it a code, at `address` or at that of the default
    /// route. `done` is called on another thread; its error is a sentence for people.
    package func add(
        _ name: String,
        at address: String? = nil,
        done: @escaping @Sendable (Result<PhoneOffer, PhoneFailure>) -> Void
    ) {
        do throws(SystemError) { try begin { $0.add(name, at: address, done: done) } } catch {
            done(.failure(PhoneFailure("\(error)")))
        }
    }

    /// Serves the phone called `name` no longer only because it is being added.
    package func endAdding(_ name: String) { post { $0.links[name]?.endAdding() } }

    /// Forgets a phone: its key is worth nothing from now on. `done` is called on another thread,
    /// with the reason if it is still in the file.
    package func forget(_ name: String, done: @escaping @Sendable (SystemError?) -> Void) {
        do throws(SystemError) { try begin { done($0.forget(name)) } } catch { done(error) }
    }

    /// Ends all helper processes, and lets none start, until it is called with `true`.
    package func allow(_ isAllowed: Bool) {
        self.isAllowed.withLock { $0 = isAllowed }
        if !isAllowed { post { $0.endAll() } }
    }

    /// Ends the thread. Returns `true` if it has ended by `deadline`.
    package func end(by deadline: Timestamp) -> Bool {
        guard let worker = worker.withLock({ $0 }) else { return true }
        worker.end { $0.endAll() }
        return worker.join(until: deadline)
    }

    // MARK: For cameras

    /// Serves the phone of `box`, which gets its pictures. Throws `SystemError` without a thread.
    func attach(_ box: PhoneBox) throws(SystemError) {
        try begin { $0.attach(box) }
    }

    /// The last words of the page; `nil` while the phone is not served.
    func report(of name: String) -> PhoneReport? { reports.withLock { $0[name] } }

    /// Tells the page to change its camera's zoom, light or side. Until it says what it has done,
    /// `report(of:)` is as `expecting` makes it.
    func change(
        _ name: String,
        _ change: @escaping @Sendable (inout PhoneWish) -> Void,
        expecting expect: (inout PhoneReport) -> Void
    ) {
        reports.withLock { if $0[name] != nil { expect(&$0[name, default: PhoneReport()]) } }
        post { $0.links[name]?.change(change) }
    }
}

/// The reason that a phone cannot be served, as a sentence for people.
package struct PhoneFailure: Error {
    package let message: String
    init(_ message: String) { self.message = message }
}

/// The picture that a phone is asked for.
struct PhoneWish: Hashable, Sendable {
    var size = Size(width: 1280, height: 720)
    /// The pictures of a second; 0: none is wanted.
    var rate = 30
    var side = PhoneReport.Side.back
    var zoom: Double?
    var light = false
}

/// The place where a phone's newest picture waits for the thread that opened its camera.
final class PhoneBox: Sendable {
    struct Contents {
        var wish: PhoneWish
        /// The newest picture that nobody has taken yet.
        var picture: JPEGFrame?
        var report = PhoneReport()
        /// The reason that no pictures come, as a sentence; `nil` while they may.
        var failure: String?
    }

    let name: String
    let bell: Bell
    let contents: Mutex<Contents>

    init(_ name: String, _ wish: PhoneWish) throws(SystemError) {
        self.name = name
        contents = Mutex(Contents(wish: wish))
        bell = try Bell()
    }

    /// Changes what the thread waits for.
    func change(_ body: (inout Contents) -> Void) {
        contents.withLock { body(&$0) }
        bell.ring()
    }
}
