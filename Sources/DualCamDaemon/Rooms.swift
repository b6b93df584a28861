import Capture
import DualCamCore
import Engine
import Frames
import Imaging
import Platform

/// Tells the cameras' slots how to hide the rooms behind persons, and has the pictures read that
/// are shown instead of them, or of cameras that are off. Until one for a room is read, and if it
/// cannot be, all is hidden.
@MainActor
final class Rooms {
    private enum Picture {
        case awaited
        case read(Frame)
        case unreadable(reason: String)
    }

    private let slots: PerRole<PerPipeline<FrameSlot>>
    private let mailbox: EventLoop.Mailbox
    private var looks = PerRole(back: RoomLook(), front: RoomLook())
    private var fade = 0.0
    /// The pictures that are shown, by their paths.
    private var pictures: [String: Picture] = [:]
    /// The file of the picture that is shown while the cameras are off; `nil`: none.
    private var away: String?
    /// The pictures in which each camera's thread looks for persons.
    var steps = PerRole(back: RoomPace.Step.each, front: .each)
    /// Called when a picture was read, or not.
    var onChange: () -> Void = {}
    /// Called with the picture for when the cameras are off, and its file.
    var onAway: (Frame, String) -> Void = { _, _ in }

    init(_ slots: PerRole<PerPipeline<FrameSlot>>, _ mailbox: EventLoop.Mailbox) {
        (self.slots, self.mailbox) = (slots, mailbox)
    }

    /// Hides the room in the pictures of `role` as `look` says, in `fade` seconds from now on.
    func show(_ look: RoomLook, of role: Role, fade: Double = 0) {
        looks[role] = look
        self.fade = fade
        readMissing()
        cover(role)
    }

    /// Reads the picture for when the cameras are off.
    func show(away path: String?) {
        away = path
        readMissing()
        if let path { offerAway(path) }
    }

    private func offerAway(_ path: String) {
        if case .read(let picture)? = pictures[path] { onAway(picture, path) }
    }

    private func readMissing() {
        let paths = Set((Role.allCases.map { looks[$0].room.path } + [away]).compactMap { $0 })
        for path in pictures.keys where !paths.contains(path) { pictures[path] = nil }
        for path in paths where pictures[path] == nil { read(path) }
    }

    var problems: [String] {
        var problems: [String] = []
        if case .unreadable(let reason)? = away.flatMap({ pictures[$0] }) {
            problems = ["The picture for when the cameras are off is not shown: \(reason)"]
        }
        return problems + Role.allCases.compactMap(problem)
    }

    private func problem(of role: Role) -> String? {
        let isCutOut = looks[role].room == .asIs
        let thing = isCutOut ? "person" : "room"
        let name = "The \(thing) in the \(role.rawValue) camera’s picture"
        if case .unreadable(let reason)? = looks[role].room.path.flatMap({ pictures[$0] }) {
            return "\(name) is blurred, and you with it: \(reason)"
        }
        return switch steps[role] {
        case .each: nil
        case .everySecond:
            "\(name) is \(isCutOut ? "cut out" : "hidden") less exactly, since this computer is "
                + "too slow."
        case .none:
            "\(name) is \(isCutOut ? "not shown" : "blurred, and you with it"), since this "
                + "computer is too slow. DualCam tries again each minute."
        }
    }

    private func cover(_ role: Role) {
        let look = looks[role]
        var cover = RoomCover(blur: look.blur, transform: look.transform)
        cover.fade = fade
        switch look.room {
        case .asIs: cover.showsRoom = true
        case .blur: break
        case .picture(let path):
            if case .read(let picture)? = pictures[path] {
                cover.picture = picture
            } else {
                (cover.blur, cover.hidesAll) = (1, true)
            }
        }
        for pipeline in CapturePipeline.allCases { slots[role][pipeline].hideRoom(by: cover) }
    }

    /// Reads a picture on a thread of its own: its disk may not answer.
    private func read(_ path: String) {
        pictures[path] = .awaited
        let mailbox = mailbox
        let thread = try? Thread(name: "file") {
            let picture: Picture
            do throws(CaptureError) {
                picture = .read(try Frame(reading: expandingHome(path)))
            } catch {
                picture = .unreadable(reason: "\(error)")
            }
            mailbox.onMain { self.take(picture, from: path) }
        }
        guard let thread else { return take(.unreadable(reason: "no thread is left"), from: path) }
        thread.detach()
    }

    private func take(_ picture: Picture, from path: String) {
        // Another one may be wanted by now.
        guard pictures[path] != nil else { return }
        pictures[path] = picture
        for role in Role.allCases where looks[role].room.path == path { cover(role) }
        if path == away { offerAway(path) }
        onChange()
    }
}

extension Room {
    fileprivate var path: String? { if case .picture(let path) = self { path } else { nil } }
}

extension Frame {
    /// Reads the picture in the file at `path`. Waits for the disk.
    fileprivate init(reading path: String) throws(CaptureError) {
        let size = Size(width: 1920, height: 1080)
        let stream = try FileSource(path: path).open(CaptureRequest(size: size, rate: 1))
        let bell: Bell
        do throws(SystemError) { bell = try Bell() } catch {
            throw CaptureError(.system, "eventfd", errno: error.errno)
        }
        let deadline = MonotonicClock.now + Timestamp(seconds: 1)
        switch try stream.next(until: deadline, bell: bell) {
        case .frame(let frame): self = frame
        case .jpeg(let jpeg):
            guard let frame = jpeg.decoded() else { fallthrough }
            self = frame
        default: throw CaptureError(.unreadable, "read", path, detail: "it is damaged")
        }
    }
}
