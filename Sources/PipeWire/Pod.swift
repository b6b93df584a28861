import CPipeWire

/// A pod (spa_pod) that a peer wrote. Its contents may be anything; its size is that of its memory.
struct Pod {
    /// The pod, for PipeWire's functions. They read within its size, whatever is in it.
    let pointer: UnsafePointer<spa_pod>

    /// Creates a pod that PipeWire gives us: it has checked that the message holds all of it.
    init(_ pointer: UnsafePointer<spa_pod>) { self.pointer = pointer }

    /// Creates the pod at the start of `bytes`; `nil` if it is not whole or not aligned to 8 bytes.
    init?(_ bytes: UnsafeRawBufferPointer) {
        guard let start = bytes.baseAddress, bytes.count >= MemoryLayout<spa_pod>.size,
            Int(bitPattern: start) % 8 == 0
        else { return nil }
        pointer = start.assumingMemoryBound(to: spa_pod.self)
        guard bytes.count - MemoryLayout<spa_pod>.size >= Int(pointer.pointee.size) else {
            return nil
        }
    }

    func isObject(_ type: some BinaryInteger) -> Bool {
        spa_pod_is_object_type(pointer, UInt32(type))
    }

    /// Returns the number in the property `key`, an Int or a finite Float or Double; `nil` if none.
    func number(_ key: UInt32) -> Double? {
        guard let found = spa_pod_find_prop(pointer, nil, key),
            let offset = MemoryLayout<spa_pod_prop>.offset(of: \.value)
        else { return nil }
        // In its place: what follows the header is part of the value.
        let value = (UnsafeRawPointer(found) + offset).assumingMemoryBound(to: spa_pod.self)
        var whole: CInt = 0
        if spa_pod_get_int(value, &whole) == 0 { return Double(whole) }
        var float: Float = 0
        if spa_pod_get_float(value, &float) == 0 { return float.isFinite ? Double(float) : nil }
        var double = 0.0
        if spa_pod_get_double(value, &double) == 0 { return double.isFinite ? double : nil }
        return nil
    }
}
