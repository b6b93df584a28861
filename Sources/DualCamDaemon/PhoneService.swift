import Capture
import Control
import DBusKit
import DualCamCore
import Platform

/// The Phone interface on the session bus.
@MainActor
final class PhoneService {
    private let daemon: Daemon
    private let timer: EventLoop.Timer
    /// Notices that the program leaves that adds a phone.
    private var watch: AnyObject?
    /// The number of requests to add a phone so far: an old one's failure ends no newer one.
    private var requests = 0

    init(_ daemon: Daemon, on server: ObjectServer, loop: EventLoop) throws(SystemError) {
        self.daemon = daemon
        timer = try loop.timer { daemon.send(.phone(.endAdding)) }
        let mailbox = loop.mailbox
        server.export(PhoneInterface.self, at: DualCam.path) { [unowned self] phone in
            phone.answer(\.pair) { [unowned self] call throws(DBusError) in
                try pair(call, mailbox)
            }
            phone.answer(\.cancel) { [unowned self] call in
                end()
                call.reply()
            }
            phone.answer(\.forget) { call in
                let name = call.arguments
                guard daemon.state.phones.known.contains(name) else {
                    let words = name.isEmpty ? "" : " “\(name.prefix(64))”"
                    return call.fail(.noCamera("No phone\(words) was added."))
                }
                // Unsafe: used on the main thread alone.
                nonisolated(unsafe) let call = call
                daemon.threads.phones.forget(name) { failure in
                    mailbox.onMain {
                        if let failure { call.fail(.failed("\(failure)")) } else { call.reply() }
                    }
                }
            }
            phone.get(\.state) {
                let phones = daemon.state.phones
                guard let name = phones.adding else { return "none" }
                return (phones.served[name]?.report ?? PhoneReport()).state.rawValue
            }
            phone.get(\.paired) {
                daemon.state.phones.adding != nil && daemon.state.phones.isPaired
            }
            phone.get(\.phones) { [unowned self] in phones }
        }
    }

    private func pair(
        _ call: Call<Void, PhoneInterface.Pairing, (String, [String])>,
        _ mailbox: EventLoop.Mailbox
    ) throws(DBusError) {
        let name = call.options.name ?? ""
        guard SourceSpecification.isPhoneName(name) else {
            throw .outOfRange("A phone's name may have 32 letters, digits and “-”.")
        }
        if let suspension = daemon.state.suspension { throw .locked(suspension.sentence) }
        requests += 1
        let number = requests
        daemon.send(.phone(.add(name)))
        timer.arm(after: PhonesState.patience)
        watch = call.onLeaving { [weak self] in self?.end() }
        // Unsafe: used on the main thread alone.
        nonisolated(unsafe) let call = call
        daemon.threads.phones.add(name, at: call.options.address) { result in
            mailbox.onMain { [self] in
                switch result {
                case .success(let offer): call.reply((offer.url, offer.picture))
                case .failure(let failure):
                    if number == requests { end() }
                    call.fail(.failed(failure.message))
                }
            }
        }
    }

    private func end() {
        watch = nil
        timer.disarm()
        daemon.send(.phone(.endAdding))
    }

    private var phones: [[String: Value]] {
        let phones = daemon.state.phones
        return Set(phones.known).union(phones.served.keys).sorted().map { name in
            let served = phones.served[name]
            var entry: [String: Value] = [
                "name": .string(name),
                "source": .string(SourceSpecification.phone(name).description),
                "state": .string(served?.report.state.rawValue ?? "none"),
            ]
            entry["address"] = served.map { .string($0.place) }
            entry["camera"] = served?.report.side.map { .string($0.rawValue) }
            if let served { entry["slow"] = .boolean(served.report.isSlow) }
            return entry
        }
    }
}
