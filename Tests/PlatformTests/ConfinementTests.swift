import CSandbox
import Glibc
import Platform
import Synchronization
import Testing

/// What `body` returns on a thread that was confined before by `enter`, so that the others stay as
/// they are.
private func confined<Result: Sendable>(
    by enter: @escaping @Sendable () throws(SystemError) -> Void = Confinement.enter,
    _ body: @escaping @Sendable () -> Result
) throws -> Result? {
    let result = Mutex<Result?>(nil)
    let thread = try Thread(name: "confined") {
        do throws(SystemError) {
            try enter()
        } catch {
            Issue.record("\(error)")
            return
        }
        let found = body()
        result.withLock { $0 = found }
    }
    thread.join()
    return result.withLock { $0 }
}

/// The errnos of calls that reach files, other programs and the network.
private func attempts(of own: pid_t) -> [CInt] {
    [
        open("/etc/passwd", O_RDONLY), open("/tmp", O_RDONLY),
        open("/tmp/dualcam-confined", O_WRONLY | O_CREAT, 0o600),
        unlink("/tmp/dualcam-none"), rename("/tmp/dualcam-a", "/tmp/dualcam-b"),
        mkdir("/tmp/dualcam-confined", 0o700), chmod("/tmp", 0o700),
        socket(AF_UNIX, CInt(SOCK_STREAM.rawValue), 0),
        socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0),
        socket(AF_INET6, CInt(SOCK_DGRAM.rawValue), 0), kill(own, 0), kill(1, 0),
    ].map { $0 == -1 ? errno : 0 }
}

@Suite("Confinement") struct ConfinementTests {
    @Test func aConfinedThreadOpensNothingAndReachesNobody() throws {
        let own = getpid()
        // EACCES is Landlock's answer; here both are in force, and seccomp's comes first.
        #expect(try confined { attempts(of: own) } == Array(repeating: EPERM, count: 12))
    }

    @Test func `seccomp alone keeps a thread from files and other programs`() throws {
        let own = getpid()
        let failures = try confined(by: { () throws(SystemError) in
            let error = csandbox_leave_calls(csandbox_nobody)
            guard error == 0 else { throw SystemError("seccomp", errno: error) }
        }) { attempts(of: own) }
        #expect(failures == Array(repeating: EPERM, count: 12))
    }

    @Test func `Landlock alone keeps a thread from files, where the kernel has it`() throws {
        let refusal = Mutex<CInt>(0)
        let failures = try confined(by: { () throws(SystemError) in
            let error = csandbox_leave_files(csandbox_nobody)
            refusal.withLock { $0 = error }
        }) {
            [
                open("/etc/passwd", O_RDONLY), open("/tmp", O_RDONLY),
                open("/tmp/dualcam-confined-\(getpid())", O_WRONLY | O_CREAT, 0o600),
                mkdir("/tmp/dualcam-confined-\(getpid())", 0o700),
            ].map { number -> CInt in
                guard number >= 0 else { return errno }
                close(number)
                return 0
            }
        }
        let error = refusal.withLock { $0 }
        if error == 0 {
            #expect(failures == Array(repeating: EACCES, count: 4))
        } else {
            // Then it says so, and takes nothing.
            #expect([ENOSYS, EOPNOTSUPP, EPERM].contains(error))
            #expect(failures?.first == 0)
            unlink("/tmp/dualcam-confined-\(getpid())")
        }
    }

