import DualCamCore
import Foundation
import Frames
import Glibc
import Platform
import TestSupport
import Testing

@testable import Capture

@Suite("Picture messages") struct PictureMessageTests {
    private let now = Timestamp(seconds: 100)

    private func bytes(of message: PictureMessage) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: PictureMessage.longest)
        let count = bytes.withUnsafeMutableBytes { message.write(to: $0) }
        return Array(bytes.prefix(count))
    }

    private func read(_ bytes: [UInt8]) -> PictureMessage? {
        bytes.withUnsafeBytes { PictureMessage($0, now: now) }
    }

    private func picture(_ change: (inout PictureMessage.Picture) -> Void = { _ in }) -> [UInt8] {
        var picture = PictureMessage.Picture(
            slot: 3,
            sequence: 1 << 40,
            arrival: Timestamp(seconds: 99.9),
            count: FrameLayout(size: Size(width: 642, height: 360), format: .i420).byteCount,
            layout: FrameLayout(size: Size(width: 642, height: 360), format: .i420),
            color: ColorSpace(matrix: .bt709, range: .full)
        )
        change(&picture)
        return bytes(of: .picture(picture))
    }

    @Test func whatIsWrittenIsRead() {
        let written = picture()
        #expect(read(written).map(bytes(of:)) == written)
        let jpeg = picture {
            $0.layout = nil
            $0.count = 17
            $0.color = .jpeg
        }
        #expect(read(jpeg).map(bytes(of:)) == jpeg)
        let error = PictureMessage.failed(NetworkError(.denied, "no\u{1b}[31m way\n"))
        #expect(read(bytes(of: error)) == error)
        #expect(error == .failed(NetworkError(.denied, "no[31m way")))
        let long = NetworkError(.system, String(repeating: "ä", count: 5000))
        #expect(read(bytes(of: .failed(long))) == .failed(long))
    }

    /// The process may be a stranger's by now.
    @Test func whatDoesNotFitIsNone() {
        #expect(read([]) == nil)
        #expect(read([9]) == nil)
        #expect(read(Array("\u{2}nonsense".utf8)) == nil)
        #expect(read(picture().dropLast()) == nil)
        #expect(read(picture() + [0]) == nil)
        #expect(read(picture { $0.count += 1 }) == nil)
        #expect(read(picture { $0.slot = 4 }) == nil)
        #expect(read(picture { $0.slot = 255 }) == nil)
        #expect(
            read(
                picture {
                    $0.layout = nil
                    $0.count = PictureMessage.slotSize + 1
                }
            ) == nil
        )
        // Width, height, format and count, each as bad as can be.
        for (offset, value) in [(12, UInt32.max), (16, .max), (12, 0), (8, 1), (4, 0), (4, .max)] {
            var message = picture()
            message.withUnsafeMutableBytes {
                $0.storeBytes(of: value, toByteOffset: offset, as: UInt32.self)
            }
            #expect(read(message) == nil, "\(value) at \(offset)")
        }
        for time in [Int64.min, -1, 0, .max, now.nanoseconds + 1] {
            guard
                case .picture(let picture)? = read(
                    picture { $0.arrival = Timestamp(nanoseconds: time) }
                )
            else {
                Issue.record("no picture")
                return
            }
            #expect(picture.arrival == now)
        }
    }
}

@Suite("Credentials of a camera") struct CredentialsTests {
    @Test func theFileIsTheUsersAlone() throws {
        let folder = try ScratchDirectory()
        let path = "\(folder.path)/camera"
        try "me:se:cret\nmore\n".write(toFile: path, atomically: true, encoding: .utf8)
        for (mode, isTaken) in [
            (0o600, true), (0o400, true), (0o640, false), (0o604, false), (0o660, false),
        ] {
            chmod(path, mode_t(mode))
            let line = try? readCredentials(path)
            #expect(line == (isTaken ? "me:se:cret" : nil), "mode \(String(mode, radix: 8))")
        }
        let error = #expect(throws: NetworkError.self) { try readCredentials(path) }
        #expect(error?.code == .denied && error?.detail.contains("chmod 600") == true)
        #expect(error?.detail.contains("se:cret") == false)
    }

    @Test(arguments: ["", "nothing", "\n", "a:\u{1}b", String(repeating: "a:", count: 600)])
    func otherFilesAreRefused(_ text: String) throws {
        let folder = try ScratchDirectory()
        let path = "\(folder.path)/camera"
        try text.write(toFile: path, atomically: true, encoding: .utf8)
        chmod(path, 0o600)
        let error = #expect(throws: NetworkError.self) { try readCredentials(path) }
        #expect(error?.code == .unsupported)
        #expect(throws: NetworkError.self) { try readCredentials(folder.path) }
        #expect(throws: NetworkError.self) { try readCredentials("\(folder.path)/none") }
    }

    @Test func aRequestReadsAsItWasWritten() throws {
        let address = try NetworkAddress(parsing: "http://phone:8080/video?x=1")
        for credentials in ["me:se\u{e4}cret:x", nil] {
            let request = NetworkRequest(address: address, credentials: credentials)
            #expect(NetworkRequest(request.text) == request)
        }
        #expect(NetworkRequest("file:///etc/passwd\n") == nil)
    }
}
