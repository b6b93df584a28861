import Control
import Glibc
import TestSupport
import Testing

@testable import Doctor

@Suite("What doctor writes") struct FixerTests {
    @Test func twoAtOnceKeepBothRecords() async throws {
        let scratch = try ScratchDirectory()
        let journal = FixJournal(folder: "\(scratch.path)/fixes")
        let names = (0..<40).map { "fix-\($0)" }
        await withTaskGroup(of: Void.self) { group in
            for name in names {
                group.addTask {
                    let change = FixRecord.Change.unit(name, wasRunning: true, wasEnabled: true)
                    let record = FixRecord(name: name, change: change)
                    #expect(throws: Never.self) { try journal.add(record) }
                }
            }
        }
        let kept = try journal.records().map { try $0.record.get().name }
        #expect(kept.sorted() == names.sorted())
        let file = try FixedFile("\(scratch.path)/fixes/9999.fix")
        let content = FileContent(bytes: [1], mode: 0o600)
        #expect(try file.create(content))
        #expect(try !file.create(FileContent(bytes: [2], mode: 0o600)))
        #expect(try file.read() == content)
    }

    // It may be started between the question and the answer.
    @Test func aBrowserThatIsStartedMeanwhileIsLeftAlone() throws {
        let scratch = try ScratchDirectory()
        let (folder, home) = ("\(scratch.path)/chromium", scratch.path)
        let file = try FixedFile("\(folder)/Local State", makesFolders: true)
        try file.write(FileContent(bytes: Array("{}".utf8), mode: 0o600))
        let fixer = Fixer(
            journal: FixJournal(folder: "\(home)/fixes"),
            permissions: CameraPermissions(connection: nil)
        )
        let step = FixStep.file(
            FileStep(title: "Chromium", path: file.path, form: .chromiumFlags, closed: folder)
        )
        #expect(try fixer.isNeeded(step))
        symlink("other-computer-1", "\(folder)/SingletonLock")
        #expect(throws: Failure.self) { try fixer.perform(step, of: "chromium") }
        #expect(try file.read()?.bytes == Array("{}".utf8))
        #expect(fixer.journal.records().isEmpty)
    }

    @Test func thoseOfTheInstalledWirePlumberAreFoundFirst() throws {
        let scratch = try ScratchDirectory()
        func written(_ form: WirePlumberRules.Form) -> String? {
            WirePlumberRules.written(in: scratch.path, installed: form)
        }
        #expect(written(.lua) == nil && written(.json) == nil)
        let files = WirePlumberRules.paths(in: scratch.path)
        for file in files {
            try FixedFile(file, makesFolders: true).write(FileContent(bytes: [], mode: 0o600))
            // What is left of another version is found if it is all there is.
            #expect(written(.lua) == files[0] && written(.json) == file)
        }
    }
}
