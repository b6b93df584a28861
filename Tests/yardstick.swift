// The file that `tools/part` compiles again and again, to say how fast the machine is meanwhile.
// The numbers in Tests/budget hold for this text: with another, each must be measured again.
let words = (0..<200).map { "word \($0)" }
var places: [String: [Int]] = [:]
for (place, word) in words.enumerated() {
    places[String(word.reversed()), default: []].append(place)
}
let sorted = places.sorted { one, other in
    one.value.count == other.value.count
        ? one.key < other.key : one.value.count < other.value.count
}
let lines = sorted.map { word, places in
    "\(word): \(places.map(String.init).joined(separator: ", "))"
}
print(lines.joined(separator: "\n"))
