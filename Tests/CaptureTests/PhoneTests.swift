import DualCamCore
import Foundation
import Frames
import Platform
import TestSupport
import Testing

@testable import Capture

@Suite("Phones") struct PhoneTests {
    @Test func onlyPrivateAddressesAreServed() {
        func isPrivate(_ text: String) -> Bool {
            let bytes = text.split(separator: ".").compactMap { UInt8($0) }
            return PrivateAddress.isPrivate(bytes.withUnsafeBytes { $0.load(as: UInt32.self) })
        }
        let yes = [
            "10.0.0.1", "10.255.255.255", "172.16.0.1", "172.31.9.9", "192.168.43.1", "169.254.7.7",
        ]
        let no = [
            "0.0.0.0", "9.255.255.255", "11.0.0.0", "127.0.0.1", "172.15.255.255", "172.32.0.0",
            "192.167.1.1", "192.169.0.1", "169.253.1.1", "8.8.8.8", "100.64.0.1", "255.255.255.255",
        ]
        #expect(yes.allSatisfy(isPrivate))
        #expect(!no.contains(where: isPrivate))
    }

    @Test func aPhoneIsAskedForWhatFillsTheStream() {
        func size(_ width: Int, _ height: Int, isFull: Bool = false) -> String {
            var request = CaptureRequest(size: Size(width: width, height: height), rate: 30)
            request.isFull = isFull
            return "\(PhoneWish(request).size)"
        }
        #expect(size(1920, 1080) == "1920x1080")
        #expect(size(1080, 1920) == "1920x1080", "it may be turned")
        #expect(size(1280, 720, isFull: true) == "1920x1080")
        #expect(size(2560, 1440, isFull: true) == "2560x1440", "no photo is smaller")
    }

    /// The process may be a stranger's by now.
    @Test func newsThatDoNotFitAreNone() {
        let hash = String(repeating: "a0", count: 32)
        #expect(PhoneNews("paired \(hash)") == .paired(hash))
        #expect(PhoneNews("told state=live") == .told(PhoneReport(.live)))
        let none = [
            "", "paired", "paired \(hash)0", "paired " + String(repeating: "é", count: 32),
            "told", "told state=away", "certificate x", "anything",
        ]
        for text in none { #expect(PhoneNews(text) == nil, "\(text)") }
    }

    @Test func theBookKeepsPhonesAndLeavesOutWhatItIsNot() {
        let key = String(repeating: "5f", count: 32)
        let phones = [
            "": PhoneBook.Phone(port: 8447, key: key),
            "work": PhoneBook.Phone(port: 8450, key: key),
        ]
        #expect(PhoneBook.parse(PhoneBook.text(phones)) == phones)
        #expect(PhoneBook.parse("a 80 \(key)\nb 8447 5f\nc 8447\n\n x \(key)\n") == [:])
    }
}
