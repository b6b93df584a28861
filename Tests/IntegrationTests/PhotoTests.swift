import Control
import DBusKit
import Foundation
import Frames
import Glibc
import Photos
import Platform
import TestSupport
import Testing

extension DaemonTests {
    /// Tests of photographs, as files and as other programs read them.
    @Suite("Photographs", .timeLimit(.minutes(3)))
    struct PhotoTests {
        private static func configuration(_ session: PrivateSession, _ more: String = "") -> String
        {
            """
            [cameras.back]
            source = "test:bars"
            capture = "640x360@30"
            aperture = 2.8
            [cameras.front]
            source = "test:bars"
            capture = "640x360@30"
            [scene]
            swap-duration-ms = 0
            swap-icon = false
            [capture]
            photo-directory = "\(folder(session))"
            \(more)
            """
        }

        private static func folder(_ session: PrivateSession) -> String {
            "\(session.directory)/photographs"
        }

        private func run(_ daemon: Daemon, _ arguments: String) throws -> Child {
            let tool = Programs.path(of: "dualcamctl")
            let child = try daemon.session.run(
                "sh",
                ["-c", "cd '\(daemon.session.directory)' && '\(tool)' photo \(arguments)"]
            )
            try child.wait(within: 60)
            return child
        }

        private func names(_ daemon: Daemon) -> [String] {
            let path = Self.folder(daemon.session)
            return entries(of: path).sorted()
        }

        private func with(
            _ more: String = "",
            _ body: (Daemon) throws -> Void
        ) throws {
            try PrivateSession.with { session in
                let daemon = try Daemon(Self.configuration(session, more), in: session)
                try body(daemon)
                #expect(try daemon.end().exit == .status(0))
            }
        }

        private func luma(_ bytes: [UInt8], _ x: Double, _ y: Double) throws -> Int {
            let picture = try JPEGCodec.decode(bytes).picture
            let column = Int(x * Double(picture.size.width))
            let row = Int(y * Double(picture.size.height))
            let pixel = picture.pixels[row * picture.size.width + column]
            return
                (Int(pixel & 255) * 299 + Int(pixel >> 8 & 255) * 587 + Int(pixel >> 16 & 255) * 114)
                / 1000
        }

        private func bytes(_ path: String) throws -> [UInt8] {
            Array(try Data(contentsOf: URL(filePath: path)))
        }

        @Test func `the self timer ends with a photo, unless it is cancelled or its caller leaves`()
            throws
        {
            try with { daemon in
                var reason = ""
                try daemon.capture.begin(\.takePhoto, (), options: ["in": .uint32(60)]) {
                    if case .failure(let error) = $0 { reason = error.name }
                }
                try daemon.capture.wait(for: \.selfTimer, "photo", within: 5)
                #expect(try daemon.capture.call(\.stopRecording, within: 5).isEmpty)
                try daemon.settle()
                #expect(reason.hasSuffix(".Cancelled"))
                // What is wrong is said before the count.
                let wrong: [String: Value] = ["in": .uint32(600), "of": .strings(["moon"])]
                #expect(
                    refusal {
                        _ = try daemon.capture.call(\.takePhoto, (), options: wrong, within: 5)
                    } == "OutOfRange"
                )
                let tool = try daemon.session.run(
                    Programs.path(of: "dualcamctl"),
                    ["record", "start", "--in", "60"]
                )
                try daemon.capture.wait(for: \.selfTimer, "recording", within: 5)
                tool.signal(SIGINT)
                try daemon.capture.wait(for: \.selfTimer, "", within: 5)
                let child = try run(daemon, "--in 1")
                #expect(child.exit == .status(0) && names(daemon).count == 2, "\(child.errors)")
            }
        }

