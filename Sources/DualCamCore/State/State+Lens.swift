package import Frames

/// An event of the lenses of a role's camera.
package enum LensEvent: Hashable, Sendable {
    /// Zooms to a magnification within the role's range, over `duration` seconds. `middle` is the
    /// point of the lens's picture to show in the middle; `nil` keeps the present one.
    case setZoom(Double, middle: NormalizedPoint?, duration: Double)
    /// The incoming device delivers this mode, for want of room on the bus instead of `insteadOf`.
    case streaming(CaptureMode, insteadOf: CaptureMode?)
    /// The incoming lens's pictures are steady, and their exposure has settled.
    case ready
    /// The incoming lens's pictures have replaced those before.
    case crossed
    /// The incoming lens's device does not deliver.
    case interrupted(Interruption)
    /// The device in the pipeline that is not shown was closed.
    case closed
    /// The mean luma of the picture shown.
    case light(Double)
    /// These faces are in the picture shown, in fractions of it.
    case faces([Face])
    /// Devices that failed may be tried again.
    case retry
}

extension State {
    mutating func handle(_ event: LensEvent, of role: Role, at time: Timestamp) -> [Effect] {
        switch event {
        case .setZoom(let zoom, let middle, let duration):
            // A hand on the zoom has the picture, until calm framing is asked for again.
            cameras[role].framing = .off
            setZoom(role, zoom, middle, duration)
        case .streaming(let mode, let unreduced): incomingStreams(role, mode, unreduced)
        case .ready: return incomingReady(role, at: time)
        case .crossed: return crossed(role)
        case .interrupted(let why): return incomingFailed(role, why)
        case .closed:
            if cameras[role].lens.incoming == nil { cameras[role].lens.isOtherOpen = false }
        case .light(let luma):
            let camera = cameras[role]
            guard camera.phase == .streaming, camera.lens.incoming == nil else { break }
            let isAtEnd = camera.controls.isAtDarkEnd
            cameras[role].lens.see(luma, isAtEnd: isAtEnd, at: time)
        case .faces(let faces): see(faces, role, at: time)
        case .retry: cameras[role].lens.failed = []
        }
        return []
    }

    mutating func setZoom(
        _ role: Role,
        _ zoom: Double,
        _ middle: NormalizedPoint?,
        _ duration: Double
    ) {
        precondition(cameras[role].lens.zoomRange.contains(zoom))
        cameras[role].lens.zoom = zoom
        cameras[role].lens.isZoomAsked = true
        cameras[role].lens.zoomNumber += 1
        cameras[role].lens.forgetDark()
        cameras[role].lens.ramp = duration
        guard let middle else { return }
        let factor = cameras[role].lens.wanted.factor
        cameras[role].lens.middle = NormalizedPoint(
            x: 0.5 + (middle.x - 0.5) / factor,
            y: 0.5 + (middle.y - 0.5) / factor
        )
    }

    /// Crops the picture to the faces in it, if they have moved.
    private mutating func see(_ faces: [Face], _ role: Role, at time: Timestamp) {
        let lens = cameras[role].lens
        guard isCalm(role), !scene.framings[role].isMoving(at: time) else { return }
        let factor = scene.framings[role].factor(of: lens.pipeline)
        let part = Rect.unit.scaled(by: 1 / factor)
        let wide = faces.map { Face(box: part.part($0.box), luma: $0.luma) }
        let home = CalmFraming.Shot(zoom: max(lens.zoom, lens.factor), middle: lens.middle)
        let tightness = cameras[role].framingTightness
        cameras[role].calm?.see(wide, tightness: tightness, home: home, at: time)
    }

    /// `true` while the picture follows faces. One that is straightened shows a page.
    private func isCalm(_ role: Role) -> Bool {
        cameras[role].calm != nil && cameras[role].mode != nil && !cameras[role].isFrozen
            && scene.perspectives[role].goal == nil
    }

    /// Returns where to look for the faces that are needed; `nil`: none are.
    package func faceSearch(_ role: Role) -> FaceSearch? {
        let camera = cameras[role]
        let isMetered = camera.metering == .face && camera.mode != nil && !camera.isFrozen
        guard isCalm(role) || isMetered else { return nil }
        return FaceSearch(pipeline: camera.lens.pipeline, transform: camera.transform)
    }

    mutating func findLenses(_ role: Role, _ lenses: [Lens]) {
        let before = cameras[role].lens.present.map(\.device)
        cameras[role].lens.all = lenses.sorted { $0.factor < $1.factor }
        for lens in lenses where lens.isThere && !before.contains(lens.device) {
            cameras[role].lens.failed.remove(lens.device)
        }
        if let own = lenses.first(where: { $0.device == cameras[role].lens.device }) {
            cameras[role].lens.factor = own.deviceFactor
        }
    }