    /// A socket at a free port of the loopback interface, and its address.
    private func bound(_ type: __socket_type) throws -> (socket: CInt, address: [UInt8]) {
        let number = socket(AF_INET, CInt(type.rawValue) | CInt(SOCK_CLOEXEC.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = in_addr_t(0x7f00_0001).bigEndian
        var bytes = withUnsafeBytes(of: address) { Array($0) }
        var length = socklen_t(bytes.count)
        let isThere = bytes.withUnsafeMutableBytes { bytes in
            let place = bytes.baseAddress?.assumingMemoryBound(to: sockaddr.self)
            return bind(number, place, length) == 0 && getsockname(number, place, &length) == 0
        }
        try #require(isThere && (type == SOCK_DGRAM || listen(number, 8) == 0))
        return (number, bytes)
    }

    // What connects is one for a process, and its child: each has a process of its own.
    @Test func aThreadReachesItsPeerByTCPAndNobodyElse() async {
        await #expect(processExitsWith: .success) { try ConfinementTests().reachPeer(SOCK_STREAM) }
    }

    @Test func aThreadReachesItsPeerByUDPAndNobodyElse() async {
        await #expect(processExitsWith: .success) { try ConfinementTests().reachPeer(SOCK_DGRAM) }
    }

    private func reachPeer(_ type: __socket_type) throws {
        let (peer, other) = (try bound(type), try bound(type))
        let datagrams = try bound(SOCK_DGRAM)
        defer { for socket in [peer, other, datagrams] { close(socket.socket) } }
        let isUDP = type == SOCK_DGRAM
        let results = try confined(by: { () throws(SystemError) in
            try Confinement.enter(reaching: ([peer.address], usesDatagrams: isUDP))
        }) { () -> [String: CInt] in
            var made: [CInt] = []
            defer { for number in made { close(number) } }
            func make(_ type: __socket_type) -> CInt {
                made.append(socket(AF_INET, CInt(type.rawValue), 0))
                return made[made.count - 1]
            }
            func place<Result>(
                _ address: [UInt8],
                _ body: (UnsafePointer<sockaddr>) -> Result
            ) -> Result {
                address.withUnsafeBytes { bytes in
                    withUnsafePointer(to: bytes.loadUnaligned(as: sockaddr_in.self)) {
                        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0) }
                    }
                }
            }
            func error(_ result: Int) -> CInt { result < 0 ? errno : 0 }
            func connected(_ type: __socket_type, _ address: [UInt8]) -> CInt {
                error(Int(place(address) { connect(make(type), $0, 16) }))
            }
            func sent(_ type: __socket_type, _ address: [UInt8], _ flags: CInt = 0) -> CInt {
                error(place(address) { sendto(make(type), "x", 1, flags, $0, 16) })
            }
            func messaged(_ type: __socket_type, _ address: [UInt8]) -> CInt {
                var byte: UInt8 = 1
                return withUnsafeMutablePointer(to: &byte) { byte in
                    var part = iovec(iov_base: byte, iov_len: 1)
                    return place(address) { name in
                        withUnsafeMutablePointer(to: &part) { part in
                            var message = msghdr()
                            message.msg_name = UnsafeMutableRawPointer(mutating: name)
                            message.msg_namelen = 16
                            (message.msg_iov, message.msg_iovlen) = (part, 1)
                            return error(sendmsg(make(type), &message, 0))
                        }
                    }
                }
            }
            var group = ip_mreq(
                imr_multiaddr: in_addr(s_addr: in_addr_t(0xe000_00fb).bigEndian),
                imr_interface: in_addr()
            )
            let before = csandbox_is_connected()
            return [
                "peer": connected(type, peer.address) + (before ? 1000 : 0)
                    + (csandbox_is_connected() ? 0 : 1000),
                "peer by message": isUDP ? messaged(type, peer.address) : 0,
                "other": connected(type, other.address),
                "other by message": messaged(type, other.address),
                "other by sendto": sent(type, other.address),
                "fast open": sent(SOCK_STREAM, other.address, 0x2000_0000),
                "datagram": connected(SOCK_DGRAM, datagrams.address),
                "datagram by sendto": sent(SOCK_DGRAM, datagrams.address),
                "datagram by message": messaged(SOCK_DGRAM, datagrams.address),
                "the other type": connected(isUDP ? SOCK_STREAM : SOCK_DGRAM, peer.address),
                "listen": error(Int(listen(make(SOCK_STREAM), 1))),
                "bind": isUDP
                    ? EPERM : error(Int(place(other.address) { bind(make(type), $0, 16) })),
                "group": error(
                    Int(
                        setsockopt(make(SOCK_DGRAM), CInt(IPPROTO_IP), IP_ADD_MEMBERSHIP, &group, 8)
                    )
                ),
                "raw": error(Int(socket(AF_INET, CInt(SOCK_RAW.rawValue), 1))),
                "UNIX": error(Int(socket(AF_UNIX, CInt(SOCK_STREAM.rawValue), 0))),
                "signal": error(Int(fcntl(make(type), F_SETOWN, getppid()))),
                "option": error(
                    Int(setsockopt(make(SOCK_STREAM), CInt(IPPROTO_TCP), TCP_NODELAY, &group, 4))
                ),
                "missed": csandbox_has_strayed() ? 0 : 1,
            ]
        }
        let succeeded = results?.filter { $0.value == 0 }.keys.sorted()
        #expect(succeeded == ["missed", "option", "peer", "peer by message"], "\(results ?? [:])")
        let refusals: Set<CInt> = [0, EPERM, EACCES, ENOTCONN, EPIPE, EDESTADDRREQ]
        #expect(results?.values.allSatisfy(refusals.contains) ?? false, "\(results ?? [:])")
        // Nothing has come, either.
        #expect(poll([pollfd(fd: datagrams.socket, events: Int16(POLLIN), revents: 0)]) == 0)
        #expect(poll([pollfd(fd: other.socket, events: Int16(POLLIN), revents: 0)]) == 0)
        #expect(poll([pollfd(fd: peer.socket, events: Int16(POLLIN), revents: 0)]) == 1)
    }

