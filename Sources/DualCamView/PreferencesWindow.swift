import Frames
import GTK

/// The preferences. All of it can be set elsewhere, too: by `dualcamctl` and in dualcam.toml.
final class PreferencesWindow: SideWindow {
    private let rows: PreferenceRows
    private let cameras: CamerasPage
    private let picture: PicturePage
    private let scenes: ScenesPage
    private let doctor: DoctorGroup
    private var following: MainLoop.Timer?

    init(over owner: PictureWindow) {
        rows = PreferenceRows(owner)
        cameras = CamerasPage(rows)
        picture = PicturePage(rows)
        scenes = ScenesPage(rows)
        doctor = DoctorGroup(rows)
        super.init(
            over: owner,
            Window(
                owner.application,
                preferences: "Preferences",
                size: Size(width: 860, height: 700),
                [
                    cameras.page, picture.page, scenes.page, rows.recordingPage,
                    PreferencesPage("Apps", icon: icon("apps"), doctor.groups), rows.generalPage,
                ],
                wrapped: rows.toast.over
            )
        )
        rows.window = window
        window.style("preferences")
        rows.follow()
        window.present()
        show()
        following = MainLoop.Timer(every: 0.1) { [unowned self] in show() }
    }

    override func follow() { rows.follow() }

    override func closed() {
        following = nil
        rows.end()
        owner.keys?.onChange = {}
    }

    /// Shows what the cameras see now, on the page that is seen.
    private func show() {
        let pages = [(cameras.page, cameras.show), (picture.page, picture.show)]
        let seen = (pages + [(scenes.page, scenes.show)]).first { $0.0.isMapped }
        rows.pictures.update(isWatched: seen != nil && !window.isMinimized)
        seen?.1()
    }
}
