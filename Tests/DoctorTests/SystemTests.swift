import Glibc
import Platform
import TestSupport
import Testing

@testable import Doctor

@Suite("What doctor finds in the system") struct SystemTests {
    @Test func camerasAreFoundWithoutBeingOpened() throws {
        let scratch = try ScratchDirectory()
        let root = scratch.path
        for (name, index) in [("video0", 0), ("video1", 1), ("video2", 0), ("vbi0", 0)] {
            try scratch.put("\(index)\n", "sys/\(name)/index")
            // As uvcvideo names it: the device's name, and that of its function.
            try scratch.put("Desk Cam: Desk Cam\n", "sys/\(name)/name")
        }
        // Besides the camera: its metadata node, a loopback, and a node of another kind.
        for name in ["video0", "video1", "vbi0"] { try makeDirectory("\(root)/sys/\(name)/device") }
        func cameras() -> [AttachedCamera] {
            AttachedCamera.all(sysfs: "\(root)/sys", dev: "\(root)/dev")
        }
        #expect(cameras().map(\.description) == ["Desk Cam (\(root)/dev/video0)"])
        #expect(cameras().first?.bus == nil)
        // The directory of its interface is inside that of the USB device.
        rmdir("\(root)/sys/video0/device")
        try makeDirectory("\(root)/1-2/1-2:1.0")
        symlink("\(root)/1-2/1-2:1.0", "\(root)/sys/video0/device")
        try scratch.put("1\n", "1-2/busnum")
        try scratch.put("480\n", "1-2/speed")
        #expect(cameras().first?.bus == AttachedCamera.Bus(number: 1, megabits: 480))
        func isWaiting() -> Bool { AttachedCamera.isWaitingForDriver(usb: "\(root)/usb") }
        #expect(!isWaiting())
        try scratch.put("0e\n", "usb/1-1:1.0/bInterfaceClass")
        #expect(isWaiting())
        try makeDirectory("\(root)/usb/1-1:1.0/driver")
        #expect(!isWaiting())
    }

    @Test func `v4l2loopback's devices are known by an attribute of this module`() throws {
        let scratch = try ScratchDirectory()
        for name in ["video10", "video2"] { try scratch.put("10\n", "\(name)/max_openers") }
        try makeDirectory("\(scratch.path)/video3")
        #expect(LoopbackModule.devices(sysfs: scratch.path) == ["/dev/video2", "/dev/video10"])
    }

    @Test func `Secure Boot is known by the firmware's variable`() throws {
        let scratch = try ScratchDirectory()
        #expect(!SecureBoot.isOn(scratch.path))
        let name = "SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c"
        for value in [0, 1] as [UInt8] {
            try scratch.put(String(decoding: [6, 0, 0, 0, value], as: UTF8.self), name)
            #expect(SecureBoot.isOn(scratch.path) == (value == 1))
        }
    }

    @Test func browsersHaveToLookInPipeWire() throws {
        let scratch = try ScratchDirectory()
        let desktop = DesktopCheckup(home: scratch.path)
        func says(_ name: String, _ outcome: Finding.Outcome) -> Bool {
            desktop.browserFindings().contains { $0.name == name && $0.outcome == outcome }
        }
        // Those that are installed here were never started by this user.
        let untouched = desktop.browserFindings()
        #expect(!untouched.isEmpty)
        #expect(untouched.allSatisfy { $0.name == "browsers" || $0.outcome == .bad })
        let state = ".config/chromium/Local State"
        try scratch.put("{\"browser\":{}}", state)
        #expect(says("chromium", .bad))
        // Another setting of that name does not count.
        try scratch.put("{\"x\":[\"enable-webrtc-pipewire-camera@1\"]}", state)
        #expect(says("chromium", .bad))
        let list = "[\"enable-webrtc-pipewire-camera@1\"]"
        try scratch.put("{\"browser\":{\"enabled_labs_experiments\":\(list)}}", state)
        #expect(says("chromium", .good))
        try scratch.put("[Profile0]\nPath=a.default\n", ".mozilla/firefox/profiles.ini")
        try scratch.put("", ".mozilla/firefox/a.default/prefs.js")
        #expect(says("firefox", .bad))
        let preference = "user_pref(\"media.webrtc.camera.allow-pipewire\", true);"
        try scratch.put(preference + "\n", ".mozilla/firefox/a.default/user.js")
        #expect(says("firefox", .good))
        try scratch.put("", ".mozilla/firefox/a.default/user.js")
        try scratch.put(preference + "\n", ".mozilla/firefox/a.default/prefs.js")
        #expect(says("firefox", .good))
        try scratch.put("{}", ".var/app/com.microsoft.Edge/config/microsoft-edge/Local State")
        #expect(says("edge", .bad))
        let edge = desktop.browserFindings().first { $0.name == "edge" }
        #expect(edge?.command == "dualcamctl doctor --fix edge")
        let flags = ".var/app/com.microsoft.Edge/config/edge-flags.conf"
        try scratch.put("--enable-features=WebRtcPipeWireCamera\n", flags)
        #expect(says("edge", .good))
    }

    @Test(
        "who is at the seat is sent to udev, others to the seat, and only without one to the group",
        arguments: [
            (.active, "sudo udevadm trigger --subsystem-match=video4linux", "logged in"),
            (.inactive, nil, "switch to yours"), (.elsewhere, nil, "log in there"),
            (.none, "sudo usermod -aG camera \"$USER\"", "no seat"),
        ] as [(SeatAccess, String?, String)]
    )
    func permissions(_ seat: SeatAccess, _ command: String?, _ words: String) {
        let finding = Checkup.denied("/dev/video0", seat: seat, group: "camera")
        #expect(finding.command == command)
        #expect(finding.text.hasPrefix("/dev/video0 may not be opened"))
        #expect(finding.text.contains(words), "\(finding.text)")
        #expect(finding.text.contains("camera") == (seat == .none))
    }

    @Test func snapsAndFlatpaksThatWereNeverStartedAreFound() throws {
        let scratch = try ScratchDirectory()
        let (home, system) = ("\(scratch.path)/home", "\(scratch.path)/system")
        func found(_ browser: Browser) -> [Browser.Place] {
            browser.places(in: home, system: system).filter { $0.application != nil }
        }
        for folder in [
            "\(system)/snap/bin", "\(system)/var/lib/flatpak/app/org.mozilla.firefox",
            "\(home)/.local/share/flatpak/app/com.google.Chrome",
        ] { try makeDirectory(folder) }
        for name in ["chromium", "firefox", "brave"] {
            symlink("/bin/true", "\(system)/snap/bin/\(name)")
        }
        #expect(found(.edge).isEmpty && found(.chromium).map(\.isNew) == [true])
        #expect(found(.chromium)[0].folder == "\(home)/snap/chromium/common/chromium")
        #expect(found(.chrome).map(\.command) == [["flatpak", "run", "com.google.Chrome"]])
        #expect(found(.firefox).map(\.title) == ["Firefox (Snap)", "Firefox (Flatpak)"])
        #expect(found(.firefox).map(\.firefoxSeeds.count) == [2, 2])
        // Snap itself makes the folder of the version.
        #expect(found(.brave).map(\.takesFiles) == [false])
        #expect(DesktopCheckup(home: home).browserSteps(found(.brave)).isEmpty)
        #expect(
            DesktopCheckup(home: home).browserSteps(found(.chromium)).map(\.makesFolders) == [true]
        )
    }
}
