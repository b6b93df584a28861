import Foundation
import Platform
import TestSupport
import Testing
import ViewCore

@testable import DualCamView

@Suite("The window's settings") struct SettingsFileTests {
    @Test("are there again, with the lines of a newer version")
    func remembered() throws {
        let folder = try ScratchDirectory()
        let file = StateFile(path: "\(folder.path)/dualcam/window")
        try file.store("new = 1\nset-up = true\n")
        let settings = SettingsFile(file)
        #expect(settings.settings.isSetUp)
        settings.settings.hasGlobalKeys = true
        let again = SettingsFile(file)
        #expect(again.settings.isSetUp && again.settings.hasGlobalKeys)
        #expect(try file.load()?.contains("new = 1\n") == true)
        #expect(settings.failure == nil && again.failure == nil)
    }

    @Test("that cannot be read are kept, and that is said")
    func unreadable() throws {
        let folder = try ScratchDirectory()
        let file = StateFile(path: "\(folder.path)/window")
        let bytes = Data([0x66, 0xFF, 0x0A])
        try bytes.write(to: URL(filePath: file.path))
        let settings = SettingsFile(file)
        #expect(settings.failure?.contains("\(file.path).damaged") == true)
        settings.settings.isSetUp = true
        #expect(try Data(contentsOf: URL(filePath: "\(file.path).damaged")) == bytes)
        #expect(SettingsFile(file).settings.isSetUp)
    }

    @Test("that cannot be stored are said to be forgotten")
    func unwritable() throws {
        let folder = try ScratchDirectory()
        try "".write(toFile: "\(folder.path)/file", atomically: false, encoding: .utf8)
        for file in [StateFile(path: "\(folder.path)/file/window"), nil] {
            let settings = SettingsFile(file)
            var failures: [String] = []
            settings.onFailure = { failures.append($0) }
            settings.settings.hasSoundOfTicks = true
            #expect(failures.count == 1)
            #expect(failures.first?.hasPrefix("What you set will be forgotten: ") == true)
        }
    }
}
