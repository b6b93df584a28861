import Frames
import Glibc

/// Returns a failure in words for people, as a clause that may follow a colon or become a sentence
/// (`String.sentence`): what could not be done, and why. `operation` is the failed call, as its
/// manual names it, or a word for what was done; `subject` its object, or empty. `reason` comes
/// before `detail`; either may be empty.
///
/// Every error of ours becomes text here. Names of calls and errnos are for the error's fields;
/// nobody reads them.
package func describe(
    _ operation: String,
    _ subject: String,
    reason: String,
    detail: String = ""
) -> String {
    let action = action(operation, subject)
    // "There is no camera X" says all.
    let why = action.hasPrefix("there is no") ? "" : reason
    let reasons = [why, detail].filter { !$0.isEmpty }.joined(separator: "; ")
    return [action, reasons].filter { !$0.isEmpty }.joined(separator: ": ")
}

/// Returns why `operation` on `subject` failed with `errno`, in words; empty for 0.
package func reason(_ errno: CInt, of operation: String = "", on subject: String = "") -> String {
    switch errno {
    case 0: ""
    case ENOENT where operation == "mkdir": "no directory can be made there"
    case ENOENT where operation == "create" && !folder(of: subject).isEmpty:
        "there is no directory \(folder(of: subject))"
    case ENOTDIR where !folder(of: subject).isEmpty: "\(folder(of: subject)) is not a directory"
    case ENOENT where operation.hasPrefix("pw_"): "it is not running"
    case ENOENT, ENOTDIR: "there is no such file"
    case EBADF where operation == "write": "it is not open for writing"
    case EACCES, EPERM: "permission denied"
    case EROFS: "the file system is read-only"
    case ENOSPC: "the disk is full"
    case EDQUOT: "your disk quota is used up"
    case EILSEQ: "it is not UTF-8 text; save it as UTF-8"
    case EFBIG: "the file is too large"
    case EEXIST: "it exists already"
    case EISDIR: "it is a directory"
    case ELOOP: "it is a link, which is not followed"
    case EBUSY: "another program is using it"
    case ENODEV, ENXIO: "it is not there any more"
    case EIO, EPROTO: "the device does not work properly"
    case ENOMEM: "there is not enough memory"
    case EMFILE, ENFILE: "too many files are open"
    case ECONNREFUSED, EHOSTDOWN: "it is not running"
    case EPIPE, ECONNRESET: "the other side has gone"
    case ETIMEDOUT, ETIME: "it does not answer"
    case EINVAL, ENOTTY, EOPNOTSUPP, ENOSYS: "that is not supported"
    default: String(cString: strerror(errno)).uncapitalized
    }
}

/// Returns what could not be done: "cannot open /dev/video0".
private func action(_ operation: String, _ subject: String) -> String {
    if operation.hasPrefix("pw_") { return "cannot connect to PipeWire" }
    guard
        let words = actions[operation]
            ?? families.first(where: {
                operation.hasPrefix($0.prefix)
            })?.words
    else { return subject.isEmpty ? "" : "cannot use \(subject)" }
    // A person knows which device is meant.
    if subject.isEmpty, operation == "v4l2loopback" { return "" }
    return subject.isEmpty || words.isEmpty ? words : "\(words) \(subject)"
}

/// The failed actions by the beginning of a call's name, for those not in `actions`.
private let families: [(prefix: String, words: String)] = [
    ("VIDIOC_", "cannot use"), ("v4lconvert", "cannot convert the pictures of"),
    ("avformat_write", "cannot write"), ("avio_", "cannot write"), ("av_write", "cannot write"),
    ("avformat_", "cannot read"), ("av_read", "cannot read"), ("av_find", "cannot read"),
    ("av", "FFmpeg cannot process"), ("sws_", "FFmpeg cannot convert"),
    ("swr_", "FFmpeg cannot convert sound"), ("dbus_", "cannot use D-Bus"),
    ("sched_", "cannot change priorities"), ("set", "cannot change a limit"),
]

/// The failed actions by the name of the call.
private let actions: [String: String] = {
    var actions: [String: String] = [:]
    for (words, names) in [
        ("cannot open", ["open", "opendir", "fopen", "lstat", "stat", "realpath"]),
        ("cannot read", ["read", "pread", "fstat", "fread", "decode"]),
        ("cannot write", ["write", "fsync", "fdatasync", "sendmsg", "link", "ftruncate"]),
        ("cannot write to", ["statvfs"]), ("cannot create", ["create", "mkdir"]),
        ("cannot create a temporary file", ["tmpfile"]), ("cannot rename", ["rename"]),
        ("cannot remove", ["unlink"]), ("cannot set the permissions of", ["chmod", "fchmod"]),
        ("cannot watch", ["inotify", "inotify_init1", "inotify_add_watch"]),
        ("cannot lock", ["lock"]), ("cannot start a helper program", ["posix_spawn"]),
        ("cannot start a thread", ["pthread_create"]),
        ("cannot give up rights", ["seccomp"]), ("", ["dlopen"]),
        ("cannot start", ["VIDIOC_STREAMON", "VIDIOC_REQBUFS", "VIDIOC_QBUF", "mmap"]),
        ("cannot set the mode of", ["VIDIOC_S_FMT", "VIDIOC_S_PARM"]),
        ("cannot read the modes of", ["VIDIOC_ENUM_FMT"]),
        ("no picture came from", ["VIDIOC_DQBUF"]),
        ("cannot set a control of", ["VIDIOC_S_EXT_CTRLS"]),
        ("cannot read the controls of", ["VIDIOC_G_EXT_CTRLS", "VIDIOC_QUERY_EXT_CTRL"]),
        ("no encoder", ["avcodec_find_encoder_by_name"]),
        ("cannot use the graphics card for", ["av_hwdevice_ctx_create"]),
        // Words of our own.
        ("there is no home directory", ["home directory"]),
        ("there is no camera", ["camera"]), ("there is no test picture", ["test picture"]),
        ("cannot use the PipeWire node", ["PipeWire node"]),
        ("cannot use the loopback device", ["v4l2loopback"]),
        ("cannot reach", ["camera on the network"]),
        ("no picture comes from", ["answer from the network"]),
        ("there is no mode", ["capture mode"]),
        ("no picture came", ["capture"]),
        ("cannot decode JPEGs", ["JPEG"]), ("cannot record", ["record"]),
        ("cannot encode", ["encode"]), ("cannot make the movie", ["movie"]),
        ("cannot repair", ["repair"]),
    ] {
        for name in names { actions[name] = words }
    }
    return actions
}()
