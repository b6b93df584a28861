import CLinux
import Glibc

/// One of the first three descriptors of a new process.
package enum StandardStream: Sendable {
    case inherited
    /// /dev/null.
    case nothing
    case descriptor(CInt)
}

/// The environment of this process, as "NAME=value".
package var inheritedEnvironment: [String] {
    var result: [String] = []
    var next = environ
    while let entry = next.pointee {
        result.append(String(cString: entry))
        next += 1
    }
    return result
}

/// Starts `program`, a path or a name looked up in PATH, and returns the number of its process.
/// `words` are its arguments, its own name first; `environment` is all of its environment. No
/// signal is blocked or ignored in it, whatever this process does. With `inGroup` it is the first
/// of a process group of its own. Throws the errno of posix_spawn(3), such as ENOENT.
package func spawn(
    _ program: String,
    _ words: [String],
    environment: [String],
    input: StandardStream,
    output: StandardStream,
    errors: StandardStream,
    inGroup: Bool = false
) throws(SystemError) -> CInt {
    var actions = posix_spawn_file_actions_t()
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    for (number, stream) in [(0, input), (1, output), (2, errors)] as [(CInt, StandardStream)] {
        switch stream {
        case .inherited: break
        case .nothing:
            posix_spawn_file_actions_addopen(&actions, number, "/dev/null", O_RDWR, 0)
        case .descriptor(let source):
            posix_spawn_file_actions_adddup2(&actions, source, number)
        }
    }
    var attributes = posix_spawnattr_t()
    posix_spawnattr_init(&attributes)
    defer { posix_spawnattr_destroy(&attributes) }
    var none = sigset_t()
    var all = sigset_t()
    sigemptyset(&none)
    sigfillset(&all)
    posix_spawnattr_setsigmask(&attributes, &none)
    posix_spawnattr_setsigdefault(&attributes, &all)
    posix_spawnattr_setpgroup(&attributes, 0)
    let flags =
        POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | (inGroup ? POSIX_SPAWN_SETPGROUP : 0)
    posix_spawnattr_setflags(&attributes, Int16(flags))

    var argv = words.map { strdup($0) } + [nil]
    var envp = environment.map { strdup($0) } + [nil]
    defer { for text in argv + envp { free(text) } }
    var id = pid_t()
    let error = posix_spawnp(&id, program, &actions, &attributes, &argv, &envp)
    guard error == 0 else { throw SystemError("posix_spawn", program, errno: error) }
    return id
}
