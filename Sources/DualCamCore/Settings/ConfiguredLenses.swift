extension Configuration.Camera {
    /// Returns the lenses of the camera whose own device is `own`, in the order of the
    /// configuration. Where none of them is the camera as it is, "wide" comes last. `device`
    /// returns the device that a lens names, or `nil` if there is none: the lens is then left out.
    package func lenses(
        of own: SourceUse,
        device: (SourceSpecification) -> SourceUse?
    ) -> [Lens] {
        var found: [Lens] = []
        var isNamed = false
        for lens in lenses {
            var behind = own
            if let source = lens.source {
                guard let other = device(source) else { continue }
                behind = other.identity == own.identity ? own : other
                isNamed = isNamed || behind == own
            } else {
                isNamed = isNamed || lens.factor == 1
            }
            found.append(
                Lens(
                    name: lens.name,
                    factor: lens.factor,
                    device: behind.identity,
                    deviceFactor: behind == own ? 1 : lens.factor,
                    isThere: behind.isThere
                )
            )
        }
        if !isNamed {
            found.append(
                Lens(
                    name: "wide",
                    factor: 1,
                    device: own.identity,
                    deviceFactor: 1,
                    isThere: own.isThere
                )
            )
        }
        return found
    }
}
