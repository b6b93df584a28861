import CGTK

/// Another program that runs to its end, while GTK's loop goes on.
package enum Subprocess {
    /// Runs the program `words[0]` with the rest as its arguments. `done` gets what it wrote to
    /// standard output, whatever its exit status; `nil` if it does not start.
    package static func run(_ words: [String], _ done: @escaping (String?) -> Void) {
        var list = words.map { UnsafePointer<gchar>(strdup($0)) } + [nil]
        defer { list.forEach { free(UnsafeMutablePointer(mutating: $0)) } }
        let flags =
            G_SUBPROCESS_FLAGS_STDOUT_PIPE.rawValue | G_SUBPROCESS_FLAGS_STDERR_SILENCE.rawValue
        guard let process = g_subprocess_newv(&list, GSubprocessFlags(flags), nil) else {
            return done(nil)
        }
        let context = Unmanaged.passRetained(Completion(done)).toOpaque()
        g_subprocess_communicate_utf8_async(
            process,
            nil,
            nil,
            { source, result, context in
                guard let context else { return }
                let completion = Unmanaged<Completion>.fromOpaque(context).takeRetainedValue()
                var output: UnsafeMutablePointer<gchar>?
                g_subprocess_communicate_utf8_finish(
                    OpaquePointer(source),
                    result,
                    &output,
                    nil,
                    nil
                )
                defer { g_free(output) }
                completion.body(output.map { String(cString: $0) } ?? "")
            },
            context
        )
        g_object_unref(UnsafeMutableRawPointer(process))
    }

    private final class Completion {
        let body: (String?) -> Void
        init(_ body: @escaping (String?) -> Void) { self.body = body }
    }
}
