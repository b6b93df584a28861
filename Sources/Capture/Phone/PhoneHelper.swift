import CPhone
import DualCamCore
import Frames
import Glibc
import Platform

/// The process that serves a phone's page and takes its pictures (`Phones`). It holds the socket
/// that listens, the certificate and the pictures' memory, and may get nothing else.
package enum PhoneHelper {
    /// The most bytes of memory.
    private static let memory: UInt = 1 << 29
    /// The milliseconds without a request after which a page is away, and those in which it may
    /// fetch the last command at the end.
    private static let (patience, farewell) = (Int64(5000), Int64(300))
    /// The milliseconds between two reports of somebody who gets the page.
    private static let pause = Int64(500)

    /// Serves the phone that the daemon asks for, until the daemon has no use for it.
    package static func run() -> Never {
        signal(SIGPIPE, SIG_IGN)
        var server: Server?
        HelperService.stream(memory: memory, descriptors: 2) { message, files in
            // The address and port, the key's SHA-256 and the certificate, either of which may be
            // missing.
            let lines = String(decoding: message, as: UTF8.self)
                .split(separator: "\n", maxSplits: 2, omittingEmptySubsequences: false)
                .map(String.init)
            guard lines.count == 3 else { return nil }
            do throws(NetworkError) {
                // What needs files comes first: libraries, and the configuration of GnuTLS.
                server = try Server(lines, memory: files[0], listener: files[1])
            } catch {
                PictureOutlet.report(error)
                return nil
            }
            return { () throws(SystemError) in try Confinement.enterServing() }
        } _: { _ in
            server?.run()
        }
    }

    /// The server of the process.
    private final class Server {
        private let outlet: PictureOutlet
        /// `nil` until `init` is over.
        private var handle: OpaquePointer?
        /// The time of the last request with the key; `nil` while there is no page.
        private var lastSign: Int64?
        /// The time of the last report that somebody got the page.
        private var lastSeen = Int64.min / 2

        init(_ request: [String], memory: CInt, listener: CInt) throws(NetworkError) {
            guard cphone_load("\(PhoneLibrary.server.file)", "\(PhoneLibrary.encryption.file)")
            else { throw NetworkError(.unsupported, "a library is not installed") }
            var certificate = request[2]
            if !cphone_is_valid(certificate) {
                var text = [CChar](repeating: 0, count: PictureMessage.longest / 2)
                guard cphone_make_certificate(request[0], &text, text.count) else {
                    throw NetworkError(.system, "no certificate can be made")
                }
                certificate = String(
                    decoding: text.prefix { $0 != 0 }.map(UInt8.init),
                    as: UTF8.self
                )
                PictureOutlet.send(.said("certificate \(certificate)"))
            }
            var take: (UnsafeRawBufferPointer) -> Void = { _ in }
            do throws(SystemError) {
                outlet = try PictureOutlet(memory) { take($0) }
            } catch {
                throw NetworkError(.system, "\(error)")
            }
            handle = cphone_make(
                listener,
                certificate,
                request[0],
                PhonePage.html.utf8Start,
                PhonePage.script.utf8Start,
                PhonePage.style.utf8Start,
                Unmanaged.passUnretained(self).toOpaque()
            ) { context, event, bytes, count in
                guard let context else { return }
                Unmanaged<Server>.fromOpaque(context).takeUnretainedValue()
                    .happen(event, UnsafeRawBufferPointer(start: bytes, count: count))
            }
            guard handle != nil else { throw NetworkError(.system, "no server can be made") }
            cphone_know(handle, request[1])
            take = { [unowned self] in carryOut(String(decoding: $0, as: UTF8.self)) }
        }

        private func carryOut(_ message: String) {
            let parts = message.split(separator: "\n", maxSplits: 1).map(String.init)
            let rest = parts.dropFirst().first ?? ""
            if parts.first == "code" {
                cphone_admit(handle, rest)
            } else if let number = parts.first.flatMap({ UInt64($0) }) {
                cphone_tell(handle, rest, number)
            }
        }

        private func happen(_ event: cphone_event, _ bytes: UnsafeRawBufferPointer) {
            let now = Self.now
            if event == cphone_seen {
                // Anybody on the network may ask for the page, as often as they like.
                guard now - lastSeen >= PhoneHelper.pause else { return }
                lastSeen = now
                // A page that goes no further is away soon.
                lastSign = lastSign ?? now
                return PictureOutlet.send(.said("seen"))
            }
            lastSign = now
            switch event {
            case cphone_picture: outlet.put(bytes.count) { $0.copyMemory(from: bytes) }
            case cphone_paired: send("paired", bytes)
            default: send("told", bytes)
            }
        }

        private func send(_ word: String, _ bytes: UnsafeRawBufferPointer) {
            PictureOutlet.send(.said("\(word) \(String(decoding: bytes, as: UTF8.self))"))
        }

        private static var now: Int64 { MonotonicClock.now.nanoseconds / 1_000_000 }

        func run() {
            PictureOutlet.send(.said("listening"))
            var end: Int64?
            while true {
                let other = end == nil ? HelperService.descriptor : -1
                // The server's own times need not be kept to the second.
                cphone_wait(handle, other, end == nil ? 1000 : 10)
                if !outlet.proceed(), end == nil { end = Self.now + PhoneHelper.farewell }
                let open = cphone_run(handle)
                if open > 0, lastSign != nil { lastSign = Self.now }
                if let last = lastSign, Self.now - last > PhoneHelper.patience {
                    lastSign = nil
                    PictureOutlet.send(.said("away"))
                }
                // A page hears that its camera is not needed any more.
                if let end, lastSign == nil || Self.now >= end { return }
            }
        }
    }
}
