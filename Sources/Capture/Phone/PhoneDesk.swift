import CPhone
import DualCamCore
import Frames
import Glibc
import Logging
import Platform
import Synchronization

/// The work of `Phones` on its thread, to which it is bound.
final class PhoneDesk {
    let loop: EventLoop
    private unowned let phones: Phones
    private(set) lazy var book = PhoneBook()
    private(set) var links: [String: PhoneLink] = [:]

    init(_ loop: EventLoop, of phones: Phones) { (self.loop, self.phones) = (loop, phones) }

    func reportKnown() { phones.say(.known(book.phones.keys.sorted())) }

    func add(
        _ name: String,
        at address: String?,
        done: @escaping @Sendable (Result<PhoneOffer, PhoneFailure>) -> Void
    ) {
        // Another address needs another socket.
        if let address, let link = links[name], !link.host.hasPrefix("\(address):") {
            end(link, because: nil)
        }
        do throws(PhoneFailure) {
            try serve(name, at: address).add(done)
        } catch {
            done(.failure(error))
        }
    }

    func forget(_ name: String) -> SystemError? {
        if let link = links[name] { end(link, because: nil) }
        do throws(SystemError) { try book.set(name, nil) } catch { return error }
        reportKnown()
        return nil
    }

    func endAll() { for link in links.values { end(link, because: nil) } }

    func attach(_ box: PhoneBox) {
        // Nothing listens for a phone that could not show a key.
        guard links[box.name] != nil || book.phones[box.name] != nil else {
            return box.change { $0.failure = "It was not added." }
        }
        do throws(PhoneFailure) {
            try serve(box.name, at: nil).attach(box)
        } catch {
            box.change { $0.failure = error.message }
        }
    }

    /// Returns the link to the phone called `name`, which is served from then on.
    private func serve(_ name: String, at wanted: String?) throws(PhoneFailure) -> PhoneLink {
        guard phones.isAllowed.withLock({ $0 }) else {
            throw PhoneFailure("The cameras are turned off.")
        }
        if let link = links[name] { return link }
        let addresses = PrivateAddress.all
        guard let address = addresses.first(where: { wanted == nil || wanted == $0.description })
        else {
            throw PhoneFailure(
                wanted == nil || addresses.isEmpty
                    ? "This computer is not on a private network. Join a Wi-Fi, or the phone's hotspot."
                    : "This computer has "
                        + "\(alternatives(addresses.map(\.description))), not \(wanted ?? "")."
            )
        }
        do throws(SystemError) {
            let link = try PhoneLink(name, address, of: self)
            links[name] = link
            say(link)
            Log.capture.notice("phone served", metadata: ["at": "\(link.host)"])
            return link
        } catch {
            throw PhoneFailure("\(error)".sentence)
        }
    }

    // MARK: For links

    /// Reports what the page of `link` says.
    func say(_ link: PhoneLink) {
        phones.say(.served(link.name, PhonesState.Served(at: link.host, link.report)))
    }

    func keep(certificate: String) {
        keep { () throws(SystemError) in try book.set(certificate: certificate) }
    }

    /// Keeps the SHA-256 of the key for which the code of `link` was traded.
    func keep(_ key: String, of link: PhoneLink) {
        let phone = PhoneBook.Phone(port: link.port, key: key)
        keep { () throws(SystemError) in try book.set(link.name, phone) }
        reportKnown()
        phones.say(.paired(link.name))
    }

    private func keep(_ body: () throws(SystemError) -> Void) {
        do throws(SystemError) { try body() } catch {
            Log.capture.warning("phone not kept", metadata: ["reason": "\(error)"])
        }
    }

    /// Ends `link`: its process has ended, or does not behave, or its address is this computer's no
    /// more. `nil`: it is not needed.
    func end(_ link: PhoneLink, because reason: String?) {
        if links[link.name] === link { links[link.name] = nil }
        link.end(because: reason)
        phones.say(.served(link.name, nil), because: reason)
        Log.capture.notice("phone not served", metadata: ["reason": "\(reason ?? "not needed")"])
    }
}

/// A phone that is served, and its helper process.
final class PhoneLink {
    typealias Answer = @Sendable (Result<PhoneOffer, PhoneFailure>) -> Void

    let name: String
    /// The address and port, as browsers write them.
    let host: String
    let port: Int
    private(set) var report = PhoneReport()

    private unowned let desk: PhoneDesk
    private let process: HelperProcess
    private let memory: SharedPictures
    private var pool = FramePool(count: 6, byteCount: longestPicture)
    private let message: UnsafeMutableRawBufferPointer
    private var watch: EventLoop.Watch?
    private var rest: EventLoop.Timer?
    private var idle: EventLoop.Timer?
    private var check: EventLoop.Timer?
    private var pace: EventLoop.Timer?
    private var boxes: [PhoneBox] = []
    private var isAdding = false
    /// `true` while the phone's camera is to be on.
    private var runs = false
    private var isListening = false
    private var code = ""
    private var answers: [Answer] = []
    private var wish = PhoneWish(rate: 0)
    /// The last words to the page, and their number, which no earlier process had.
    private var words = ""
    private var number = UInt64(max(0, MonotonicClock.now.nanoseconds / 1_000_000))
    private var (hasNews, isPaced) = (false, false)
    private var isOver = false
    /// The messages since the second that began then.
    private var second = (start: Timestamp.zero, messages: 0, pictures: 0)

