import ArgumentParser
import Testing

@testable import DualCamTool

@Suite("Verbs") struct VerbTests {
    @Test func `A verb for one camera tells which one it takes, once`() throws {
        let verbs = Tool.configuration.subcommands
        let forOne = verbs.compactMap { $0 as? any CameraVerb.Type }
        #expect(forOne.count >= 16)
        for verb in forOne {
            let abstract = verb.configuration.abstract
            #expect(abstract.contains("\(verb.defaultCamera)"), "\(abstract)")
        }
        // Nothing else speaks of a default camera.
        for verb in verbs where !(verb is any CameraVerb.Type) {
            #expect(!verb.configuration.abstract.contains("(default: the "), "\(verb)")
        }
    }
}
