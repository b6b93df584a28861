import DualCamCore
import Testing

@Suite("Network addresses") struct NetworkAddressTests {
    @Test(arguments: [
        ("http://phone:8080/video", "phone", 8080),
        ("https://cam.example.org/x", "cam.example.org", 443),
        ("http://192.168.1.4/", "192.168.1.4", 80), ("rtsp://cam/live?x=1#y", "cam", 554),
        ("rtsp://[fe80::1]:8554/a", "fe80::1", 8554),
        ("srt://cam:9000?mode=caller", "cam", 9000),
        ("HTTP://phone:65535", "phone", 65535), ("http://phone?action=stream", "phone", 80),
    ])
    func `an address has a host and a port`(text: String, host: String, port: Int) throws {
        let address = try NetworkAddress(parsing: text)
        #expect(address.host == host)
        #expect(address.port == port)
        #expect(address.description == text)
        #expect(try SourceSpecification(parsing: "url:\(text)") == .url(address))
    }

    @Test(
        "what is no address, or may be read as two, is refused",
        arguments: [
            "", "phone", "phone:8080", "http:/phone", "http://", "http:///video", "http://:80/",
            "file:///etc/passwd", "ftp://phone/", "gopher://phone/", "concat:a", "srt://phone",
            "http://phone:0/", "http://phone:65536/", "http://phone:80x/", "http://phone:/",
            "http://phone:-1/", "http://pho ne/", "http://phone/\u{e4}", "http://phone\\@evil/",
            "http://[::1/", "http://[phone]/", "http://[::1]x/", "http://-phone/",
            "http://phone/\n",
            "http://a_b%00/", "http://" + String(repeating: "a", count: 254) + "/",
            "http://phone/" + String(repeating: "a", count: 1024),
        ]
    )
    func refused(text: String) {
        #expect(throws: UnreadableValue.self) { try NetworkAddress(parsing: text) }
    }

    @Test(arguments: [
        "http://me:secret@phone/", "rtsp://secret@phone/", "http://me:sec/ret?x@phone/video",
        "srt://phone:9000?passphrase=secret", "srt://phone:9000?mode=caller&PASSPHRASE=secret",
    ])
    func `a user or password in an address is refused, and not shown`(text: String) throws {
        let error = #expect(throws: UnreadableValue.self) {
            try SourceSpecification(parsing: "url:\(text)")
        }
        #expect(error?.description.contains("sec") == false, "\(String(describing: error))")
        let file = "[cameras.back]\nsource = \"url:\(text)\"\n"
        let problem = #expect(throws: ConfigurationError.self) {
            try Configuration.parse(file, file: "dualcam.toml")
        }
        #expect(problem?.description.contains("sec") == false, "\(String(describing: problem))")
    }

    @Test("the query of an address is not shown")
    func shown() throws {
        let source = try SourceSpecification(parsing: "url:http://phone/video?key=secret")
        #expect(source.description == "url:http://phone/video?key=secret")
        #expect(source.shown == "url:http://phone/video?…")
        #expect(SourceSpecification.auto.shown == "auto")
    }
}
