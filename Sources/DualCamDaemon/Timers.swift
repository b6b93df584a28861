import DualCamCore
import Platform

@MainActor
final class Timers {
    /// Those of each role's change of lens.
    let lenses: PerRole<LensTimers>
    private let grace: EventLoop.Timer
    private let cameraGraces: PerRole<EventLoop.Timer>
    private let settlings: PerRole<EventLoop.Timer>
    private let refusal: EventLoop.Timer
    private let tick: EventLoop.Timer

    /// The seconds that cameras stay open after the last consumer: some come back at once.
    private static let graceDuration = 0.6
    /// The time in seconds for which it is told that an app could not be linked.
    private static let refusalDuration = 60.0

    /// Creates timers that `send` events, or have the lens of a role looked at, or its `light`.
    /// Throws `SystemError` when the process is out of descriptors.
    init(
        loop: EventLoop,
        send: @escaping (Event) -> Void,
        look: @escaping @MainActor (Role) -> Void,
        light: @escaping @MainActor (Role) -> Void,
        refusalIsOver: @escaping () -> Void
    ) throws(SystemError) {
        grace = try loop.timer { send(.node(nil, .graceOver)) }
        cameraGraces = try PerRole { role throws(SystemError) in
            try loop.timer { send(.node(role, .graceOver)) }
        }
        settlings = try PerRole { role throws(SystemError) in
            try loop.timer { send(.scenes(.settled(role))) }
        }
        refusal = try loop.timer(refusalIsOver)
        tick = try loop.timer { send(.selfTimer(.tick)) }
        lenses = try PerRole { role throws(SystemError) in
            try LensTimers(
                loop: loop,
                crossed: { send(.lens(role, .crossed)) },
                retry: { send(.lens(role, .retry)) },
                look: { look(role) },
                light: { light(role) }
            )
        }
    }

    /// Carries out an effect that starts or ends a timer.
    func carryOut(_ effect: Effect) {
        switch effect {
        case .startGrace: grace.arm(after: Self.graceDuration)
        case .endGrace: grace.disarm()
        case .startCameraGrace(let role): cameraGraces[role].arm(after: Self.graceDuration)
        case .endCameraGrace(let role): cameraGraces[role].disarm()
        case .startSettling(let role, let seconds): settlings[role].arm(after: seconds)
        case .startCrossing(let role, let seconds): lenses[role].crossed.arm(after: seconds)
        case .startLensRetry(let role): lenses[role].retry.arm(after: LensState.retryDelay)
        case .startTick(let seconds): tick.arm(after: seconds)
        default: break
        }
    }

    /// Notes that an app could not be linked now.
    func noteRefusal() { refusal.arm(after: Self.refusalDuration) }
}