        @Test func eachCameraHasItsOwnSwappedOrNotAndNobodyNeedsToLook() throws {
            try with { daemon in
                for isSwapped in [false, true] {
                    try daemon.set("Swapped", of: .scene, to: .boolean(isSwapped))
                    let child = try run(daemon, "--json")
                    #expect(child.exit == .status(0), "\(child.errors)")
                    let report = try jsonObject(child.output)
                    let photos = try #require(report["photos"] as? [[String: Any]])
                    #expect(photos.map { $0["camera"] as? String } == ["back", "front"])
                    // Of one moment: less than the interval of the cameras apart, and one stamp.
                    let times = photos.compactMap { $0["time"] as? Int }
                    #expect(abs(try #require(times.first) - (times.last ?? 0)) < 34_000)
                    let stamps = photos.compactMap {
                        ($0["path"] as? String)?.split(separator: "/").last?.prefix(25)
                    }
                    #expect(stamps.count == 2 && Set(stamps).count == 1)
                    for photo in photos {
                        let path = try #require(photo["path"] as? String)
                        let camera = try #require(photo["camera"] as? String)
                        #expect(
                            path.wholeMatch(
                                of:
                                    /.*\/photographs\/DualCam_\d{4}-\d\d-\d\d_\d{6}\.\d{3}_(back|front)(-\d)?\.jpg/
                            )?.output.1 == camera[...]
                        )
                        #expect(photo["width"] as? Int == 640 && photo["height"] as? Int == 360)
                        var status = stat()
                        #expect(stat(path, &status) == 0 && status.st_mode & 0o777 == 0o600)
                        // The first bar is white; the front camera's picture is mirrored.
                        let file = try bytes(path)
                        let (left, right) = try (luma(file, 0.06, 0.4), luma(file, 0.94, 0.4))
                        #expect(
                            camera == "back" ? left > 200 && right < 60 : left < 60 && right > 200
                        )
                    }
                    try eventually("closed cameras") {
                        try daemon.state(of: DualCam.backPath) == "closed"
                            && daemon.state(of: DualCam.frontPath) == "closed"
                    }
                }
                #expect(names(daemon).count == 4)
                try daemon.settle()
                #expect(daemon.signals(of: .capture) == Array(repeating: "PhotoSaved", count: 4))
            }
        }

        @Test func othersReadEveryTag() throws {
            try with("mirror-photos = false") { daemon in
                let child = try run(daemon, "--of all")
                #expect(child.exit == .status(0), "\(child.errors)")
                let paths = child.output.split(separator: "\n").map(String.init)
                #expect(paths.count == 3)
                let exif = try daemon.session.run(
                    "exiftool",
                    [
                        "-j", "-n", "-Software", "-Model", "-Orientation", "-DateTimeOriginal",
                        "-SubSecTimeOriginal", "-OffsetTimeOriginal", "-ExifImageWidth",
                        "-ExifImageHeight", "-FNumber", "-ThumbnailImage", "-Make", "-ISO",
                        "-SerialNumber", "-GPSPosition",
                    ] + paths
                )
                try exif.wait(within: 60)
                let object = try JSONSerialization.jsonObject(with: Data(exif.output.utf8))
                let files = try #require(object as? [[String: Any]])
                for (file, name) in zip(files, ["back", "front", "stream"]) {
                    #expect(file["Software"] as? String == "DualCam \(DualCam.version)")
                    #expect(file["Orientation"] as? Int == 1)
                    let isStream = name == "stream"
                    #expect(file["ExifImageWidth"] as? Int == (isStream ? 1280 : 640))
                    #expect(file["ExifImageHeight"] as? Int == (isStream ? 720 : 360))
                    #expect((file["Model"] != nil) == !isStream)
                    #expect(file["FNumber"] as? Double == (name == "back" ? 2.8 : nil))
                    let time = file["DateTimeOriginal"] as? String ?? ""
                    #expect(
                        time.wholeMatch(of: /2\d{3}:\d\d:\d\d \d\d:\d\d:\d\d/) != nil,
                        "\(time)"
                    )
                    #expect(file["OffsetTimeOriginal"] != nil && file["SubSecTimeOriginal"] != nil)
                    #expect("\(file["ThumbnailImage"] ?? "")".contains("Binary data"))
                    for unknown in ["Make", "ISO", "SerialNumber", "GPSPosition"] {
                        #expect(file[unknown] == nil)
                    }
                }
                // Not mirrored.
                #expect(try luma(bytes(paths[1]), 0.06, 0.4) > 200)
                // The inset lies over the main picture.
                #expect(try luma(bytes(paths[2]), 0.06, 0.4) > 200)
                let check = try daemon.session.run("jpeginfo", ["-c"] + paths)
                try check.wait(within: 60)
                #expect(check.output.split(separator: "\n").count { $0.contains("OK") } == 3)
            }
        }

        @Test func aCamerasOwnJPEGIsItsPhotographTurnedWithoutLoss() throws {
            try with { daemon in
                let path = "\(daemon.session.directory)/camera.mjpg"
                try writeJPEG(size: Size(width: 640, height: 352), copies: 30, to: path) {
                    UInt8($0 * 255 / 639)
                }
                let own = try bytes(path)
                try daemon.reload(
                    Self.configuration(daemon.session).replacing(
                        "source = \"test:bars\"\ncapture = \"640x360@30\"",
                        with: "source = \"file:\(path)\""
                    )
                )
                for (mode, transform) in [
                    ("normal", Transform.identity), ("left-up", .clockwise90),
                    ("bottom-up", .rotate180),
                ] {
                    try daemon.set("Mode", of: .orientation, to: .string(mode))
                    let child = try run(daemon, "--of back -o own.jpg")
                    #expect(child.exit == .status(0) && child.output == "", "\(child.errors)")
                    let photo = try bytes("\(daemon.session.directory)/own.jpg")
                    #expect(try Photograph(photo).orientation == .topLeft)
                    let turned = try JPEGCodec.turn(own, by: transform, progressive: false)
                    guard case .done(let expected) = turned else {
                        Issue.record("\(turned)")
                        continue
                    }
                    #expect(
                        try JPEGCodec.decode(photo).picture == JPEGCodec.decode(expected).picture
                    )
                }
                // 352 rows fill their blocks; 350 do not, and so the tag has the orientation.
                try writeJPEG(size: Size(width: 640, height: 350), copies: 30, to: path) {
                    UInt8($0 * 255 / 639)
                }
                try daemon.reload(
                    Self.configuration(daemon.session).replacing(
                        "source = \"test:bars\"\ncapture = \"640x360@30\"",
                        with: "source = \"file:\(path)\"\nrotation = 0"
                    )
                )
                try daemon.set("Mode", of: .orientation, to: .string("bottom-up"))
                let child = try run(daemon, "--of back -o - >kept.jpg")
                #expect(child.exit == .status(0), "\(child.errors)")
                let photo = try Photograph(bytes("\(daemon.session.directory)/kept.jpg"))
                #expect(photo.orientation == .bottomRight)
                #expect(names(daemon) == [])
            }
        }

        /// A pipe of one page, and the answer to a call for a photograph into it.
        private final class Reader {
            private(set) var bytes: [UInt8] = []
            private(set) var answer: Result<[Value], DBusError>?
            private let number: CInt

            init(_ daemon: Daemon) throws {
                let ends = try onePagePipe()
                _ = fcntl(ends.reader, F_SETFL, O_NONBLOCK)
                number = ends.reader
                let writer = SharedDescriptor(owning: ends.writer)
                try daemon.capture.begin(\.takePhotoTo, (writer, "back")) { [weak self] in
                    self?.answer = $0
                }
                daemon.bus.flush()
            }

            /// `true` once the photograph begins to come.
            var hasBegun: Bool {
                var entry = pollfd(fd: number, events: Int16(POLLIN), revents: 0)
                return poll(&entry, 1, 0) > 0 && entry.revents & Int16(POLLIN) != 0
            }

            /// Reads what there is. Returns `true` once it is the whole photograph.
            func read() -> Bool {
                var piece = [UInt8](repeating: 0, count: 4096)
                let count = Glibc.read(number, &piece, piece.count)
                if count > 0 { bytes += piece[..<count] }
                return bytes.suffix(2) == [0xFF, 0xD9] && (try? JPEGCodec.decode(bytes)) != nil
            }

            deinit { close(number) }
        }

        @Test("a photograph waits until it is known whether the screen is locked")
        func undecided() throws {
            try PrivateSession.with { session in
                let path = "\(session.directory)/silent"
                var bus: SilentSocket? = try SilentSocket(path)
                let daemon = try Daemon(
                    Self.configuration(session),
                    in: session,
                    node: false,
                    adding: ["DBUS_SYSTEM_BUS_ADDRESS": "unix:path=\(path)"]
                )
                let reader = try Reader(daemon)
                try daemon.back.wait(for: \.interruption, "locked")
                #expect(bus?.hasCaller == true)
                bus = nil
                try eventually("the photograph", within: 60) { reader.read() }
                #expect(try daemon.end().exit == .status(0))
            }
        }

        @Test("the daemon ends once the photograph that is being written is there, and answered")
        func end() throws {
            try PrivateSession.with { session in
                let daemon = try Daemon(Self.configuration(session), in: session)
                let reader = try Reader(daemon)
                try eventually("the first bytes", within: 60) { reader.hasBegun }
                daemon.program.signal(SIGTERM)
                try eventually("the end to begin", within: 10) {
                    daemon.notifications.lines.contains("STOPPING=1")
                }
                try eventually("the photograph", within: 10) { reader.read() }
                #expect(try daemon.program.wait() == .status(0))
                try daemon.settle()
                guard case .success? = reader.answer else {
                    Issue.record("\(String(describing: reader.answer))")
                    return
                }
            }
        }

        @Test func whatCannotBeIsRefusedAndLeavesNothing() throws {
            try with { daemon in
                // A file in the place of the directory.
                try Data().write(to: URL(filePath: Self.folder(daemon.session)))
                let denied = try run(daemon, "")
                #expect(denied.exit == .status(1) && denied.errors.contains("photographs"))
                try FileManager.default.removeItem(atPath: Self.folder(daemon.session))
                let full = try daemon.session.run(
                    "sh",
                    ["-c", "'\(Programs.path(of: "dualcamctl"))' photo --of back -o - >/dev/full"]
                )
                try full.wait(within: 60)
                #expect(full.exit == .status(1) && full.errors.contains("no space left on device"))
                // A disk with room for one of two photographs.
                let folder = Self.folder(daemon.session)
                do {
                    let small = try SmallDisk(at: folder, size: "8k")
                    defer { withExtendedLifetime(small) {} }
                    let noSpace = try run(daemon, "--of both")
                    #expect(noSpace.exit == .status(1))
                    #expect(noSpace.errors.contains("the disk is full"), "\(noSpace.errors)")
                    #expect(names(daemon) == [])
                }
            }
        }
    }
}
