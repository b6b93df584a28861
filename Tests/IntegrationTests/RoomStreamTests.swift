import Control
import Foundation
import Frames
import Photos
import TestJPEGs
import TestSupport
import Testing

extension DaemonTests {
    @Suite("A hidden room", .timeLimit(.minutes(5)))
    struct RoomStreamTests {
        private static let size = Size(width: 1280, height: 720)

        /// Returns `true` if a pixel of the stream has a colour, as the room's have.
        private func isSeen(_ frame: StreamReader.Frame) -> Bool {
            let picture = StreamPicture(frame, size: Self.size)
            return stride(from: 2, to: Self.size.height, by: 6).contains { y in
                stride(from: 0, to: Self.size.width, by: 6).contains { x in
                    let color = picture[x, y]
                    return max(abs(color.u - 128), abs(color.v - 128)) > 10
                }
            }
        }

        /// `true` if the large picture has an edge, left of the inset and below it. One that is
        /// blurred has none.
        private func isSharp(_ frame: StreamReader.Frame) -> Bool {
            let picture = StreamPicture(frame, size: Self.size)
            return stride(from: 400, to: 700, by: 60).contains { y in
                stride(from: 0, to: 600, by: 6).contains { x in
                    let (one, other) = (picture[x, y], picture[x + 6, y])
                    return max(abs(one.u - other.u), abs(one.v - other.v)) > 20
                }
            }
        }

        private func expectNothing(_ reader: StreamReader, _ count: Int, _ what: String) throws {
            for number in 0..<count {
                #expect(try !isSeen(reader.next()), "\(what), frame \(number)")
            }
        }

        @Test("is never seen: from the first frame on, swapped, after privacy, a crash, a bad file")
        func promise() throws {
            try PrivateSession.with { session in
                let (picture, room) = (
                    "\(session.directory)/other.jpg", "\(session.directory)/room.jpg"
                )
                let green = flatFrame(
                    size: Size(width: 640, height: 360),
                    format: .i422,
                    [150, 44, 21]
                )
                try Data(jpeg(of: green)).write(to: URL(filePath: room))
                try Data(flatJPEG(Size(width: 320, height: 240), luma: 90)).write(
                    to: URL(filePath: picture)
                )
                // Nobody is in these pictures, so that nothing of them may be seen.
                let file = """
                    [cameras.back]
                    source = "test:bars"
                    [cameras.front]
                    source = "file:\(room)"
                    room = "\(picture)"
                    [state]
                    remember = true
                    """
                let first = try Daemon(file, in: session)
                var reader = try first.reader()
                try eventually("the room") { try isSharp(reader.next()) }
                _ = try session.output(Programs.path(of: "dualcamctl"), "room", picture)
                #expect(try first.back.get(\.room) == picture)
                // It fades.
                try eventually("the picture") { try !isSeen(reader.next()) }
                try expectNothing(reader, 20, "set")
                try first.scene.call(\.swap)
                try expectNothing(reader, 30, "swapped")
                try first.privacy.set(\.enabled, true)
                try expectNothing(reader, 10, "private")
                try first.privacy.set(\.enabled, false)
                try expectNothing(reader, 30, "after privacy")
                try first.scenes.call(\.apply, "demo", options: [:])
                try expectNothing(reader, 30, "in another scene")
                // Like a camera that is unplugged, and comes back.
                rename(room, room + ".away")
                try first.front.call(\.use, "test:bars")
                try expectNothing(reader, 20, "with another camera")
                rename(room + ".away", room)
                try first.front.call(\.use, "file:\(room)")
                try expectNothing(reader, 30, "plugged in again")
                let photo = "\(session.directory)/photo.jpg"
                _ = try session.output(
                    Programs.path(of: "dualcamctl"),
                    "photo",
                    "--of",
                    "stream",
                    "-o",
                    photo
                )
                let pixels = try JPEGCodec.decode(Array(Data(contentsOf: URL(filePath: photo))))
                    .picture.pixels
                let colored = pixels.count { pixel in
                    let (red, blue) = (Int(pixel & 255), Int(pixel >> 16 & 255))
                    return abs(red - blue) > 24
                }
                #expect(colored == 0, "in a photograph")
                reader.close()
                let state = "\(session.directory)/home/.local/state/dualcam/state.toml"
                try eventually("the setting on the disk") {
                    (try? String(contentsOfFile: state, encoding: .utf8))?.contains("room") == true
                }
                first.program.signal(SIGKILL)
                _ = try first.program.wait()

                let second = try Daemon(file, in: session)
                reader = try second.reader()
                // Until the other picture is read, all is blurred.
                for number in 0..<40 {
                    #expect(try !isSharp(reader.next()), "after a crash, frame \(number)")
                }
                try eventually("the other picture") { try !isSeen(reader.next()) }
                try expectNothing(reader, 20, "after a crash")
                for role in [second.back, second.front] { try role.set(\.room, "/nowhere.png") }
                try eventually("the problem") {
                    try second.complains(of: "is blurred, and you with it")
                }
                reader.close()
            }
        }

        @Test("is never seen around a person: from the first frame on, and whatever happens")
        func person() throws {
            try PrivateSession.with { session in
                let room = "\(session.directory)/room.jpg"
                let green = flatFrame(
                    size: Size(width: 640, height: 360),
                    format: .i422,
                    [150, 44, 21]
                )
                try Data(jpeg(of: green)).write(to: URL(filePath: room))
                // Nobody is in the picture of the room, and the other one has no colour.
                let file = """
                    [cameras.back]
                    source = "test:ramp"
                    [cameras.front]
                    source = "file:\(room)"
                    [scene]
                    inset-shape = "person"
                    inset-size = 0.9
                    [state]
                    remember = true
                    """
                let first = try Daemon(file, in: session)
                var reader = try first.reader()
                try expectNothing(reader, 30, "at first")
                #expect(try first.front.get(\.state) == "streaming")
                try first.scene.set(\.insetSize, 0.4)
                try expectNothing(reader, 20, "made smaller")
                // As a rectangle it is there, and gone again in the time of a change.
                try first.scene.set(\.insetShape, "rectangle")
                try eventually("the room") { try isSeen(reader.next()) }
                try first.scene.set(\.insetShape, "person")
                try eventually("the person alone") { try !isSeen(reader.next()) }
                try expectNothing(reader, 20, "as a person again")
                reader.close()
                first.program.signal(SIGKILL)
                _ = try first.program.wait()

                let second = try Daemon(file, in: session)
                reader = try second.reader()
                try expectNothing(reader, 40, "after a crash")
                // Another app joins.
                let other = try second.reader()
                try expectNothing(other, 20, "in another app")
                other.close()
                reader.close()
            }
        }
    }
}
