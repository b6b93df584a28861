import Capture

extension FuzzTarget {
    /// What a camera on the network sends over HTTP: multipart/x-mixed-replace.
    static let multiparts = FuzzTarget(
        name: "multiparts",
        maximumLength: 16384,
        seeds: multipartSeeds,
        read: readMultipart
    )
}

/// Reads a body at once, and again in pieces: it holds the same pictures, however it arrives. The
/// first byte chooses the boundary, the second the length of the pieces.
@Sendable private func readMultipart(_ bytes: [UInt8]) {
    guard bytes.count > 2 else { return }
    let boundary = ["", "; boundary=b", "; boundary=\"--b\"", ";boundary=--"][Int(bytes[0] & 3)]
    let body = bytes[2...]
    guard let whole = pictures(in: [body], boundary),
        let pieced = pictures(in: pieces(of: body, Int(bytes[1]) + 1), boundary)
    else { return }
    guard whole == pieced else { fatalError("other pictures come from the same body in pieces") }
}

private func pieces(of body: ArraySlice<UInt8>, _ length: Int) -> [ArraySlice<UInt8>] {
    stride(from: body.startIndex, to: body.endIndex, by: length).map {
        body[$0..<min($0 + length, body.endIndex)]
    }
}

/// Returns the pictures of a body that arrives in these pieces; `nil` if it cannot be read.
private func pictures(in pieces: [ArraySlice<UInt8>], _ boundary: String) -> [[UInt8]]? {
    guard var reader = MultipartReader(type: "multipart/x-mixed-replace\(boundary)") else {
        fatalError("the type is refused")
    }
    var pictures: [[UInt8]] = []
    for piece in pieces {
        guard
            (try? piece.withUnsafeBytes { try reader.read($0) { pictures.append(Array($0)) } })
                != nil
        else { return nil }
    }
    return pictures
}

@Sendable private func multipartSeeds() -> [[UInt8]] {
    [
        "--b\r\nContent-Type: image/jpeg\r\nContent-Length: 4\r\n\r\nabcd\r\n--b\r\n\r\nxy\r\n--b--\r\n",
        "--b\nContent-type:image/jpeg\n\nab\n-\n--\n--bcd\n--b\n\nz",
        "b\r\nContent-Length: 99999999999999999999\r\n\r\nab\r\n--b\r\ncontent-length: -1\r\n\r\n--b\r\n",
        "--b\r\nContent-Type: text/plain\r\n\r\nno\r\n--b\r\n\r\n\u{ff}\u{d8}\r\n--b\r\n",
        "Content-Type: image/jpeg\r\nContent-Length: 4\r\n\r\n\u{ff}\u{d8}ab\u{ff}\u{d9}\r\n--c\n\n",
        "\u{ff}\u{d8}\u{ff}\u{d9}\u{ff}\u{d8}\u{ff}\u{d9}\n\n--b\r\nContent-Length:\n 9\n\u{ff}\u{d8}",
    ].flatMap { text in
        [UInt8(0), 1, 2, 3].map { [$0, 7] + text.unicodeScalars.map { UInt8($0.value) } }
    }
}
