import Control
import DBusKit
import Frames
import TestSupport
import Testing

extension DaemonTests {
    @Suite("Lenses and zoom", .timeLimit(.minutes(5)))
    struct LensSwitchTests {
        private func zoom(_ daemon: Daemon, _ zoom: Double, _ options: [String: Value]) throws {
            try daemon.back.call(\.setZoom, zoom, options: options)
        }

        @Test(
            "a lens takes the place of another without a cut, and a lens that is not there is cropped"
        )
        func switching() throws {
            try PrivateSession.with { session in
                var configuration = "[scene]\nlayout = \"single\"\n"
                let size = Size(width: 320, height: 180)
                func source(_ name: String, _ luma: UInt8) throws -> String {
                    let file = "\(session.directory)/\(name).y4m"
                    try writeMovie([luma], size: size, to: file)
                    return "source = \"file:\(file)\"\n"
                }
                configuration += "[cameras.front]\nsource = \"test\"\n[cameras.back]\n"
                configuration += try source("wide", 100)
                for (name, factor, luma) in [("ultra-wide", 0.5, UInt8(40)), ("telephoto", 3, 220)]
                {
                    configuration +=
                        "[[cameras.back.lenses]]\nname = \"\(name)\"\nfactor = \(factor)\n"
                    configuration += try source(name, luma)
                }
                configuration +=
                    "[[cameras.back.lenses]]\nname = \"macro\"\nfactor = 2.0\nsource = \"v4l2:none\"\n"
                let daemon = try Daemon(configuration, in: session)
                let reader = try daemon.reader()
                func get(_ property: String) throws -> Value {
                    try daemon.get(property, of: .camera, at: DualCam.backPath)
                }
                func select(_ lens: String) throws {
                    try daemon.back.call(\.selectLens, lens)
                }
                _ = try reader.picture("the wide one") { abs($0[640, 400].y - 100) <= 1 }
                let names = try get("Lenses").array?.compactMap { lens in
                    if case .structure(let fields) = lens { fields.first?.string } else { nil }
                }
                #expect(names == ["ultra-wide", "wide", "telephoto"])
                var last = 100
                for (lens, luma) in [("telephoto", 220), ("wide", 100), ("ultra-wide", 40)] {
                    reader.flush()
                    try select(lens)
                    #expect(try get("Lens") == .string(lens))
                    #expect(try get("LensFallback") == .boolean(false))
                    // Only mixtures of the two pictures, each nearer to the new one.
                    var between = 0
                    _ = try eventually("the picture of \(lens)", within: 20) {
                        let now = StreamPicture(try reader.next(), size: DaemonTests.size)[640, 400]
                            .y
                        #expect((now - last) * (luma - last) >= 0 || abs(now - last) <= 1)
                        #expect((min(last, luma) - 1...max(last, luma) + 1).contains(now))
                        if now != last { between += 1 }
                        last = now
                        return abs(now - luma) <= 1
                    }
                    print("measured: \(between) pictures between the two")
                    #expect(try get("State") == .string("streaming"))
                }
                #expect(throws: DBusError.self) { try select("macro") }
                #expect(throws: DBusError.self) { try select("no such") }
                // The wide lens's picture, cropped, stands in for that of the macro lens.
                try zoom(daemon, 2, ["ramp-ms": .uint32(0)])
                _ = try reader.picture("the wide one again") { abs($0[640, 400].y - 100) <= 1 }
                #expect(try get("Lens") == .string("macro"))
                #expect(try get("LensFallback") == .boolean(true))
            }
        }

        @Test("a lens in the dark gives way to a wider one, cropped")
        func dark() throws {
            try PrivateSession.with { session in
                let size = Size(width: 320, height: 180)
                let (wide, narrow) = ("\(session.directory)/a.y4m", "\(session.directory)/b.y4m")
                try writeMovie([100], size: size, to: wide)
                try writeMovie([18], size: size, to: narrow)
                let daemon = try Daemon(
                    """
                    [scene]
                    layout = "single"
                    [cameras.back]
                    source = "file:\(wide)"
                    [[cameras.back.lenses]]
                    name = "telephoto"
                    factor = 2.0
                    source = "file:\(narrow)"
                    """,
                    in: session
                )
                let reader = try daemon.reader()
                _ = try reader.picture("the wide one") { abs($0[640, 400].y - 100) <= 1 }
                try daemon.back.call(\.selectLens, "telephoto")
                _ = try reader.picture("the dark one", within: 20) { $0[640, 400].y < 20 }
                _ = try reader.picture("the wide one again", within: 20) {
                    abs($0[640, 400].y - 100) <= 1
                }
                try daemon.back.wait(for: \.lensFallback, true, within: 20)
                #expect(try daemon.back.get(\.lens) == "telephoto")
            }
        }
    }
}
