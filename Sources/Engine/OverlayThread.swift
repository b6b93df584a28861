package import Compositing
package import DualCamCore
package import Frames
package import Platform
import Synchronization

/// The scene as the composite thread shows it, with the words of its notices and the picture of its
/// HUD.
///
/// Words and HUD are drawn on the thread `overlay`: fonts are slow to find, and neither the
/// composite thread nor D-Bus may wait for them. So a notice's words may come a moment after its
/// veil the first time; from then on they are kept. A HUD is drawn each time its content changes;
/// until then the one before stays, moving as before.
package final class OverlayThread: Sendable {
    /// Everything that is shown.
    package struct Content: Sendable {
        package var state: SceneState
        /// The words of each camera's notice; `nil` while they are not drawn.
        package var labels = PerRole<NoticeLabels?>(back: nil, front: nil)
        /// The HUD and its movement.
        package var hud: (state: HudState, picture: HudPicture)?
        package var mark: MarkPicture?
        package var title = TitlePictures()
    }

    private let canvas: Size
    private let content: Mutex<Content>
    /// The words of notices by their English text; `nil` while they are being drawn. Locked before
    /// `content`, and never by the composite thread. Entries are never removed, so that the
    /// composite thread frees no label.
    private let written = Mutex<[String: NoticeLabels?]>([:])
    /// The labels in the two languages before, which the composite thread may be drawing: a frame
    /// takes less time than another change.
    private let former = Mutex<[[NoticeLabels]]>([])
    /// The HUD drawn last and the ones before it, which the composite thread may just have read: so
    /// it never frees one. `nil` is the content of one in another language. Changed on the thread
    /// `overlay` only.
    private let drawn = Mutex<[(content: HudContent?, picture: HudPicture)]>([])
    /// The same of the mark of a recording.
    private let marks = Mutex<[(mark: RecordMark, picture: MarkPicture)]>([])
    /// The same of titles: the last and the ones before it, of which one may be fading out.
    private let titles = Mutex<[(title: ShownTitle, picture: TitlePicture)]>([])
    /// Once `true`, nothing more is drawn.
    private let hasEnded = Atomic(false)
    /// The language of the words, `nil` for English, and its words once they were read. Changed on
    /// the thread `overlay` only.
    private let language: Mutex<(catalogue: Catalogue?, words: [String: String]?)>
    private let worker: LoopWorker<Void>
    private let report: @Sendable (String) -> Void

    /// Starts the thread, and shows `state` on a canvas of this size, with words in `language`;
    /// `nil`: in English. `report` gets, on the thread, words that no font has whole. Throws
    /// `SystemError` without a thread or descriptor left.
    package init(
        _ state: SceneState,
        canvas: Size,
        language: Catalogue? = nil,
        report: @escaping @Sendable (String) -> Void = { _ in }
    ) throws(SystemError) {
        self.canvas = canvas
        self.report = report
        self.language = Mutex((language, nil))
        content = Mutex(Content(state: state))
        worker = try LoopWorker(name: "overlay")
        try worker.start { _ in }
        show(state)
    }

    /// The content to show now. Reading it does not allocate.
    package var current: Content { content.withLock { $0 } }

    /// Shows `state` from now on, and orders the words that are missing.
    package func show(_ state: SceneState) {
        written.withLock { written in
            for role in Role.allCases {
                guard let text = state.notices[role]?.text(for: role) else { continue }
                if written[text] == nil { write(text, &written) }
            }
            put(state, written)
        }
    }

    /// Calls `done` on the thread `overlay` once everything requested up to now is drawn: the next
    /// output frame has it. After `end`, calls it at once on the caller's thread.
    package func whenShown(_ done: @escaping @Sendable () -> Void) {
        if !worker.post({ _ in done() }) { done() }
    }

    /// Ends the thread, waits for it until `deadline`, and returns `true` if it has ended. Call
    /// once. A thread that still looks for fonts goes on by itself until it has found them.
    package func end(by deadline: Timestamp) -> Bool {
        hasEnded.store(true, ordering: .relaxed)
        worker.end()
        if worker.join(until: deadline) { return true }
        worker.leave()
        return false
    }

    /// Call with `written` locked.
    private func write(_ text: String, _ written: inout [String: NoticeLabels?]) {
        written.updateValue(nil, forKey: text)
        worker.post { [self] _ in drawNotice(text) }
    }

    /// Draws the words of the notice `text`. The thread `overlay`.
    private func drawNotice(_ text: String) {
        guard !hasEnded.load(ordering: .relaxed) else { return }
        let words = text.split(separator: "\n").map { translated(String($0)) }
            .joined(separator: "\n")
        check(words)
        let labels = NoticeLabels(words, canvas: canvas)
        written.withLock { written in
            written[text] = labels
            put(content.withLock { $0.state }, written)
        }
    }

    /// Returns `text` in the user's language, or as it is where no font has that whole. The thread
    /// `overlay`.
    private func translated(_ text: String) -> String {
        language.withLock { language in
            let words =
                language.words
                ?? (language.catalogue?.read() ?? [:]).filter {
                    !TitlePicture.lacksFont(for: $0.value)
                }
            language.words = words
            return words[text] ?? text
        }
    }

    /// Shows all words in `language` from now on; `nil`: in English.
    package func speak(_ language: Catalogue?) {
        worker.post { [self] _ in
            guard language != self.language.withLock({ $0.catalogue }) else { return }
            self.language.withLock { $0 = (language, nil) }
            let all = written.withLock { $0 }
            former.withLock { $0 = $0.suffix(1) + [all.values.compactMap(\.self)] }
            for text in all.keys { drawNotice(text) }
            drawn.withLock { $0 = $0.map { (nil, $0.picture) } }
            written.withLock { put(content.withLock { $0.state }, $0) }
        }
    }

    private func put(_ state: SceneState, _ written: [String: NoticeLabels?]) {
        func labels(_ role: Role) -> NoticeLabels? {
            state.notices[role].flatMap { written[$0.text(for: role)] ?? nil }
        }
        let new = PerRole(labels)
        let latest = drawn.withLock { $0.last }
        let latestMark = marks.withLock { $0.last }
        let titles = titles.withLock { $0 }
        var pictures = TitlePictures()
        pictures.wanted = titles.last { $0.title == state.title.wanted }?.picture
        pictures.former = titles.last { $0.title == state.title.former }?.picture
        let isDrawn = latest?.content == state.hud.content
        content.withLock { content in
            content.state = state
            content.labels = new
            if isDrawn { content.hud = latest.map { (state.hud, $0.picture) } }
            content.mark = latestMark?.picture
            content.title = pictures
        }
        if !isDrawn { worker.post { [self] _ in draw() } }
        if pictures.wanted == nil, state.title.wanted != nil {
            worker.post { [self] _ in drawTitle() }
        }
        if latestMark?.mark != state.mark.mark { worker.post { [self] _ in drawMark() } }
    }

    /// Reports `text` if it cannot be drawn.
    private func check(_ text: String) {
        if TitlePicture.lacksFont(for: text) { report(text) }
    }

    /// Draws the present mark of a recording, unless that was done meanwhile. The thread `overlay`.
    private func drawMark() {
        guard !hasEnded.load(ordering: .relaxed),
            let wanted = content.withLock({ $0.state.mark.mark }),
            marks.withLock({ $0.last?.mark }) != wanted
        else { return }
        let picture = MarkPicture(wanted, canvas: canvas)
        written.withLock { written in
            marks.withLock { $0 = $0.suffix(2) + [(wanted, picture)] }
            put(content.withLock { $0.state }, written)
        }
    }

    /// Draws the present title, unless that was done meanwhile. The thread `overlay`.
    private func drawTitle() {
        guard !hasEnded.load(ordering: .relaxed),
            let wanted = content.withLock({ $0.state.title.wanted }),
            !titles.withLock({ $0.contains { $0.title == wanted } })
        else { return }
        check(wanted.title.name + wanted.title.second)
        let picture = TitlePicture(wanted, canvas: canvas)
        written.withLock { written in
            titles.withLock { $0 = $0.suffix(4) + [(wanted, picture)] }
            put(content.withLock { $0.state }, written)
        }
    }

    /// Draws the present HUD, unless that was done meanwhile. The thread `overlay`.
    private func draw() {
        guard !hasEnded.load(ordering: .relaxed),
            let wanted = content.withLock({ $0.state.hud.content }),
            drawn.withLock({ $0.last?.content }) != wanted
        else { return }
        check("0")
        var spoken = wanted
        if let scale = wanted.scale {
            spoken.scale?.name = translated(scale.name)
            spoken.scale?.note = translated(scale.note)
        }
        let picture = HudPicture(spoken, canvas: canvas)
        written.withLock { written in
            drawn.withLock { $0 = $0.suffix(2) + [(wanted, picture)] }
            put(content.withLock { $0.state }, written)
        }
    }
}
