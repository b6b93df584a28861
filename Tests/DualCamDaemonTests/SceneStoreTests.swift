import Frames
import Glibc
import Platform
import TestSupport
import Testing

@testable import DualCamCore
@testable import DualCamDaemon

@Suite("Changes of scenes") struct SceneStoreTests {
    @Test("are made after one that was refused, too")
    func refused() async {
        await #expect(processExitsWith: .success) {
            try await inFolder { _ in
                let loop = try EventLoop()
                let files = try Files()
                let store = SceneStore(files, loop: loop)
                store.load()
                var answers: [String] = []
                for name in ["none", "talk"] {
                    store.change { book throws(SceneBook.Refusal) in
                        try book.remove(name)
                    } done: { result in
                        switch result {
                        case .success: answers.append("removed \(name)")
                        case .failure: answers.append("refused \(name)")
                        }
                    }
                }
                try loop.wait(for: "both answers") { answers.count == 2 }
                precondition(answers == ["refused none", "removed talk"])
                precondition(!store.book.names.contains("talk"))
                precondition(files.end(by: MonotonicClock.now + Timestamp(seconds: 10)))
            }
        }
    }
}
