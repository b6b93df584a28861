import Foundation
import Frames
import Photos
import TestSupport
import Testing

@Suite("dualcamctl orient", .timeLimit(.minutes(2)))
struct OrientTests {
    private let scratch: ScratchDirectory
    private var folder: URL { URL(filePath: scratch.path) }
    private let picture = sample(Size(width: 96, height: 64))

    init() throws { scratch = try ScratchDirectory() }

    private func bytes(_ name: String) throws -> [UInt8] {
        Array(try Data(contentsOf: folder.appending(path: name)))
    }

    private func run(_ arguments: String) throws -> Child {
        let tool = Programs.path(of: "dualcamctl")
        let child = try Child("sh", ["-c", "cd '\(folder.path)' && '\(tool)' orient \(arguments)"])
        try child.wait(within: 60)
        return child
    }

    @Test func photographsAreReplacedByTheirUprightSelves() throws {
        for tag in 0...9 { try scratch.put(photograph(of: picture, tag: tag), "\(tag).jpg") }
        let odd = try photograph(of: sample(Size(width: 90, height: 50)), tag: 3)
        try scratch.put(odd, "odd.jpg")
        chmod(folder.appending(path: "6.jpg").path, 0o640)
        try FileManager.default.createSymbolicLink(
            atPath: folder.appending(path: "link.jpg").path,
            withDestinationPath: "8.jpg"
        )
        let before = scratch.content
        let child = try run(
            "0.jpg 1.jpg 2.jpg 3.jpg 4.jpg 5.jpg 6.jpg 7.jpg link.jpg 9.jpg odd.jpg"
        )
        #expect(child.exit == .status(0) && child.errors == "")
        let turned = ["2.jpg", "3.jpg", "4.jpg", "5.jpg", "6.jpg", "7.jpg", "link.jpg"]
        #expect(
            child.output
                == (["0.jpg: already upright", "1.jpg: already upright"]
                + turned.map { "\($0): turned without loss" }
                + [
                    "9.jpg: already upright",
                    "odd.jpg: kept as it is, with its tag: its size does not fill its blocks",
                ]).map { $0 + "\n" }.joined()
        )
        for tag in 0...9 {
            let file = try bytes("\(tag).jpg")
            #expect(try likeness(file, picture) > 28)
            #expect(try Photograph(file).orientation == .topLeft)
        }
        #expect(try bytes("odd.jpg") == odd)
        #expect(scratch.content == before)
        var status = stat()
        #expect(stat(folder.appending(path: "6.jpg").path, &status) == 0)
        #expect(status.st_mode & 0o777 == 0o640)
        #expect(lstat(folder.appending(path: "link.jpg").path, &status) == 0)
        #expect(status.st_mode & S_IFMT == S_IFLNK)
        #expect(try run("--lossy odd.jpg").output == "odd.jpg: turned and encoded again\n")
        #expect(try Photograph(bytes("odd.jpg")).orientation == .topLeft)
    }

    @Test func checkingChangesNothing() throws {
        let file = try photograph(of: picture, tag: 6)
        try scratch.put(file, "a.jpg")
        #expect(try run("--check a.jpg").output == "a.jpg: would be turned without loss\n")
        #expect(
            try run("--check --json a.jpg").output
                == #"{"version":1,"path":"a.jpg","orientation":6,"outcome":"turned","reason":null,"checkOnly":true}"#
                + "\n"
        )
        #expect(try bytes("a.jpg") == file && scratch.content == ["a.jpg"])
    }

    @Test func oneCanGoElsewhere() throws {
        let file = try photograph(of: picture, tag: 8)
        try scratch.put(file, "a.jpg")
        #expect(try run("a.jpg -o b.jpg").exit == .status(0))
        #expect(try run("a.jpg -o - >c.jpg").exit == .status(0))
        #expect(try bytes("a.jpg") == file && bytes("b.jpg") == bytes("c.jpg"))
        #expect(try likeness(bytes("b.jpg"), picture) > 28)
        // A file that is upright already is written to the output, too.
        #expect(try run("b.jpg -o d.jpg").output == "b.jpg: already upright\n")
        #expect(try bytes("d.jpg") == bytes("b.jpg"))
        for wrong in ["a.jpg b.jpg -o e.jpg", "--check a.jpg -o e.jpg", "--json a.jpg -o -", ""] {
            #expect(try run(wrong).exit == .status(2))
        }
        #expect(scratch.content == ["a.jpg", "b.jpg", "c.jpg", "d.jpg"])
    }

    @Test("what is no file is written to, a link is followed, and permissions stay")
    func places() throws {
        let file = try photograph(of: picture, tag: 8)
        try scratch.put(file, "a.jpg")
        #expect(try run("a.jpg -o expected").exit == .status(0))
        let expected = try bytes("expected")
        let tool = Programs.path(of: "dualcamctl")
        let script = """
            set -e; cd '\(folder.path)'; tool='\(tool) orient a.jpg -o'
            $tool /dev/stdout | tail -c +1 >stdout    # its own line comes after the picture
            (printf before; $tool /dev/stdout) >>appended
            mkfifo fifo; cat fifo >through & $tool fifo >lines; wait
            $tool >(cat >substituted) >lines; while [ ! -s substituted ]; do sleep 0.02; done
            touch private; chmod 600 private; ln -s private link
            $tool link >lines; $tool /dev/null >lines
            umask 027; $tool new >lines; rm lines
            """
        let child = try Child("bash", ["-c", script])
        try child.wait(within: 60)
        #expect(child.exit == .status(0), "\(child.errors)")
        let line = Array("a.jpg: turned without loss\n".utf8)
        #expect(try bytes("stdout") == expected + line)
        #expect(try bytes("appended") == Array("before".utf8) + expected + line)
        #expect(try bytes("through") == expected && bytes("private") == expected)
        var status = stat()
        func mode(_ name: String) -> UInt32 {
            lstat(folder.appending(path: name).path, &status) == 0 ? status.st_mode : 0
        }
        #expect(mode("fifo") & S_IFMT == S_IFIFO && mode("link") & S_IFMT == S_IFLNK)
        #expect(mode("private") & 0o777 == 0o600 && mode("new") & 0o777 == 0o640)
        #expect(stat("/dev/null", &status) == 0 && status.st_mode & S_IFMT == S_IFCHR)
        try eventually("the rest", within: 20) { try bytes("substituted") == expected }
    }

    @Test func whatIsNoPhotographIsToldAndNotTouched() throws {
        let whole = try photograph(of: picture, tag: 6)
        try scratch.put(Array(whole.dropLast(whole.count / 2)), "short.jpg")
        try scratch.put(Array("text".utf8), "text.jpg")
        try scratch.put([], "empty.jpg")
        try scratch.put(whole, "good.jpg")
        mkfifo(folder.appending(path: "pipe.jpg").path, 0o600)
        let huge = try FileHandle(
            forWritingTo: {
                try scratch.put([0xFF, 0xD8], "huge.jpg")
                return folder.appending(path: "huge.jpg")
            }()
        )
        try huge.truncate(atOffset: UInt64(JPEGOutline.maximumLength) + 1)
        let before = try ["short.jpg", "text.jpg", "empty.jpg"].map { try bytes($0) }
        let files = scratch.content
        let child = try run("short.jpg text.jpg empty.jpg pipe.jpg huge.jpg . none.jpg good.jpg")
        #expect(child.exit == .status(1))
        #expect(child.output == "good.jpg: turned without loss\n")
        #expect(
            child.errors == """
                dualcamctl: short.jpg: it ends early.
                dualcamctl: text.jpg: it is not a JPEG.
                dualcamctl: empty.jpg: it is not a JPEG.
                dualcamctl: Cannot read pipe.jpg, which is not a regular file: that is not supported.
                dualcamctl: Cannot read huge.jpg: the file is too large.
                dualcamctl: Cannot read .: it is a directory.
                dualcamctl: Cannot open none.jpg: there is no such file.
                dualcamctl: 7 of 8 photos failed.

                """
        )
        #expect(try ["short.jpg", "text.jpg", "empty.jpg"].map { try bytes($0) } == before)
        #expect(scratch.content == files)
        let json = try run("--json text.jpg")
        #expect(
            json.output
                == #"{"version":1,"path":"text.jpg","orientation":null,"outcome":"failed","reason":"text.jpg: it is not a JPEG.","checkOnly":false}"#
                + "\n"
        )
        #expect(
            json.exit == .status(1) && json.errors == "dualcamctl: text.jpg: it is not a JPEG.\n"
        )
    }

    /// Other programs read the results: exiftool the tags, jpeginfo and djpeg the picture.
    @Test func othersReadIt() throws {
        let tags = ["Exif.Image.Make": "Maker", "Exif.Photo.FNumber": "28/10"]
        for tag in 1...8 {
            try scratch.put(
                photograph(of: picture, tag: tag, adding: tags, thumbnail: picture),
                "\(tag).jpg"
            )
        }
        #expect(try run("?.jpg").exit == .status(0))
        let script = """
            cd '\(folder.path)' && exiftool -T -n -Orientation -Make -FNumber -ImageSize ?.jpg &&
            jpeginfo -c ?.jpg && for file in ?.jpg; do djpeg -outfile /dev/null $file || exit 1; done
            """
        let child = try Child("sh", ["-c", script])
        try child.wait(within: 60)
        #expect(child.exit == .status(0), "\(child.output)\(child.errors)")
        let lines = child.output.split(separator: "\n")
        #expect(
            lines.prefix(8).allSatisfy {
                $0 == "1\tMaker\t2.8\t96x64" || $0 == "1\tMaker\t2.8\t96 64"
            }
        )
        #expect(lines.dropFirst(8).filter { $0.contains("OK") }.count == 8, "\(child.output)")
    }
}
