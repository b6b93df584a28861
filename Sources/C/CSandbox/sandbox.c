#define _GNU_SOURCE
#include "CSandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
#define ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#elif defined(__riscv) && __riscv_xlen == 64
#define ARCHITECTURE AUDIT_ARCH_RISCV64
#endif

int csandbox_leave_files(int port)
{
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return errno;
    long version = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
    if (version < 0) return errno;
    // landlock_ruleset_attr of the newest kernel known here: an older kernel's is shorter, and the
    // header of Debian 12 (Linux 6.1) lacks what came after it. Rights of files, by version: 13 in
    // 1, REFER in 2, TRUNCATE in 3, IOCTL_DEV in 5. From 4 on TCP: to bind and to connect. From 6
    // on scopes: abstract UNIX sockets, and signals to other processes.
    struct {
        uint64_t files, network, scopes;
    } rights = {
        .files = version >= 5 ? 0xFFFF : version >= 3 ? 0x7FFF : version == 2 ? 0x3FFF : 0x1FFF,
        .network = version >= 4 ? 3 : 0,
        .scopes = version >= 6 ? 3 : 0,
    };
    size_t size = version >= 6 ? 24 : version >= 4 ? 16 : 8;
    int rules = (int)syscall(SYS_landlock_create_ruleset, &rights, size, 0);
    if (rules < 0) return errno;
    // No rule allows any of it, but for one port to connect to: LANDLOCK_RULE_NET_PORT with
    // LANDLOCK_ACCESS_NET_CONNECT_TCP, which the header of Debian 12 lacks, too.
    struct {
        uint64_t access, port;
    } peer = {2, (uint64_t)port};
    if (port > 0 && version >= 4 && syscall(SYS_landlock_add_rule, rules, 2, &peer, 0) != 0) {
        int error = errno;
        close(rules);
        return error;
    }
    int error = syscall(SYS_landlock_restrict_self, rules, 0) == 0 ? 0 : errno;
    close(rules);
    return error;
}

#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define RETURN(action) BPF_STMT(BPF_RET | BPF_K, action)
// Skips the next instruction unless the number of the call is that one.
#define ALLOW(call) \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##call, 0, 1), RETURN(SECCOMP_RET_ALLOW)

int csandbox_leave_calls(int network)
{
#ifdef ARCHITECTURE
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return errno;
    // Sockets of the internet, and none to programs of this machine such as the session bus.
    struct sock_filter sockets[] = {
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_socket, 0, 5),
        LOAD(args[0]),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AF_INET, 1, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AF_INET6, 0, 1),
        RETURN(SECCOMP_RET_ALLOW),
        RETURN(SECCOMP_RET_ERRNO | EPERM),
        ALLOW(connect), ALLOW(bind), ALLOW(getsockopt), ALLOW(setsockopt), ALLOW(getsockname),
        ALLOW(getpeername), ALLOW(shutdown), ALLOW(fcntl), ALLOW(recvmmsg), ALLOW(sendmmsg),
        ALLOW(pselect6), ALLOW(eventfd2), ALLOW(epoll_create1), ALLOW(epoll_ctl),
        ALLOW(epoll_pwait),
#ifdef SYS_select
        ALLOW(select),
#endif
#ifdef SYS_epoll_create
        ALLOW(epoll_create),
#endif
#ifdef SYS_epoll_wait
        ALLOW(epoll_wait),
#endif
    };
    // A call that this list forgets fails; it does not end the process. What glibc, libav and its
    // codecs, Exiv2 and libjpeg use of the kernel while they work on memory and descriptors.
    struct sock_filter filter[] = {
        LOAD(arch),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCHITECTURE, 1, 0),
        RETURN(SECCOMP_RET_KILL_PROCESS),
        LOAD(nr),
        // Open descriptors.
        ALLOW(read), ALLOW(write), ALLOW(readv), ALLOW(writev), ALLOW(pread64), ALLOW(pwrite64),
        ALLOW(lseek), ALLOW(fstat), ALLOW(ftruncate), ALLOW(fdatasync), ALLOW(fsync), ALLOW(close),
        ALLOW(recvfrom), ALLOW(recvmsg), ALLOW(sendto), ALLOW(sendmsg), ALLOW(ppoll),
#ifdef SYS_poll
        ALLOW(poll),
#endif
        // fstat(2) in newer versions of glibc. With a path it could tell that a file exists, and
        // how large it is; a filter cannot see the path.
#ifdef SYS_newfstatat
        ALLOW(newfstatat),
