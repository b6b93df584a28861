import Control
import Foundation
import Frames
import TestSupport
import Testing

extension DaemonTests {
    @Suite("Calm framing of a camera", .timeLimit(.minutes(3)))
    struct FaceStreamTests {
        /// Makes a movie of a drawn person, who is at the left for eight seconds, and then at the
        /// right, in front of a wall of two colours.
        private func makeMovie(_ session: PrivateSession) throws -> String {
            let person = URL(filePath: #filePath).deletingLastPathComponent()
                .appending(path: "../ImagingTests/Persons/drawn.png").path
            let movie = "\(session.directory)/person.mkv"
            let wall = "color=0x208020:s=1280x720:r=10:d=16,drawbox=640:0:640:720:0x802080:fill"
            let moving = "[1]scale=768:432:flags=neighbor[p];[0][p]overlay='if(lt(t,8),0,512)':0"
            try ffmpeg([
                "-f", "lavfi", "-i", wall, "-i", person, "-filter_complex", moving, "-c:v",
                "mjpeg", "-q:v", "2", movie,
            ])
            return movie
        }

        @Test("moves with the person, and shows all again when it is off")
        func moves() throws {
            try PrivateSession.with { session in
                let daemon = try Daemon(
                    """
                    [cameras.back]
                    source = "file:\(try makeMovie(session))"
                    framing-tightness = 0.25
                    [cameras.front]
                    source = "test"
                    [scene]
                    layout = "single"
                    """,
                    in: session
                )
                let reader = try daemon.reader()
                // What is left of the middle has the one colour, what is right of it the other.
                func isGreen(_ x: Double) throws -> Bool {
                    let picture = StreamPicture(
                        try reader.next(),
                        size: Size(width: 1280, height: 720)
                    )
                    return picture[Int(x * 1280), 670].v < 128
                }
                try eventually("the whole picture") { try isGreen(0.45) && !isGreen(0.55) }
                let tool = Programs.path(of: "dualcamctl")
                _ = try session.output(tool, "framing", "calm")
                try eventually("the left") { try isGreen(0.58) }
                try eventually("the right") { try !isGreen(0.42) }
                #expect(try daemon.back.get(\.zoom) == 1)
                _ = try session.output(tool, "zoom", "1")
                #expect(try daemon.back.get(\.framing) == "off")
                try eventually("the whole picture again") { try isGreen(0.45) && !isGreen(0.55) }
                reader.close()
            }
        }
    }
}
