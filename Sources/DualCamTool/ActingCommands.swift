import ArgumentParser
import Control
import DBusKit
import DualCamCore

// Each command does one thing without output, or prints the new state as JSON.

/// Calls a method of `Stream`.
private func drive(
    _ method: KeyPath<StreamInterface, MethodMember<Void, NoOptions, Void>>,
    _ options: CommonOptions
) throws {
    let client = try Client()
    try client.call(method)
    try options.answer([("state", JSON(try client.get(\StreamInterface.state)))])
}

struct Start: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Offer the stream to apps as a camera."
    )
    @OptionGroup var options: CommonOptions
    func run() throws { try drive(\.start, options) }
}

struct Stop: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Stop offering the stream. A recording continues."
    )
    @OptionGroup var options: CommonOptions
    func run() throws { try drive(\.stop, options) }
}

struct Toggle: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Stop the stream, or start it again."
    )
    @OptionGroup var options: CommonOptions

    func run() throws {
        try drive(\.toggle, options)
        if !options.json { Output.write("\(try Client().get(\StreamInterface.state).printable)\n") }
    }
}

struct Restore: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Bring the window that shows the stream to the front."
    )
    @OptionGroup var options: CommonOptions
    func run() throws { try drive(\.restore, options) }
}

struct ResetAll: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reset",
        abstract: "Go back to the configuration, and forget later changes.",
        discussion: "Privacy and recording are not affected."
    )
    @OptionGroup var options: CommonOptions
    func run() throws { try drive(\.reset, options) }
}

struct SwapPictures: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "swap",
        abstract: "Swap the main picture and the inset."
    )
    @Flag(help: "Go back to the look in the configuration instead.")
    var reset = false
    @Flag(help: "Skip the transition.")
    var instant = false
    @OptionGroup var options: ChangeOptions

    func run() throws {
        let client = try Client()
        var transition = Options<SceneInterface.Transition>()
        if instant { transition.instant = true }
        if reset {
            try client.call(\SceneInterface.reset, options: transition)
        } else {
            try client.call(\SceneInterface.swap, options: transition)
        }
        try options.waitIfAsked(client)
        let scene = try client.getAll(of: SceneInterface.self)
        let main = Role(scene[\.main])?.rawValue ?? ""
        options.answer(nil, main, [("swapped", JSON(scene[\.swapped])), ("main", .string(main))])
    }
}

extension Corner: ExpressibleByArgument {}

struct Inset: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Show, hide, move, resize or shape the inset."
    )

    @Argument(
        help: "show, hide or toggle. Not needed with an option.",
        completion: .list(["show", "hide", "toggle"])
    )
    var verb: String?
    @Option(
        help: "Make it a rectangle, a circle, a person without the room, or the next.",
        completion: .list(InsetShape.allCases.map(\.rawValue) + ["next"])
    )
    var shape: String?
    @Option(
        help: "Move it to this corner, or to the next.",
        completion: .list(Corner.allCases.map(\.rawValue) + ["next"])
    )
    var corner: String?
    @Option(
        help: """
            Move it to this place, such as 0.5,0.8: two numbers from 0 to 1, which count from the \
            top left corner.
            """
    )
    var at: String?
    @Option(
        help: """
            Make it this wide: 0.1 to 0.5 of the stream's width, or 10% to 50%, and a person up to \
            100%; with a sign, such as +0.05, relative to the current value.
            """
    )
    var size: String?
    @OptionGroup var options: ChangeOptions

    private func changes() throws -> [(verb: PropertyVerb, change: PropertyVerb.Change)] {
        let word = verb.flatMap { ["show": "on", "hide": "off", "toggle": "toggle"][$0] }
        try expect(
            verb == nil || word != nil,
            "Expected show, hide or toggle, not \"\(verb ?? "")\"."
        )
        let rows: [(String, (String) -> PropertyVerb.Text, String?)] = [
            ("InsetShape", PropertyVerb.Text.row("inset-shape"), shape),
            ("InsetCorner", PropertyVerb.Text.row("inset-corner"), corner),
            ("InsetPosition", PropertyVerb.Text.point, at),
            ("InsetSize", PropertyVerb.Text.row("inset-size"), size),
            ("InsetVisible", PropertyVerb.Text.onOff, word),
        ]
        return try rows.compactMap { property, text, given in
            let verb = PropertyVerb("inset", "", of: SceneInterface.self, [property], text: text)
            return try given.map { (verb, try verb.change($0)) }
        }
    }

    func validate() throws { _ = try changes() }

    func run() throws {
        let client = try Client()
        let changes = try changes()
        for (verb, change) in changes { try verb.make(change, client) }
        if !changes.isEmpty { try options.waitIfAsked(client) }
        // What is to be hidden needs no advice.
        client.tellObstacles(to: verb == "hide" ? [] : changes.map(\.verb.property), nil)
        let scene = try client.getAll(of: SceneInterface.self, startsService: !changes.isEmpty)
        let (corner, size) = (scene[\.insetCorner] ?? "", scene[\.insetSize] ?? 0)
        let (position, shape) = (scene[\.insetPosition], scene[\.insetShape])
        options.answer(
            nil,
            """
            \(scene[\.insetVisible] == true ? "shown" : "hidden"), \
            \(PropertyVerb.Text.place(corner, position)), \
            \((size * 100).tidy) %\(shape.map { ", \($0)" } ?? "")
            """,
            [
                ("insetVisible", JSON(scene[\.insetVisible])),
                ("insetCorner", JSON(corner)), ("insetPosition", JSON(position)),
                ("insetSize", JSON(size)),
                ("insetShape", JSON(shape)),
            ]
        )
    }
}