    /// The bytes of the longest JPEG that a phone may send.
    static let longestPicture = 4 << 20
    /// The seconds for which the phone's camera stays on after nobody wants a picture, since it
    /// should not be off between two uses; for which the process stays without a camera that is
    /// open; between two looks at the address; and between two reports.
    private static let (resting, idling, checking, pacing) = (2.0, 60.0, 5.0, 0.1)
    /// The seconds that the page has to hear of the end.
    private static let farewell = 0.4
    /// The messages of a second that no honest process sends.
    private static let mostMessages = 1000

    init(_ name: String, _ address: PrivateAddress, of desk: PhoneDesk) throws(SystemError) {
        (self.name, self.desk) = (name, desk)
        let known = desk.book.phones[name]
        let others = desk.book.phones.filter { $0.key != name }.map(\.value.port)
        let listener = try PhoneListener(at: address, port: known?.port, avoiding: Set(others))
        port = listener.port
        host = "\(address):\(port)"
        memory = try SharedPictures()
        process = try HelperProcess(["--helper", "phone"])
        // Last, since there is no `deinit` if something before it throws.
        message = .allocate(byteCount: PictureMessage.longest, alignment: 8)
        // At another port the page has another origin, and not its key.
        let key = known?.port == port ? known?.key ?? "" : ""
        let request = "\(host)\n\(key)\n\(desk.book.certificate)"
        try process.send(Array(request.utf8), [memory.file, listener.descriptor.number])
        let loop = desk.loop
        rest = try loop.timer { [unowned self] in
            runs = false
            tell()
        }
        idle = try loop.timer { [unowned self] in desk.end(self, because: nil) }
        pace = try loop.timer { [unowned self] in
            isPaced = false
            if hasNews { reportNews() }
        }
        check = try loop.timer { [unowned self] in
            guard PrivateAddress.all.contains(address) else {
                return fail("the network has changed")
            }
            check?.arm(after: Self.checking)
        }
        watch = try loop.watch(process.descriptor, for: .readable) { [unowned self] _ in receive() }
        check?.arm(after: Self.checking)
        follow()
    }

    deinit { message.deallocate() }

    func add(_ answer: @escaping Answer) {
        isAdding = true
        code = Self.newCode()
        offer("code\n\(code)")
        follow()
        answers.append(answer)
        answerWaiting()
    }

    func endAdding() {
        isAdding = false
        code = ""
        offer("code\n")
        answer(.failure(PhoneFailure("It was cancelled.")))
        follow()
    }

    func attach(_ box: PhoneBox) {
        boxes.append(box)
        let report = report
        box.change { $0.report = report }
        follow()
    }

    func detach(_ box: PhoneBox) {
        boxes.removeAll { $0 === box }
        follow()
    }

    func change(_ change: (inout PhoneWish) -> Void) {
        change(&wish)
        tell()
    }

    /// Follows what is wanted: by the most demanding of those that have the camera open.
    func follow() {
        let wishes = boxes.map { $0.contents.withLock(\.wish) }.filter { $0.rate > 0 }
        wish.rate = wishes.map(\.rate).max() ?? 0
        wish.size = wishes.map(\.size).max { $0.width < $1.width } ?? wish.size
        if isAdding || !boxes.isEmpty { idle?.disarm() } else { idle?.arm(after: Self.idling) }
        if isAdding || wish.rate > 0 {
            runs = true
            rest?.disarm()
        } else if runs {
            rest?.arm(after: Self.resting)
        }
        tell()
    }

    func end(because reason: String?) {
        isOver = true
        watch?.cancel()
        runs = false
        for box in boxes {
            box.change {
                $0.failure = reason ?? "It is not served any more."
                $0.picture = nil
            }
        }
        boxes = []
        // The page turns its camera off.
        tell()
        process.end(within: Timestamp(seconds: Self.farewell))
        answer(.failure(PhoneFailure(reason ?? "The phone is not added any more.")))
    }

    private func fail(_ reason: String) { desk.end(self, because: reason.sentence) }

    // MARK: To the page

    private func offer(_ message: String) {
        let isTaken = Array(message.utf8).withUnsafeBytes { process.offer($0) }
        // A page that does not hear that it is to stop would go on.
        if !isTaken, !isOver { process.kill() }
    }