    /// Handles a failure of the device shown: another takes over if one is there and can help.
    mutating func lensFailed(_ role: Role, _ why: Interruption) -> [Effect] {
        let lens = cameras[role].lens
        guard [.unplugged, .notFound, .busy, .denied].contains(why),
            lens.present.contains(where: {
                $0.device != lens.device && !lens.failed.contains($0.device)
            })
        else { return [] }
        cameras[role].lens.failed.insert(lens.device)
        return [.startLensRetry(role)]
    }

    /// Handles a failure of the incoming device.
    mutating func incomingFailed(_ role: Role, _ why: Interruption) -> [Effect] {
        guard var incoming = cameras[role].lens.incoming else { return [] }
        cameras[role].lens.troubled.insert(incoming.device)
        defer { cameras[role].lens.incoming = incoming }
        incoming.mode = nil
        if incoming.isCrossing {
            incoming.failure = why
            return []
        }
        if why == .bandwidth, !incoming.holds, cameras[role].isAsked {
            incoming.holds = true
            return [.closeCamera(role, keepsPicture: true)]
        }
        cameras[role].lens.failed.insert(incoming.device)
        return [.startLensRetry(role)]
    }

    /// Records that the incoming device delivers `mode`. The first time, it gets the manual values
    /// of the device shown, as they are by now.
    mutating func incomingStreams(
        _ role: Role,
        _ mode: CaptureMode,
        _ unreduced: CaptureMode?
    ) {
        guard let incoming = cameras[role].lens.incoming else { return }
        cameras[role].lens.troubled.remove(incoming.device)
        if incoming.mode == nil {
            let controls = carried(cameras[role].controls)
            cameras[role].lens.incoming?.controls = controls
        }
        cameras[role].lens.incoming?.mode = mode
        cameras[role].lens.incoming?.unreducedMode = unreduced
    }

    /// Begins the crossing to the incoming device, whose pictures are ready to be shown.
    mutating func incomingReady(_ role: Role, at time: Timestamp) -> [Effect] {
        guard let incoming = cameras[role].lens.incoming, incoming.mode != nil,
            !incoming.isCrossing, !scene.framings[role].isMoving(at: time), !cameras[role].isFrozen
        else { return [] }
        let camera = cameras[role]
        let next = incoming.factor * incoming.controls.magnification
        let shown = camera.lens.factor * camera.controls.magnification
        // A zoom still on its way back shows less than is wanted, so wait for it, but not for ever.
        let most = max(next, camera.mode == nil ? 0 : shown)
        let since = incoming.waitsSince ?? time
        cameras[role].lens.incoming?.waitsSince = since
        guard
            most <= scene.framings[role].zoom * 1.01
                || (time - since).seconds >= LensState.zoomTimeout
        else { return [] }
        cameras[role].lens.incoming?.isCrossing = true
        let over = scene.framings[role].cross(toFactor: next, at: time)
        return [.startCrossing(role, seconds: (over - time).seconds)]
    }

    /// Ends the crossing: the incoming device is the one shown.
    mutating func crossed(_ role: Role) -> [Effect] {
        guard let incoming = cameras[role].lens.incoming, incoming.isCrossing else { return [] }
        cameras[role].lens.pipeline = cameras[role].lens.pipeline.other
        cameras[role].lens.show(incoming.device, factor: incoming.factor)
        cameras[role].lens.incoming = nil
        cameras[role].controls = incoming.controls
        cameras[role].step = nil
        if let mode = incoming.mode {
            cameras[role].delivery = .streaming(mode, insteadOf: incoming.unreducedMode)
        } else {
            let why = incoming.failure ?? .stalled
            cameras[role].delivery = .failed(
                why,
                reason: "the lens was unplugged while it was being opened"
            )
        }
        // The device was opened in its usual mode.
        switch cameras[role].full {
        case .off: break
        case .left: cameras[role].full = .off
        case .asked, .on:
            cameras[role].full = .asked
            return [.closeLens(role), .adaptCamera(role)]
        }
        return [.closeLens(role)]
    }

    /// Returns the request for the own zoom of the device shown; `nil` if no zoom was ever
    /// requested, and it stays as it was found.
    package func zoomRequest(_ role: Role) -> ZoomRequest? {
        let (camera, lens) = (cameras[role], cameras[role].lens)
        guard lens.isZoomAsked || lens.device != camera.identity else { return nil }
        return zoomRequest(role, factor: lens.factor)
    }

    /// Returns the request for the own zoom of the incoming device; `nil` if there is none.
    package func incomingZoomRequest(_ role: Role) -> ZoomRequest? {
        cameras[role].lens.incoming.flatMap { zoomRequest(role, factor: $0.factor) }
    }

    private func zoomRequest(_ role: Role, factor: Double) -> ZoomRequest {
        var framing = scene.framings[role]
        // Calm framing crops, and moves no lens.
        if cameras[role].calm != nil {
            let lens = cameras[role].lens
            let zoom = max(lens.zoom, lens.factor)
            framing.move(to: zoom, middle: lens.middle, at: .zero, duration: 0)
        }
        return ZoomRequest(
            framing: framing,
            factor: factor,
            number: cameras[role].lens.zoomNumber
        )
    }

