import Capture
import DualCamCore
import Engine
import Frames
import Imaging
import Logging
import PipeWire
import Platform

/// The threads that the daemon owns, and what they have in common.
@MainActor
final class Threads {
    enum Report: Sendable {
        case capture(Role, CapturePipeline, CaptureThread.Report, device: String)
        case controls(Role, CameraControls, of: String)
        case composite(Role?, CompositeThread.Event)
        case cameras([CameraDevice])
        case pipeWire(PipeWireFollower.Report)
        case mirror(LoopbackMirror.Report)
        case faces(Role, [Face], in: FaceSearch)
        case phones(PhoneEvent, reason: String?)
    }

    /// The purpose for which pictures are recorded.
    enum Purpose: CaseIterable {
        case recording
        case livePhotos
    }

    /// The threads that keep time.
    let timed = RealTimeThreads()
    let slots: PerRole<PerPipeline<FrameSlot>>
    private(set) var capture: PerRole<PerPipeline<CaptureThread>>?
    private(set) var controls: PerRole<PerPipeline<ControlThread>>?
    private(set) var composite: CompositeThread?
    private(set) var cameras: CameraWatch?
    private(set) var pipeWire: PipeWireFollower?
    private(set) var mirror: LoopbackMirror?
    private(set) var phones = Phones()
    private var photos: PhotoThread?
    private var pages: LoopWorker<Void>?
    private var faces: [Role: FaceThread] = [:]
    /// The callers for whom it looks for pages, or will.
    private var pageCallers: Set<String> = []
    /// The consumers of each recorded picture, by purpose.
    private var taps: [RecordedPicture: [Purpose: any FrameTap]] = [:]
    /// The number of composite threads and mirrors so far: what earlier ones report is outdated.
    private var (composites, mirrors) = (0, 0)
    private let bell: Bell
    private let mailbox: EventLoop.Mailbox
    var handle: (Report) -> Void = { _ in }

    /// Creates the room for the threads. Throws `SystemError` when out of descriptors.
    init(_ loop: EventLoop) throws(SystemError) {
        mailbox = loop.mailbox
        let bell = try Bell()
        self.bell = bell
        slots = PerRole { _ in PerPipeline(a: FrameSlot(bell: bell), b: FrameSlot(bell: bell)) }
        let mailbox = mailbox
        phones = Phones(timed: timed) { [unowned self] event, reason in
            mailbox.onMain { self.handle(.phones(event, reason: reason)) }
        }
    }

    func startCapture() throws(SystemError) {
        capture = try PerRole { role throws(SystemError) in
            PerPipeline(a: try captureThread(role, .a), b: try captureThread(role, .b))
        }
    }

    /// Starts those of controls, and the one that looks for cameras.
    func startOthers() throws(SystemError) {
        let mailbox = mailbox
        controls = try PerRole { role throws(SystemError) in
            PerPipeline(a: try controlThread(role, .a), b: try controlThread(role, .b))
        }
        cameras = try CameraWatch { found in mailbox.onMain { self.handle(.cameras(found)) } }
        pipeWire = try PipeWireFollower { report in
            mailbox.onMain { self.handle(.pipeWire(report)) }
        }
    }

    private func captureThread(
        _ role: Role,
        _ pipeline: CapturePipeline
    ) throws(SystemError) -> CaptureThread {
        let mailbox = mailbox
        return try CaptureThread(
            role: role,
            pipeline: pipeline,
            slot: slots[role][pipeline],
            timed: timed
        ) { report, device in
            mailbox.onMain { self.handle(.capture(role, pipeline, report, device: device)) }
        }
    }

    private func controlThread(
        _ role: Role,
        _ pipeline: CapturePipeline
    ) throws(SystemError) -> ControlThread {
        let mailbox = mailbox
        return try ControlThread(
            role: role,
            pipeline: pipeline,
            records: RuntimeDirectory.path.map { "\($0)/held" }
        ) { identity, controls in
            mailbox.onMain { self.handle(.controls(role, controls, of: identity)) }
        }
    }

    /// Starts a thread that composites `scene` in place of the former: a node's mode never changes.
    func startComposite(_ scene: SceneState, _ configuration: Configuration) throws(SystemError) {
        composite?.end()
        composite = nil
        composites += 1
        let (mailbox, number) = (mailbox, composites)
        composite = try CompositeThread(
            scene: scene,
            slots: slots,
            bell: bell,
            settings: PipeWireNode.Settings(configuration),
            language: Catalogue(configuration.language),
            timed: timed
        ) { role, event in
            mailbox.onMain {
                // A new consumer of an earlier node, say, would keep cameras open for no one.
                if number == self.composites { self.handle(.composite(role, event)) }
            }
        }
        if let tap = tap(of: .stream) { composite?.record(tap) }
    }

    /// Starts a mirror of the stream, if `configuration` asks for one, in place of the one before.
    func startMirror(_ configuration: Configuration, isPublished: Bool) {
        mirror?.end()
        mirror?.leave()
        mirror = nil
        mirrors += 1
        let (mailbox, number, output) = (mailbox, mirrors, configuration.output)
        let device: String
        switch configuration.loopback {
        case .none: return
        case .auto: device = "auto"
        case .path(let path): device = path
        }
        do throws(SystemError) {
            mirror = try LoopbackMirror(
                to: device,
                of: output.nodeName,
                size: output.size,
                rate: output.frameRate
            ) { report in
                report.log()
                mailbox.onMain { if number == self.mirrors { self.handle(.mirror(report)) } }
            }
            mirror?.follow(isPublished: isPublished)
        } catch {
            Log.publish.error("no loopback", metadata: ["reason": "\(error)"])
        }
    }

