import CPipeWire
import Frames
import Glibc
import Testing

@testable import PipeWire

/// memfd_create(2), whose declaration is hidden without _GNU_SOURCE.
@_silgen_name("memfd_create")
private func createMemoryFile(_ name: UnsafePointer<CChar>, _ flags: CUnsignedInt) -> CInt

@Suite("Buffers that another process fills")
struct VideoBufferTests {
    /// A buffer of 64 bytes that count up from 0, in memory or in a file.
    private final class Given {
        var chunk = spa_chunk()
        let bytes = UnsafeMutableRawBufferPointer.allocate(byteCount: 64, alignment: 8)
        let file: CInt

        init(isFile: Bool = false, isSealed: Bool = false, length: Int = 64) {
            for index in 0..<64 { bytes[index] = UInt8(index) }
            // MFD_CLOEXEC, MFD_ALLOW_SEALING.
            file = isFile ? createMemoryFile("buffer", 3) : -1
            guard isFile else { return }
            precondition(write(file, bytes.baseAddress, min(64, length)) == min(64, length))
            precondition(ftruncate(file, off_t(length)) == 0)
            // F_ADD_SEALS, F_SEAL_SHRINK.
            if isSealed { precondition(fcntl(file, 1033, 2) == 0) }
        }

        deinit {
            bytes.deallocate()
            if file >= 0 { close(file) }
        }

        /// Calls `body` with the buffer and with what `isFixed` says of it.
        func with<Result>(_ body: (VideoBuffer, Bool) throws -> Result) rethrows -> Result {
            try withUnsafeMutablePointer(to: &chunk) { chunk in
                var data = spa_data()
                data.type = file < 0 ? SPA_DATA_MemPtr.rawValue : SPA_DATA_MemFd.rawValue
                data.fd = Int64(file)
                data.maxsize = 64
                data.data = bytes.baseAddress
                data.chunk = chunk
                return try withUnsafeMutablePointer(to: &data) { data in
                    var content = spa_buffer()
                    content.n_datas = 1
                    content.datas = data
                    var buffer = pw_buffer()
                    return try withUnsafeMutablePointer(to: &content) { content in
                        let isFixed = VideoBuffer.isFixed(content)
                        return try withUnsafeMutablePointer(to: &buffer) {
                            try body(
                                VideoBuffer(id: $0, content: content, isFixed: isFixed),
                                isFixed
                            )
                        }
                    }
                }
            }
        }
    }

    private func copy(
        _ given: Given,
        at offset: Int = 0,
        stride: Int,
        rows: Int,
        rowBytes: Int
    ) -> [UInt8]? {
        given.with { buffer, _ in
            guard let block = buffer.block(0), rows > 0, rowBytes > 0, rows < 100 else {
                return nil
            }
            var bytes = [UInt8](repeating: 0xff, count: rows * rowBytes)
            let isCopied = bytes.withUnsafeMutableBytes {
                guard let start = $0.baseAddress else { return false }
                return buffer.copy(
                    block,
                    at: offset,
                    stride: stride,
                    rows: rows,
                    rowBytes: rowBytes,
                    to: start,
                    targetStride: rowBytes
                )
            }
            return isCopied ? bytes : nil
        }
    }

    @Test(arguments: [false, true]) func rowsAreCopied(_ isFile: Bool) {
        let given = Given(isFile: isFile)
        given.chunk.offset = 4
        given.chunk.size = 40
        #expect(copy(given, stride: 8, rows: 2, rowBytes: 2) == [4, 5, 12, 13])
        #expect(copy(given, at: 1, stride: 2, rows: 2, rowBytes: 2) == [5, 6, 7, 8])
        #expect(copy(given, at: 38, stride: 0, rows: 1, rowBytes: 2) == [42, 43])
        #expect(copy(given, at: 39, stride: 0, rows: 1, rowBytes: 2) == nil)
    }

