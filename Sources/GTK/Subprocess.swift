import CGTK

/// Another program that runs to its end, while GTK's loop goes on.
package enum Subprocess {
    /// Runs the program `words[0]` with the rest as its arguments. `done` gets what it wrote to
    /// standard output, `nil` if it does not start, and `true` if its exit status is 0.
    package static func run(_ words: [String], _ done: @escaping (String?, Bool) -> Void) {
        var list = words.map { UnsafePointer<gchar>(strdup($0)) } + [nil]
        defer { list.forEach { free(UnsafeMutablePointer(mutating: $0)) } }
        let flags =
            G_SUBPROCESS_FLAGS_STDOUT_PIPE.rawValue | G_SUBPROCESS_FLAGS_STDERR_SILENCE.rawValue
        guard let process = g_subprocess_newv(&list, GSubprocessFlags(flags), nil) else {
            return done(nil, false)
        }
        g_subprocess_communicate_utf8_async(
            process,
            nil,
            nil,
            { source, result, context in
                guard let context else { return }
                defer { release(context) }
                var output: UnsafeMutablePointer<gchar>?
                g_subprocess_communicate_utf8_finish(
                    OpaquePointer(source),
                    result,
                    &output,
                    nil,
                    nil
                )
                defer { g_free(output) }
                let isWell = g_subprocess_get_successful(OpaquePointer(source)) != 0
                Callback<(String?, Bool) -> Void>.of(context)(
                    output.map { String(cString: $0) } ?? "",
                    isWell
                )
            },
            retained(Callback(done))
        )
        g_object_unref(UnsafeMutableRawPointer(process))
    }
}
