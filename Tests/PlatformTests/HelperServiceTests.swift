import CSandbox
import Glibc
import Testing

@testable import Platform

@Suite("A helper's messages") struct HelperServiceTests {
    /// Sends `messages`, each with `descriptors`, and returns what `serve` does with them.
    private func serve(
        _ messages: [[UInt8]],
        with descriptors: [CInt] = [],
        answer: (ArraySlice<UInt8>, [CInt]) -> [UInt8]
    ) throws -> (begun: Int, answers: [[UInt8]]) {
        var ends: [CInt] = [-1, -1]
        try #require(socketpair(AF_UNIX, CInt(SOCK_SEQPACKET.rawValue), 0, &ends) == 0)
        defer { for end in ends { close(end) } }
        for message in messages {
            let count = csandbox_send(
                ends[0],
                message,
                message.count,
                descriptors,
                CInt(descriptors.count)
            )
            try #require(count == message.count)
        }
        shutdown(ends[0], CInt(SHUT_WR))
        var begun = 0
        HelperService.serve(ends[1], begin: { begun += 1 }, answer: answer)
        var answers: [[UInt8]] = []
        var buffer = [UInt8](repeating: 0, count: 2 * HelperProcess.longestMessage)
        while case let count = recv(ends[0], &buffer, buffer.count, CInt(MSG_DONTWAIT)), count > 0 {
            answers.append(Array(buffer[..<count]))
        }
        return (begun, answers)
    }

    @Test func `may each use the processor as long as the first`() {
        var usage = rusage()
        #expect(HelperService.processorLimit(usage, 20) == 20)
        usage.ru_utime.tv_sec = 31
        usage.ru_stime.tv_sec = 4
        #expect(HelperService.processorLimit(usage, 20) == 55)
    }

    @Test("are answered in order, each after a beginning of its own")
    func order() throws {
        var order: [String] = []
        let (begun, answers) = try serve([[1], [2, 3], [4]]) { message, _ in
            order.append("\(message)")
            return message.reversed()
        }
        #expect(begun == 3)
        #expect(answers == [[1], [3, 2], [4]])
        #expect(order == ["[1]", "[2, 3]", "[4]"])
    }

    @Test("leave none of their files open, and get no longer answers than fit")
    func files() throws {
        let file = open("/dev/null", O_RDONLY)
        defer { close(file) }
        var seen: [CInt] = []
        let (_, answers) = try serve([[1], [2]], with: [file, file]) { _, files in
            #expect(files.count == 2 && files.allSatisfy { fcntl($0, F_GETFD) & FD_CLOEXEC != 0 })
            seen += files
            return [UInt8](repeating: 7, count: HelperProcess.longestMessage + 5)
        }
        #expect(answers.map(\.count) == [1, 1].map { $0 * HelperProcess.longestMessage })
        #expect(!seen.contains(file))
    }
}