    /// Takes over a zoom that another program, or a hand, has set on the device shown, after its
    /// controls were read. Returns `true` if that changes the magnification.
    mutating func readZoom(_ role: Role) -> Bool {
        let (lens, controls) = (cameras[role].lens, cameras[role].controls)
        // Later requests take precedence.
        guard cameras[role].isAsked, controls.isZoomOthers,
            controls.zoomNumber == zoomRequest(role)?.number ?? 0
        else { return false }
        let zoom = lens.factor * controls.magnification
        guard zoom != lens.zoom else { return false }
        cameras[role].framing = .off
        cameras[role].lens.zoom = zoom
        cameras[role].lens.middle = .middle
        cameras[role].lens.isZoomAsked = false
        return true
    }

    /// Makes each camera show, or get ready, the device that can best show what is wanted, and move
    /// to the wanted part of its picture. While a picture is frozen, no other device takes over.
    mutating func followLenses(at time: Timestamp) -> [Effect] {
        var effects: [Effect] = []
        for role in Role.allCases {
            if !cameras[role].isFrozen { effects += chooseLens(role) }
            moveLens(role, at: time)
        }
        return effects
    }

    /// Opens or closes a role's second pipeline, as the wanted device asks for.
    private mutating func chooseLens(_ role: Role) -> [Effect] {
        var effects: [Effect] = []
        let camera = cameras[role]
        var lens = camera.lens
        let wanted = lens.wanted
        if !camera.isAsked {
            if let incoming = lens.incoming {
                if incoming.isCrossing {
                    let shown = lens.factor * camera.controls.magnification
                    scene.framings[role].show(lens.pipeline, factor: shown)
                }
                lens.incoming = nil
                effects.append(.closeLens(role))
            }
            // While the camera is closed, there is no picture to cross over from.
            if wanted.device != lens.device {
                lens.show(wanted.device, factor: wanted.factor)
                cameras[role].controls = carried(camera.controls)
            }
        } else if lens.incoming?.isCrossing != true {
            if wanted.device == lens.device {
                if let incoming = lens.incoming {
                    lens.incoming = nil
                    effects.append(.closeLens(role))
                    if incoming.holds { effects.append(.openCamera(role)) }
                }
            } else if lens.incoming?.device != wanted.device {
                var incoming = IncomingLens(
                    device: wanted.device,
                    factor: wanted.factor,
                    controls: carried(camera.controls)
                )
                incoming.holds = lens.incoming?.holds ?? false
                lens.incoming = incoming
                lens.isOtherOpen = true
                effects.append(.openLens(role))
            }
        }
        cameras[role].lens = lens
        return effects
    }

    /// Moves a role's picture to its wanted part.
    private mutating func moveLens(_ role: Role, at time: Timestamp) {
        let duration =
            cameras[role].lens.ramp ?? cameras[role].calm?.duration ?? LensState.usualDuration
        cameras[role].lens.ramp = nil
        let (camera, lens) = (cameras[role], cameras[role].lens)
        let shown = lens.factor * cameras[role].controls.magnification
        if let incoming = lens.incoming, incoming.isCrossing {
            let next = incoming.factor * incoming.controls.magnification
            let then = (camera.controls.zoomTime, incoming.controls.zoomTime)
            scene.framings[role].magnify(lens.pipeline, shown, at: then.0)
            scene.framings[role].magnify(lens.pipeline.other, next, at: then.1)
            return
        }
        if scene.framings[role].pipeline(at: time) != lens.pipeline {
            scene.framings[role].show(lens.pipeline, factor: shown)
        } else {
            scene.framings[role].magnify(lens.pipeline, shown, at: cameras[role].controls.zoomTime)
        }
        // What is visible when the next lens is ready has to lie within its picture, too.
        if !camera.isAsked, camera.calm != nil { cameras[role].calm = CalmFraming() }
        let shot = isCalm(role) ? cameras[role].calm?.shot : nil
        let zoom = shot?.zoom ?? max(lens.zoom, lens.factor)
        let next = lens.incoming?.factor ?? 0
        let aim = LensState.Aim(
            zoom: zoom,
            middle: shot?.middle ?? lens.middle,
            inside: max(lens.factor, next <= zoom ? next : 0)
        )
        guard aim != lens.aim else { return }
        cameras[role].lens.aim = aim
        // The device's own zoom has no part in calm framing.
        if cameras[role].calm == nil { cameras[role].lens.zoomNumber += 1 }
        scene.framings[role].move(
            to: aim.zoom,
            middle: aim.middle,
            inside: aim.inside,
            at: time,
            duration: camera.isAsked ? duration : 0
        )
    }

    /// Returns the controls for another lens: the same manual values, but with automatic focus, and
    /// nothing held, since its automatic has found nothing yet.
    private func carried(_ controls: CameraControls) -> CameraControls {
        var manual = controls.manual
        manual.focus = nil
        manual.lock = ControlLock()
        return CameraControls(manual: manual, settings: controls.settings)
    }
}