    /// Ends all threads. Returns `false` if one still runs at `deadline`: a camera that does not
    /// answer has not closed in time, or fonts are still being looked for.
    func end(by deadline: Timestamp) -> Bool {
        let pipelines = Role.allCases.flatMap { role in
            CapturePipeline.allCases.map { (role, $0) }
        }
        for (role, pipeline) in pipelines {
            capture?[role][pipeline].end()
            controls?[role][pipeline].end()
        }
        cameras?.end()
        pipeWire?.end()
        mirror?.end()
        photos?.end()
        pages?.end()
        for role in Role.allCases { findFaces(role, nil) }
        var hasEnded = composite?.end(by: deadline) ?? true
        var areClosed = true
        for (role, pipeline) in pipelines {
            areClosed = (capture?[role][pipeline].wait(until: deadline) ?? true) && areClosed
            areClosed = (controls?[role][pipeline].wait(until: deadline) ?? true) && areClosed
        }
        if !areClosed { Log.capture.warning("a camera does not close") }
        for isOver in [
            phones.end(by: deadline), mirror?.wait(until: deadline), pages?.join(until: deadline),
            photos?.wait(until: deadline), pipeWire?.wait(until: deadline),
            cameras?.wait(until: deadline),
        ] { hasEnded = (isOver ?? true) && hasEnded }
        return hasEnded && areClosed
    }

    // MARK: Pictures

    /// Passes every frame of `picture` to `tap` from now on, or to none for `purpose` if `tap` is
    /// `nil`. A camera's are those in `pipeline`.
    func record(
        _ picture: RecordedPicture,
        _ tap: (any FrameTap)?,
        for purpose: Purpose,
        from pipeline: (Role) -> CapturePipeline
    ) {
        taps[picture, default: [:]][purpose] = tap
        let all = self.tap(of: picture)
        guard let role = picture.role else { return composite?.record(all) ?? () }
        slots[role][pipeline(role)].tap(all)
    }

    /// Passes the frames of the camera of `role` on from `new`, and no more from `old`.
    func moveTap(_ role: Role, from old: CapturePipeline, to new: CapturePipeline) {
        slots[role][old].tap(nil)
        slots[role][new].tap(tap(of: RecordedPicture(role)))
    }

    /// Returns the consumer of `picture`: `nil`, one, or one that passes frames on to both.
    private func tap(of picture: RecordedPicture) -> (any FrameTap)? {
        let found = Purpose.allCases.compactMap { taps[picture]?[$0] }
        return found.count < 2 ? found.first : FrameTaps(found)
    }

    /// Takes photographs for the program `owner`. `taken` and `done` are called on other threads.
    func takePhotos(
        _ stills: [PhotoThread.StillRequest],
        to destination: PhotoWriter.Destination,
        for owner: String,
        taken: @escaping @Sendable () -> Void,
        done: @escaping @Sendable (Result<[PhotoThread.Photo], PhotoThread.Failure>) -> Void
    ) {
        do throws(SystemError) {
            let thread = if let photos { photos } else { try PhotoThread() }
            photos = thread
            thread.take(stills, to: destination, for: owner, taken: taken, done: done)
        } catch {
            done(.failure(.file(error)))
        }
    }

    /// Looks for a page in the picture in `slot`; `done` gets the likeliest, if any. Returns
    /// `false`, and does nothing, while it looks for `caller` already or if no thread is left.
    func findPage(
        in slot: FrameSlot,
        for caller: String,
        done: @escaping @MainActor (FoundPage?) -> Void
    ) -> Bool {
        guard !pageCallers.contains(caller) else { return false }
        if pages == nil {
            let worker = try? LoopWorker<Void>(name: "page")
            guard let worker, (try? worker.start { _ in }) != nil else { return false }
            pages = worker
        }
        pageCallers.insert(caller)
        let mailbox = mailbox
        pages?.post { _ in
            let page = slot.still().flatMap { PageFinder.find(in: $0) }
            mailbox.onMain {
                self.pageCallers.remove(caller)
                done(page)
            }
        }
        return true
    }

    /// Looks for faces in the picture of `role` from now on, as `search` says; `nil`: no more.
    func findFaces(_ role: Role, _ search: FaceSearch?) {
        faces.removeValue(forKey: role)?.end()
        guard let search else { return }
        let mailbox = mailbox
        do throws(SystemError) {
            faces[role] = try FaceThread(
                named: "faces-\(role.rawValue)",
                in: slots[role][search.pipeline],
                search.transform
            ) { found in
                mailbox.onMain { self.handle(.faces(role, found, in: search)) }
            }
        } catch {
            Log.capture.error("no thread for faces", metadata: ["reason": "\(error)"])
        }
    }

    /// Calls `answer` on the main thread after a round of the composite thread's loop.
    func pingComposite(_ answer: @escaping @MainActor @Sendable () -> Void) {
        let mailbox = mailbox
        composite?.ping { mailbox.onMain { answer() } }
    }
}