    @Test(
        arguments: [
            (0, 0), (63, 1), (64, 64), (65, 1), (.max, .max), (0, .max), (.max, 1), (60, 8),
        ] as [(UInt32, UInt32)]
    )
    func aChunkHasNoMoreThanItsMemory(_ offset: UInt32, _ size: UInt32) throws {
        let given = Given()
        given.chunk.offset = offset
        given.chunk.size = size
        let count = try given.with { buffer, _ in try #require(buffer.block(0)).count }
        #expect(count == max(0, min(64, Int(offset) + Int(size)) - min(64, Int(offset))))
        #expect(copy(given, stride: 8, rows: 9, rowBytes: 8) == nil)
    }

    @Test(
        arguments: [
            (0, 7, 2, 8), (0, -8, 2, 8), (0, .min, 2, 8), (0, .max, 2, 1), (0, .max / 2, 99, 1),
            (-1, 8, 1, 8), (.max, 8, 1, 8), (.min, 8, 1, 8), (65, 1, 1, 1), (0, 0, 2, 8),
        ]
    )
    func rowsThatAreNotThereAreNotRead(_ offset: Int, _ stride: Int, _ rows: Int, _ bytes: Int) {
        let given = Given()
        given.chunk.size = 64
        #expect(copy(given, at: offset, stride: stride, rows: rows, rowBytes: bytes) == nil)
    }

    @Test(arguments: [CInt.min, -8, 0, .max]) func aStrideIsWhatTheNodeSays(_ stride: CInt) throws {
        let given = Given()
        given.chunk.stride = stride
        #expect(try given.with { buffer, _ in try #require(buffer.block(0)).stride } == Int(stride))
    }

    @Test func withoutMemoryThereIsNoBlock() {
        var content = spa_buffer()
        content.n_datas = 3
        var buffer = pw_buffer()
        let found = withUnsafeMutablePointer(to: &content) { content in
            withUnsafeMutablePointer(to: &buffer) {
                let buffer = VideoBuffer(id: $0, content: content, isFixed: true)
                return (buffer.blockCount, buffer.block(0), buffer.header, buffer.transform)
            }
        }
        #expect(found.0 == 0 && found.1 == nil && found.2 == nil && found.3 == nil)
    }

    /// A read of mapped memory beyond a file's end would end the process (SIGBUS).
    @Test func memoryThatItsOwnerTakesAwayIsNotRead() {
        let given = Given(isFile: true)
        given.chunk.size = 64
        given.with { #expect(!$1) }
        #expect(copy(given, stride: 8, rows: 8, rowBytes: 8) == Array(0..<64))
        ftruncate(given.file, 0)
        #expect(copy(given, stride: 8, rows: 8, rowBytes: 8) == nil)
    }

    @Test func memoryThatCannotShrinkIsReadWhereItIsMapped() {
        Given(isFile: true, isSealed: true).with { #expect($1) }
        Given().with { #expect($1) }
    }

    /// It cannot shrink, but it was too short from the beginning.
    @Test(arguments: [0, 1, 63, 64, 65])
    func memoryThatEndsBeforeTheBufferIsNotReadWhereItIsMapped(_ length: Int) {
        let given = Given(isFile: true, isSealed: true, length: length)
        given.chunk.size = 64
        given.with { #expect($1 == (length >= 64)) }
        let all = copy(given, stride: 8, rows: 8, rowBytes: 8)
        #expect(all == (length >= 64 ? Array(0..<64) : nil))
    }
}

@Suite("The time of sound")
struct SoundTimeTests {
    private let now = Timestamp(seconds: 1000)
    private let length = Timestamp(seconds: 0.02)

    private func start(_ cycle: Int64, _ delay: Double, _ tick: (UInt32, UInt32)) -> Timestamp {
        soundStart(
            cycle: cycle,
            delay: delay,
            tick: spa_fraction(num: tick.0, denom: tick.1),
            length: length,
            now: now
        )
    }

    @Test func itIsTheTimeOfTheFirstSample() {
        #expect(start(999_990_000_000, 480, (1, 48000)) == Timestamp(seconds: 999.96))
        #expect(start(999_990_000_000, 0, (1, 48000)) == Timestamp(seconds: 999.97))
    }

    @Test func withoutATickThereIsNoDelay() {
        for tick in [(0, 0), (1, 0), (.max, 0)] as [(UInt32, UInt32)] {
            #expect(start(999_990_000_000, 480, tick) == Timestamp(seconds: 999.97))
        }
    }

    @Test(arguments: [1e30, -1e30, .infinity, -.infinity, .nan, 9.3e18])
    func anAbsurdDelayIsNone(_ delay: Double) {
        #expect(start(999_990_000_000, delay, (1, 48000)) == Timestamp(seconds: 999.97))
        #expect(start(999_990_000_000, delay, (.max, 1)) == Timestamp(seconds: 999.97))
    }

    @Test(arguments: [0, .min, .max, -1, 900_000_000_000, 1_100_000_000_000] as [Int64])
    func withoutAClockItHasJustArrived(_ cycle: Int64) {
        #expect(start(cycle, 480, (1, 48000)) == now - length)
    }
}