#endif
        // Memory.
        ALLOW(brk), ALLOW(mmap), ALLOW(munmap), ALLOW(mremap), ALLOW(mprotect), ALLOW(madvise),
        // Threads, but no processes.
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 0, 4),
        LOAD(args[0]),
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, CLONE_THREAD, 0, 1),
        RETURN(SECCOMP_RET_ALLOW),
        RETURN(SECCOMP_RET_ERRNO | EPERM),
        // Signals to the process itself, as abort(3) sends one.
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_tgkill, 0, 4),
        LOAD(args[0]),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)getpid(), 0, 1),
        RETURN(SECCOMP_RET_ALLOW),
        RETURN(SECCOMP_RET_ERRNO | EPERM),
        // Its own limits: that of processor time is set for each file anew.
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_prlimit64, 0, 4),
        LOAD(args[0]),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 1),
        RETURN(SECCOMP_RET_ALLOW),
        RETURN(SECCOMP_RET_ERRNO | EPERM),
        ALLOW(futex), ALLOW(set_robust_list), ALLOW(rseq), ALLOW(gettid),
        ALLOW(getpid), ALLOW(sched_yield), ALLOW(sched_getaffinity),
        ALLOW(sched_getparam), ALLOW(sched_getscheduler), ALLOW(rt_sigaction),
        ALLOW(rt_sigprocmask), ALLOW(rt_sigreturn), ALLOW(sigaltstack), ALLOW(restart_syscall),
        ALLOW(exit), ALLOW(exit_group),
        // Time, chance, and what the process used.
        ALLOW(clock_gettime), ALLOW(clock_getres), ALLOW(clock_nanosleep), ALLOW(nanosleep),
        ALLOW(gettimeofday), ALLOW(getrandom), ALLOW(getrusage), ALLOW(sysinfo), ALLOW(uname),
        // glibc then uses clone(2), whose flags a filter can see.
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone3, 0, 1),
        RETURN(SECCOMP_RET_ERRNO | ENOSYS),
        RETURN(SECCOMP_RET_ERRNO | EPERM),
    };
    // The first four instructions come first, and leave the number of the call loaded; no later
    // one loads anything else for the calls of `sockets`.
    enum { head = 4, most = sizeof filter / sizeof *filter + sizeof sockets / sizeof *sockets };
    struct sock_filter all[most];
    size_t more = network ? sizeof sockets : 0;
    memcpy(all, filter, head * sizeof *filter);
    memcpy(all + head, sockets, more);
    memcpy((char *)(all + head) + more, filter + head, sizeof filter - head * sizeof *filter);
    struct sock_fprog program = {(unsigned short)((sizeof filter + more) / sizeof *filter), all};
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) == 0 ? 0 : errno;
#else
    return EINVAL;
#endif
}

ssize_t csandbox_send(int socket, const void *bytes, size_t length, const int *descriptors, int count)
{
    char control[CMSG_SPACE(sizeof(int) * csandbox_most_descriptors)] __attribute__((aligned(8))) = {0};
    struct iovec part = {(void *)bytes, length};
    struct msghdr message = {.msg_iov = &part, .msg_iovlen = 1};
    if (count > 0 && count <= csandbox_most_descriptors) {
        message.msg_control = control;
        message.msg_controllen = CMSG_SPACE(sizeof(int) * (size_t)count);
        struct cmsghdr *header = CMSG_FIRSTHDR(&message);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(sizeof(int) * (size_t)count);
        memcpy(CMSG_DATA(header), descriptors, sizeof(int) * (size_t)count);
    }
    return sendmsg(socket, &message, MSG_NOSIGNAL);
}

ssize_t csandbox_receive(int socket, void *bytes, size_t length, int *descriptors, int *count)
{
    char control[CMSG_SPACE(sizeof(int) * csandbox_most_descriptors)] __attribute__((aligned(8)));
    struct iovec part = {bytes, length};
    struct msghdr message = {
        .msg_iov = &part, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};
    *count = 0;
    ssize_t received = recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
    if (received < 0) return received;
    for (struct cmsghdr *header = CMSG_FIRSTHDR(&message); header; header = CMSG_NXTHDR(&message, header)) {
        if (header->cmsg_level != SOL_SOCKET || header->cmsg_type != SCM_RIGHTS) continue;
        *count = (int)((header->cmsg_len - CMSG_LEN(0)) / sizeof(int));
        memcpy(descriptors, CMSG_DATA(header), sizeof(int) * (size_t)*count);
    }
    return received;
}

int csandbox_memory(const char *name, size_t length)
{
    int file = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
    if (file < 0) return -1;
    int seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;
    if (ftruncate(file, (off_t)length) == 0 && fcntl(file, F_ADD_SEALS, seals) == 0) return file;
    int error = errno;
    close(file);
    errno = error;
    return -1;
}

int csandbox_close_others(void) { return syscall(SYS_close_range, 3, ~0U, 0) == 0 ? 0 : errno; }

void csandbox_end_with_parent(void) { prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0); }