    /// Tells the page what is wanted, if that is something else than before.
    private func tell() {
        var fields = [
            "\"run\":\(runs)", "\"side\":\"\(wish.side.rawValue)\"",
            "\"width\":\(wish.size.width)", "\"height\":\(wish.size.height)",
            "\"rate\":\(wish.rate)", "\"light\":\(wish.light)", "\"name\":\"\(Self.computer)\"",
        ]
        if let zoom = wish.zoom { fields.append("\"zoom\":\(zoom)") }
        let new = fields.joined(separator: ",")
        guard new != words else { return }
        words = new
        number += 1
        offer("\(number)\n{\"number\":\(number),\(new)}")
    }

    /// The name of this computer, as it may stand in JSON.
    private static let computer: String = {
        var name = [CChar](repeating: 0, count: 65)
        gethostname(&name, 64)
        let text = String(
            decoding: name.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)),
            as: UTF8.self
        )
        return text.filter { $0.isASCII && ($0.isLetter || $0.isNumber || "-._".contains($0)) }
    }()

    /// Returns 128 random bits in letters that an address may have.
    private static func newCode() -> String {
        let letters = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_")
        return String((0..<Int(cphone_code_length)).map { _ in letters[Int.random(in: 0..<64)] })
    }

    private func answerWaiting() {
        guard isListening, !answers.isEmpty else { return }
        let url = "https://\(host)/\(code)"
        var modules = [UInt8](repeating: 0, count: 1 << 12)
        let width = Int(cphone_draw("\(PhoneLibrary.code.file)", url, &modules, modules.count))
        let rows = (0..<width).map { row in
            modules[row * width..<(row + 1) * width].map { $0 == 0 ? "0" : "1" }.joined()
        }
        answer(
            width > 0
                ? .success(PhoneOffer(url: url, picture: rows))
                : .failure(PhoneFailure(Self.missing))
        )
    }

    private func answer(_ result: Result<PhoneOffer, PhoneFailure>) {
        for answer in answers { answer(result) }
        answers = []
    }

    private static let missing =
        "To use a phone, install \(PhoneLibrary.all.map(\.name).joined(separator: " and "))."

    // MARK: From the process

    /// Takes some messages; others are there when the loop comes again.
    private func receive() {
        for _ in 0..<32 where !isOver {
            switch process.receive(into: message) {
            case .nothing: return
            case .ended(let status):
                return fail(HelperProcess.describe(status))
            case .message(let count):
                let now = MonotonicClock.now
                if (now - second.start).seconds > 1 { second = (now, 0, 0) }
                second.messages += 1
                guard second.messages <= Self.mostMessages,
                    let news = PictureMessage(
                        UnsafeRawBufferPointer(rebasing: message[..<count]),
                        now: now
                    ), take(news)
                else { return fail("its reader sends what it should not") }
            }
        }
    }

    /// Returns `false` for what no honest process says.
    private func take(_ message: PictureMessage) -> Bool {
        switch message {
        case .picture(let picture):
            defer { process.send(byte: UInt8(picture.slot)) }
            guard picture.layout == nil else { return false }
            second.pictures += 1
            // A phone may send more than anybody has asked for.
            if second.pictures <= 2 * max(wish.rate, 30) { deliver(picture) }
        case .failed(let error):
            fail(error.code == .unsupported ? Self.missing : error.detail)
        case .said(let words):
            return PhoneNews(words).map(take) ?? false
        }
        return true
    }

    private func deliver(_ picture: PictureMessage.Picture) {
        guard !boxes.isEmpty, let buffer = pool.draw(), picture.count <= buffer.bytes.count else {
            return
        }
        let bytes = memory[picture.slot][..<picture.count]
        buffer.bytes.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes))
        let frame = JPEGFrame(
            buffer: buffer,
            byteCount: picture.count,
            timestamp: picture.arrival,
            sequence: picture.sequence
        )
        for box in boxes { box.change { $0.picture = frame } }
    }

    /// Returns `false` for what no honest process says.
    private func take(_ news: PhoneNews) -> Bool {
        switch news {
        // It makes one before it listens to strangers.
        case .certificate where isListening: return false
        case .certificate(let text): desk.keep(certificate: text)
        case .listening:
            isListening = true
            answerWaiting()
        // Anybody may look at the page.
        case .seen: if isAdding, report.state == .waiting { say(PhoneReport(.asking)) }
        case .away: if report.state != .waiting { say(PhoneReport(.away)) }
        // The code may have been taken back meanwhile; and it is worth one key.
        case .paired where code.isEmpty: break
        case .paired(let key):
            code = ""
            desk.keep(key, of: self)
        case .told(let said):
            // What was changed on the phone itself stays.
            if said.command == number {
                if let side = said.side { wish.side = side }
                if let light = said.light { wish.light = light }
            }
            say(said)
        }
        return true
    }

    private func say(_ said: PhoneReport) {
        guard said != report else { return }
        report = said
        for box in boxes { box.change { $0.report = said } }
        hasNews = true
        if !isPaced { reportNews() }
    }

    private func reportNews() {
        (hasNews, isPaced) = (false, true)
        pace?.arm(after: Self.pacing)
        desk.say(self)
    }
}
