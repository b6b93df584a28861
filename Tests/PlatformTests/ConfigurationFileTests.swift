import Glibc
import Platform
import TestSupport
import Testing

@Suite struct ConfigurationFileTests {
    private let scratch: ScratchDirectory

    init() throws { scratch = try ScratchDirectory() }

    @Test func aFileThatTellsNoSizeIsReadToItsEnd() throws {
        let bytes = try readFile("/proc/self/status", limit: 1 << 20)
        let text = String(decoding: bytes, as: UTF8.self)
        #expect(text.contains("Name:") && text.hasSuffix("\n"))
        let refusal = #expect(throws: SystemError.self) {
            try readFile("/proc/self/status", limit: 10)
        }
        #expect(refusal?.errno == EFBIG)
    }

    @Test func recordingsGoWhereTheDesktopHasVideos() async {
        await #expect(processExitsWith: .success) {
            let scratch = try ScratchDirectory()
            defer { scratch.remove() }
            let home = scratch.path
            setenv("HOME", home, 1)
            unsetenv("XDG_CONFIG_HOME")
            precondition(UserDirectory.videos.place(configured: nil) == home + "/Videos/DualCam")
            try scratch.put("XDG_VIDEOS_DIR=\"$HOME/Films\"\n", ".config/user-dirs.dirs")
            precondition(UserDirectory.videos.place(configured: nil) == home + "/Films/DualCam")
            precondition(UserDirectory.videos.place(configured: "~/a") == home + "/a")
            // user-dirs.dirs(5) has only absolute paths.
            try scratch.put("XDG_VIDEOS_DIR=\"Films\"\n", ".config/user-dirs.dirs")
            precondition(UserDirectory.videos.place(configured: nil) == home + "/Videos/DualCam")
            try makeDirectory(home + "/a/b")
            precondition(entries(of: home + "/a") == ["b"])
        }
    }

    @Test func theUsersFileIsFoundWhereXDGSays() async {
        await #expect(processExitsWith: .success) {
            let scratch = try ScratchDirectory()
            defer { scratch.remove() }
            let home = scratch.path
            setenv("HOME", home, 1)
            setenv("XDG_CONFIG_HOME", "relative", 1)
            let path = try scratch.put("# ä", ".config/dualcam/dualcam.toml")
            let file = try ConfigurationFile.load(override: nil)
            precondition(file?.path == path)
            precondition(file?.text == "# ä")
            setenv("XDG_CONFIG_HOME", home, 1)
            let other = try ConfigurationFile.load(override: nil)
            precondition(other?.path != path)
            let named = try ConfigurationFile.load(override: path)
            precondition(named == file)
            setenv("XDG_CONFIG_HOME", "relative", 1)
            setenv("HOME", "relative", 1)
            precondition(ConfigurationFile.writablePath(override: nil) == nil)
            precondition(BaseDirectory.configuration.path(in: "/home/a") == "/home/a/.config")
        }
    }

    @Test(arguments: [
        ("/nonexistent/dualcam.toml", ENOENT), ("/tmp", EISDIR), ("/dev/zero", EINVAL),
    ])
    func aFileThatWasNamedMustBeReadable(path: String, errno: CInt) throws {
        let error = try #require(throws: SystemError.self) {
            try ConfigurationFile.load(override: path)
        }
        #expect(error.errno == errno && error.subject.hasPrefix(path))
    }

    @Test(.timeLimit(.minutes(5)))
    func aPipeThatNobodyWritesToIsNotWaitedFor() throws {
        let path = scratch.path + "/x.toml"
        mkfifo(path, 0o600)
        let error = try #require(throws: SystemError.self) {
            try ConfigurationFile.load(override: path)
        }
        #expect(
            error.description
                == "cannot read \(path), which is not a regular file: that is not supported"
        )
    }

    /// What is not UTF-8: a byte of Latin-1, and UTF-16 with and without a mark.
    private static let otherText: [[UInt8]] = [
        [0x61, 0xff, 0x62], [0xFF, 0xFE, 0x61, 0], [0xFE, 0xFF, 0, 0x61], [0x61, 0, 0x62, 0],
        [0, 0x61],
    ]

    @Test(arguments: otherText)
    func textThatIsNotUTF8IsRefused(_ bytes: [UInt8]) throws {
        let path = try scratch.put(bytes, "x.toml")
        let error = try #require(throws: SystemError.self) {
            try ConfigurationFile.load(override: path)
        }
        #expect(
            error.description == "cannot read \(path): it is not UTF-8 text; save it as UTF-8"
        )
    }

    @Test(arguments: ["", "a = 1\n", "é"])
    func theMarkOfUTF8IsLeftOut(_ text: String) throws {
        let path = try scratch.put([0xEF, 0xBB, 0xBF] + Array(text.utf8), "x.toml")
        let file = try ConfigurationFile.load(override: path)
        #expect(file?.text == text && file?.mark == "\u{FEFF}")
        #expect(try StateFile(path: path).load() == text)
    }
}
