import CPipeWire

/// Pods (spa_pod) in memory of their own, to be given to PipeWire.
final class Pods {
    /// The pods, in the order in which they were built.
    let pointers: [UnsafePointer<spa_pod>?]
    private let bytes: UnsafeMutableRawBufferPointer

    /// Creates the pods that `build` adds, of 16384 bytes at most.
    init(_ build: (inout PodBuilder) -> Void) {
        bytes = .allocate(byteCount: 16384, alignment: 8)
        var builder = PodBuilder(bytes)
        build(&builder)
        pointers = builder.objects
    }

    deinit { bytes.deallocate() }
}

/// Writes objects one after another into memory that does not move.
struct PodBuilder {
    private(set) var objects: [UnsafePointer<spa_pod>?] = []
    private var builder = spa_pod_builder()
    private let bytes: UnsafeMutableRawBufferPointer
    private var used = 0

    init(_ bytes: UnsafeMutableRawBufferPointer) { self.bytes = bytes }

    /// Writes an object of `type` for the parameter `id`, with the properties that `body` adds.
    mutating func object(
        _ type: some BinaryInteger,
        _ id: spa_param_type,
        _ body: (inout PodBuilder) -> Void
    ) {
        let rest = UnsafeMutableRawBufferPointer(rebasing: bytes[used...])
        spa_pod_builder_init(&builder, rest.baseAddress, UInt32(rest.count))
        // The builder points at `frame` until it is popped.
        let pod = withUnsafeTemporaryAllocation(of: spa_pod_frame.self, capacity: 1) { frame in
            spa_pod_builder_push_object(&builder, frame.baseAddress, UInt32(type), id.rawValue)
            body(&self)
            return spa_pod_builder_pop(&builder, frame.baseAddress)
        }
        guard let pod else { preconditionFailure("parameters larger than their memory") }
        used += Int(builder.state.offset + 7) & ~7
        objects.append(UnsafePointer(pod.assumingMemoryBound(to: spa_pod.self)))
    }

    /// Writes the format of a stream of interleaved floats, `rate` samples a second of each of
    /// `channels`.
    mutating func soundFormat(rate: Int, channels: Int) {
        let rest = UnsafeMutableRawBufferPointer(rebasing: bytes[used...])
        let pod = cpw_build_sound_format(
            rest.baseAddress,
            UInt32(rest.count),
            UInt32(rate),
            UInt32(channels)
        )
        guard let pod else { preconditionFailure("parameters larger than their memory") }
        used += (MemoryLayout<spa_pod>.size + Int(pod.pointee.size) + 7) & ~7
        objects.append(pod)
    }

    mutating func id(_ key: some RawRepresentable<UInt32>, _ value: UInt32) {
        spa_pod_builder_prop(&builder, key.rawValue, 0)
        spa_pod_builder_id(&builder, value)
    }

    mutating func integer(_ key: some RawRepresentable<UInt32>, _ value: CInt) {
        spa_pod_builder_prop(&builder, key.rawValue, 0)
        spa_pod_builder_int(&builder, value)
    }

    mutating func integer(key: UInt32, _ value: CInt) {
        spa_pod_builder_prop(&builder, key, 0)
        spa_pod_builder_int(&builder, value)
    }

    mutating func number(key: UInt32, _ value: Float) {
        spa_pod_builder_prop(&builder, key, 0)
        spa_pod_builder_float(&builder, value)
    }

    mutating func string(_ key: some RawRepresentable<UInt32>, _ value: String) {
        spa_pod_builder_prop(&builder, key.rawValue, 0)
        spa_pod_builder_string(&builder, value)
    }

    mutating func rectangle(_ key: some RawRepresentable<UInt32>, _ width: UInt32, _ height: UInt32)
    {
        spa_pod_builder_prop(&builder, key.rawValue, 0)
        spa_pod_builder_rectangle(&builder, width, height)
    }

    mutating func fraction(_ key: some RawRepresentable<UInt32>, _ over: UInt32, _ under: UInt32) {
        spa_pod_builder_prop(&builder, key.rawValue, 0)
        spa_pod_builder_fraction(&builder, over, under)
    }

    mutating func range(
        _ key: some RawRepresentable<UInt32>,
        _ value: CInt,
        within limits: ClosedRange<CInt>
    ) {
        choice(key, SPA_CHOICE_Range) {
            for number in [value, limits.lowerBound, limits.upperBound] {
                spa_pod_builder_int(&$0, number)
            }
        }
    }

    /// Writes a size: `wanted` if the other end has it, else any between `least` and `most`.
    mutating func rectangleRange(
        _ key: some RawRepresentable<UInt32>,
        _ wanted: (UInt32, UInt32),
        from least: (UInt32, UInt32),
        upTo most: (UInt32, UInt32)
    ) {
        choice(key, SPA_CHOICE_Range) {
            for (width, height) in [wanted, least, most] {
                spa_pod_builder_rectangle(&$0, width, height)
            }
        }
    }

    /// Writes a rate: `wanted` a second if the other end has it, else any up to `most`, or varying.
    mutating func fractionRange(
        _ key: some RawRepresentable<UInt32>,
        _ wanted: UInt32,
        upTo most: UInt32
    ) {
        choice(key, SPA_CHOICE_Range) {
            spa_pod_builder_fraction(&$0, wanted, 1)
            spa_pod_builder_fraction(&$0, 0, 1)
            spa_pod_builder_fraction(&$0, most, 1)
        }
    }

    mutating func numberRange(
        _ key: some RawRepresentable<UInt32>,
        _ value: Float,
        within limits: ClosedRange<Float>
    ) {
        choice(key, SPA_CHOICE_Range) {
            spa_pod_builder_float(&$0, value)
            spa_pod_builder_float(&$0, limits.lowerBound)
            spa_pod_builder_float(&$0, limits.upperBound)
        }
    }

    mutating func flags(_ key: some RawRepresentable<UInt32>, _ value: CInt) {
        choice(key, SPA_CHOICE_Flags) { spa_pod_builder_int(&$0, value) }
    }

    private mutating func choice(
        _ key: some RawRepresentable<UInt32>,
        _ type: spa_choice_type,
        _ values: (inout spa_pod_builder) -> Void
    ) {
        spa_pod_builder_prop(&builder, key.rawValue, 0)
        withUnsafeTemporaryAllocation(of: spa_pod_frame.self, capacity: 1) { frame in
            spa_pod_builder_push_choice(&builder, frame.baseAddress, type.rawValue, 0)
            values(&builder)
            spa_pod_builder_pop(&builder, frame.baseAddress)
        }
    }
}
