/// Small pictures of a camera, for a program that lets people choose one.
package struct Preview: Hashable, Sendable {
    /// The number, which no other preview ever has.
    package let number: Int
    /// The identity of the device.
    package let device: String
    /// The role whose camera the device is, and whose pictures are passed on; `nil` for a device
    /// that is opened for the preview.
    package let role: Role?
    /// The program that gets the pictures.
    package let program: String
    /// `true` once its end was asked for. Its device may be open still.
    package internal(set) var isEnding = false

    package init(number: Int, device: String, of role: Role? = nil, program: String) {
        (self.number, self.device, self.role, self.program) = (number, device, role, program)
    }
}

/// The previews, and what waits for their end.
package struct PreviewsState: Hashable, Sendable {
    /// The previews whose devices are open, or may be.
    package internal(set) var open: [Preview] = []
    /// The numbers of those whose program has left.
    var left: Set<Int> = []
    /// The roles whose camera, or whose incoming lens, is to be opened once its preview has ended.
    var heldCameras: Set<Role> = []
    var heldLenses: Set<Role> = []

    /// The largest number of previews of one program, and of all.
    package static let (mostOfOne, most) = (6, 8)

    /// Returns `true` while `device` is open for a preview, or may be.
    func have(_ device: String?) -> Bool {
        open.contains { $0.role == nil && $0.device == device }
    }
}

/// An event of a preview.
package enum PreviewEvent: Hashable, Sendable {
    /// It begins: from now on its device may be open.
    case begun(Preview)
    /// The program of the preview with this number has left.
    case left(number: Int)
    /// The device of the preview with this number is closed, for good.
    case closed(number: Int)
}

/// The reason that there is no preview of a device.
package enum PreviewRefusal: Hashable, Sendable {
    /// No camera may be open.
    case suspended(Suspension)
    /// It is the camera of this role, which does not deliver, or is that no more.
    case lost(Role)
    /// It is the camera of this role, or a lens of it.
    case used(Role)
    /// The bus has no room for the cameras that are in use.
    case noRoom
    /// It has one already.
    case doubled
    /// This program has as many as it may.
    case tooManyOfOne
    /// All programs together have as many as they may.
    case tooMany
}

/// Previews never keep a role from its camera.
extension State {
    mutating func handle(_ event: PreviewEvent) {
        switch event {
        case .begun(let preview): previews.open.append(preview)
        case .left(let number):
            if previews.open.contains(where: { $0.number == number }) {
                previews.left.insert(number)
            }
        case .closed(let number):
            previews.open.removeAll { $0.number == number }
            previews.left.remove(number)
        }
    }

    /// Returns `true` while the camera of `role` is to be open for a preview.
    func isPreviewed(_ role: Role) -> Bool {
        previews.open.contains { $0.role == role && $0.device == cameras[role].identity }
    }

    /// Returns the reason that `program` gets no preview of `device`, the camera of `role` if there
    /// is one, now; `nil` if it may have one.
    package func refusal(
        ofPreviewOf device: String,
        in role: Role? = nil,
        for program: String
    ) -> PreviewRefusal? {
        if let refusal = refusal(ofPreviewOf: device, in: role) { return refusal }
        if role == nil, previews.have(device) { return .doubled }
        if previews.open.count(where: { $0.program == program }) >= PreviewsState.mostOfOne {
            return .tooManyOfOne
        }
        return previews.open.count >= PreviewsState.most ? .tooMany : nil
    }

    /// Returns why nobody can have a preview of `device`, and an open one ends; `nil` if they can.
    private func refusal(ofPreviewOf device: String, in role: Role?) -> PreviewRefusal? {
        if let why = suspensions.min(by: { $0.rawValue < $1.rawValue }) { return .suspended(why) }
        if let role {
            let isLost = [.interrupted, .unavailable].contains(cameras[role].phase)
            return isLost || cameras[role].identity != device ? .lost(role) : nil
        }
        if let role = Role.allCases.first(where: { cameras[$0].uses(device) }) {
            return .used(role)
        }
        let isNarrow = Role.allCases.contains { cameras[$0].interruption == .bandwidth }
        return isNarrow ? .noRoom : nil
    }

    /// Ends the previews that may not go on, and returns `effects` in an order that devices allow:
    /// a camera that is still being previewed is opened once that has ended.
    mutating func endPreviews(_ effects: [Effect]) -> [Effect] {
        // Nearly always: nobody chooses a camera.
        guard
            !previews.open.isEmpty || !previews.heldCameras.isEmpty
                || !previews.heldLenses.isEmpty
        else { return effects }
        var result: [Effect] = []
        for index in previews.open.indices where !previews.open[index].isEnding {
            let preview = previews.open[index]
            guard
                previews.left.contains(preview.number)
                    || refusal(ofPreviewOf: preview.device, in: preview.role) != nil
            else { continue }
            previews.open[index].isEnding = true
            result.append(.endPreview(number: preview.number))
        }
        for effect in effects where !holds(effect) { result.append(effect) }
        return result + releaseHeld()
    }

    /// Returns `true` if `effect` opens a device that is being previewed, and has to wait.
    private mutating func holds(_ effect: Effect) -> Bool {
        switch effect {
        case .openCamera(let role):
            let isHeld = previews.have(cameras[role].lens.device)
            if isHeld {
                previews.heldCameras.insert(role)
            } else {
                previews.heldCameras.remove(role)
            }
            return isHeld
        case .openLens(let role):
            let isHeld = previews.have(cameras[role].lens.incoming?.device)
            if isHeld { previews.heldLenses.insert(role) } else { previews.heldLenses.remove(role) }
            return isHeld
        case .closeCamera(let role, _): previews.heldCameras.remove(role)
        case .closeLens(let role): previews.heldLenses.remove(role)
        default: break
        }
        return false
    }

    /// Returns the effects that no preview holds up any more.
    private mutating func releaseHeld() -> [Effect] {
        var effects: [Effect] = []
        for role in Role.allCases {
            if previews.heldCameras.contains(role), !previews.have(cameras[role].lens.device) {
                previews.heldCameras.remove(role)
                if cameras[role].isAsked { effects.append(.openCamera(role)) }
            }
            let incoming = cameras[role].lens.incoming?.device
            if previews.heldLenses.contains(role), !previews.have(incoming) {
                previews.heldLenses.remove(role)
                if incoming != nil { effects.append(.openLens(role)) }
            }
        }
        return effects
    }
}

extension CameraState {
    /// Returns `true` if `device` is the camera of the role, or a lens of it.
    fileprivate func uses(_ device: String) -> Bool {
        [identity, lens.device, lens.incoming?.device].contains(device)
            || lens.all.contains { $0.device == device }
    }
}