    @Test func aThreadThatServesTakesConnectionsAndMakesNone() throws {
        let (served, other) = (try bound(SOCK_STREAM), try bound(SOCK_STREAM))
        let guest = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
        defer { for socket in [served.socket, other.socket, guest] { close(socket) } }
        func place<Result>(_ bytes: [UInt8], _ body: (UnsafePointer<sockaddr>) -> Result) -> Result
        {
            bytes.withUnsafeBytes {
                let address = $0.assumingMemoryBound(to: sockaddr.self).baseAddress
                return address.map(body).unsafelyUnwrapped
            }
        }
        try #require(place(served.address) { connect(guest, $0, 16) } == 0)
        let (listener, address, own) = (served.socket, other.address, getpid())
        let results = try confined(by: Confinement.enterServing) { () -> [String: CInt] in
            func error(_ result: Int) -> CInt { result < 0 ? errno : 0 }
            let accepted = accept(listener, nil, nil)
            let isTaken = error(Int(accepted))
            let sent = error(send(accepted, "x", 1, CInt(MSG_NOSIGNAL)))
            // A socket that was shut down may be connected anew.
            shutdown(listener, CInt(SHUT_RD))
            var results = ["accept": isTaken, "send": sent]
            for (number, name) in [(listener, "listener"), (accepted, "accepted")] {
                results["\(name) connects"] = address.withUnsafeBytes {
                    let to = $0.assumingMemoryBound(to: sockaddr.self).baseAddress
                    return error(Int(connect(number, to, 16)))
                }
                results["\(name) sends there"] = address.withUnsafeBytes {
                    let to = $0.assumingMemoryBound(to: sockaddr.self).baseAddress
                    return error(sendto(number, "x", 1, CInt(MSG_FASTOPEN), to, 16))
                }
                results["\(name) sends a message there"] = address.withUnsafeBytes { bytes in
                    var message = msghdr()
                    message.msg_name = UnsafeMutableRawPointer(mutating: bytes.baseAddress)
                    message.msg_namelen = 16
                    return error(sendmsg(number, &message, CInt(MSG_FASTOPEN)))
                }
                results["\(name) listens"] = error(Int(listen(number, 1)))
            }
            var thread = pthread_t()
            results["thread"] = pthread_create(&thread, nil, { _ in nil }, nil)
            close(accepted)
            for (index, number) in attempts(of: own).enumerated() { results["\(index)"] = number }
            return results
        }
        let done = results?.filter { $0.value == 0 }.keys.sorted()
        #expect(done == ["accept", "send"], "\(results ?? [:])")
        #expect(poll([pollfd(fd: other.socket, events: Int16(POLLIN), revents: 0)]) == 0)
    }

    private func poll(_ entries: [pollfd]) -> CInt {
        var entries = entries
        return Glibc.poll(&entries, 1, 0)
    }

    @Test func whatIsOpenIsReadAndThreadsAndMemoryAreThere() throws {
        let file = open("/proc/thread-self/status", O_RDONLY)
        let other = open("/proc/self/status", O_RDONLY)
        defer { for number in [file, other] { close(number) } }
        let text = try confined { () -> String in
            var bytes = [UInt8](repeating: 0, count: 1 << 20)
            let count = read(other, &bytes, bytes.count)
            let inner = Mutex(false)
            let thread = try? Thread(name: "inner") { inner.withLock { $0 = true } }
            thread?.join()
            guard inner.withLock({ $0 }), count > 0 else { return "" }
            return String(decoding: bytes[..<count], as: UTF8.self)
        }
        #expect(text?.contains("Name:") ?? false)
    }

    @Test func theRestOfTheProcessIsNotConfined() throws {
        _ = try confined { true }
        let number = open("/etc/passwd", O_RDONLY)
        #expect(number >= 0)
        close(number)
    }
}

@Suite("Locks of files") struct FileLockTests {
    @Test func aLockIsTheOpenFilesAndGoesWithItsLastDescriptor() throws {
        let path = "/tmp/dualcam-lock-\(getpid())"
        let first = open(path, O_RDWR | O_CREAT | O_EXCL, 0o600)
        defer { unlink(path) }
        #expect(FileLock.take(first) == .locked)
        // Its own copies do not conflict, unlike another open file of the same process.
        let copy = dup(first)
        #expect(FileLock.take(copy) == .locked)
        let second = open(path, O_RDWR)
        defer { close(second) }
        #expect(FileLock.take(second) == .taken)
        close(first)
        #expect(FileLock.take(second) == .taken)
        close(copy)
        #expect(FileLock.take(second) == .locked)
        let pipe = open("/dev/null", O_RDONLY)
        defer { close(pipe) }
        // Not open for writing.
        #expect(FileLock.take(pipe) == .unsupported)
    }
}
