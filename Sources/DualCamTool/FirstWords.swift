import DualCamCore

/// The words that people try first where there is no such verb, and what leads on.
enum FirstWords {
    /// Words, and the sentence about them.
    private static let sentences: [(words: [Substring], text: Substring)] = """
        brightness brighter bright darker dark lighter exposure compensation: To make a picture \
        lighter or darker: dualcamctl ev +0.5, or dualcamctl image brightness +10
        contrast gamma backlight sharp sharpness saturation hue: To set what the camera itself does \
        to its picture: dualcamctl image contrast 60%
        readable scan document paper: To make writing easy to read: dualcamctl ink on
        blur bokeh background backdrop virtual greenscreen: To blur what is behind you, or show a \
        picture there: dualcamctl room blur, or room FILE. `background` in the configuration is \
        what surrounds a picture of another shape.
        timer countdown selfie delay self-timer: To take a photograph in three seconds: dualcamctl \
        photo --in 3
        who viewers viewer watchers consumers apps clients info state health: To see which apps \
        take the stream, and how it is: dualcamctl status
        flip flipped reverse invert hflip vflip: To flip a picture: dualcamctl mirror toggle, or \
        dualcamctl rotate 180
        devices device list ls webcams cams detect sources inputs: To list the devices: \
        dualcamctl cameras --all
        preview window gui open watch look display ui: To see the picture in a window: dualcamctl \
        view
        pause hold freeze-frame still: To keep a picture still: dualcamctl freeze on. To turn the \
        cameras off: dualcamctl privacy on. To pause a recording: dualcamctl record pause
        hide blank black cover off disable camera-off block shutter-close: To turn the cameras \
        off and stay in the call: dualcamctl privacy on
        unhide resume on unblock continue: To turn the cameras on again: dualcamctl privacy off. \
        To go on recording: dualcamctl record resume
        mute unmute mic microphone audio sound volume: DualCam has no sound in calls: mute it in \
        the app. For a recording without sound: dualcamctl record start --no-audio
        snapshot picture shot capture screenshot take snap grab pic image: To take a photo: \
        dualcamctl photo
        video film rec movie recording: To record, or stop: dualcamctl record toggle
        switch change exchange other camera cam: To swap the two pictures: dualcamctl swap
        name text caption label overlay: To show your name: dualcamctl title "Ada Lovelace"
        full fullscreen alone solo large big: To show one picture alone: dualcamctl layout single
        split both half halves side-by-side pip stacked single grid: To arrange the pictures: \
        dualcamctl layout side-by-side, or pip, stacked, single
        corner size move resize: To move or resize the inset: dualcamctl inset --size 0.3
        shape round circle: To make the inset round: dualcamctl inset --shape circle
        cutout cut-out weatherman: To stand before the other picture: dualcamctl inset \
        --shape person
        face faces track tracking autoframe: To have the picture follow you: dualcamctl framing \
        calm. For light on your face: dualcamctl metering face
        pan tilt move-camera ptz: To turn a camera that can: dualcamctl image pan +5%. To show a \
        part: dualcamctl zoom 2 --at 0.3,0.5
        crop magnify closer wider zoom-in zoom-out in out: To show a part: dualcamctl \
        zoom 2 --at 0.3,0.5. To show all: dualcamctl zoom 1
        resolution quality fps framerate rate width height format codec bitrate: The stream's \
        size and rate are in the configuration, in [output]: dualcamctl config show
        light flash lamp led flashlight ringlight: To turn a light on: dualcamctl torch on
        page keystone straighten straight deskew trapezoid unskew: To straighten a page: \
        dualcamctl perspective auto
        turn rotation upside-down orient-camera: To turn a picture: dualcamctl rotate 90
        temperature white-balance whitebalance colour color tint warmth: To set \
        the colours: dualcamctl wb 5500K, or dualcamctl wb auto
        gain sensitivity noise: To set the sensitivity: dualcamctl iso 400, or iso auto
        autofocus af blurry: To set the focus: dualcamctl focus auto
        quit exit kill end shutdown terminate close: To end the stream: dualcamctl stop
        enable run launch begin daemon: To start the stream: dualcamctl start
        undo revert defaults default: To go back to the configuration: dualcamctl reset
        log logs journal debug verbose: To read the log: journalctl --user -u dualcamd
        events follow tail: To follow what happens: dualcamctl monitor
        gallery photos movies recordings files pictures videos library: To list photos and \
        movies: dualcamctl media list
        scenes preset presets profile profiles: To list the scenes: dualcamctl scene list
        away brb back-soon: To show a scene: dualcamctl scene away
        talk: To show a scene: dualcamctl scene talk
        presenter: To show a scene: dualcamctl scene presenter
        demo: To show a scene: dualcamctl scene demo
        select choose input source set-camera usb ip url network: To choose a camera: \
        dualcamctl use back DEVICE
        iphone android mobile smartphone qr pair: To use a phone as a camera: dualcamctl phone
        settings preferences options configure setup conf edit: To see the settings: dualcamctl \
        config show
        test check diagnose fix repair why: To find what is wrong: dualcamctl doctor
        keys shortcuts hotkeys bind: For keys, see `examples` and the page docs/scripts.md.
        icon systray notification menu: To show DualCam in the tray: dualcamctl tray
        values numbers osd: To show the camera's values in the picture: dualcamctl hud always
        """.split(separator: "\n").map { line in
            let colon = line.firstIndex(of: ":") ?? line.endIndex
            return (line[..<colon].split(separator: " "), line[colon...].dropFirst(2))
        }

    /// Returns the sentence about `word`; `nil` if it says nothing.
    static func sentence(_ word: String) -> String? {
        let word = word.lowercased()
        return sentences.first { $0.words.contains { $0 == word } }.map { String($0.text) }
    }

    /// The verbs that take the camera from apps: they are never guessed.
    private static let serious: Set = ["stop", "toggle", "privacy", "reset", "restore"]

    /// Returns the one of `known` that `word` nearly certainly means: one letter is wrong, or it is
    /// the beginning of this one alone, and it has no sentence.
    static func guess(_ word: String, among known: [String]) -> String? {
        let longer = known.filter { word.count > 1 && $0.hasPrefix(word) }
        let near = known.filter { word.count > 2 && $0.distance(to: word) <= 1 }
        guard let guess = longer.count == 1 ? longer.first : near.count == 1 ? near.first : nil,
            !serious.contains(guess), sentence(word) == nil
        else { return nil }
        return guess
    }
}
