#define _GNU_SOURCE
#include "CSandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <ucontext.h>
#include <unistd.h>

// Beside the number that audit gives it: the registers of a system call's arguments and result.
#if defined(__x86_64__)
#define ARCHITECTURE AUDIT_ARCH_X86_64
#define ARGUMENTS(machine) {machine.gregs[REG_RDI], machine.gregs[REG_RSI]}
#define RESULT(machine) machine.gregs[REG_RAX]
#elif defined(__aarch64__)
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#define ARGUMENTS(machine) {(long)machine.regs[0], (long)machine.regs[1]}
#define RESULT(machine) machine.regs[0]
#elif defined(__riscv) && __riscv_xlen == 64
#define ARCHITECTURE AUDIT_ARCH_RISCV64
#define ARGUMENTS(machine) {(long)machine.__gregs[REG_A0], (long)machine.__gregs[REG_A0 + 1]}
#define RESULT(machine) machine.__gregs[REG_A0]
#endif

int csandbox_leave_files(enum csandbox_network network)
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
        .network = version >= 4 && network != csandbox_peers ? 3 : 0,
        .scopes = version >= 6 ? 3 : 0,
    };
    size_t size = version >= 6 ? 24 : version >= 4 ? 16 : 8;
    int rules = (int)syscall(SYS_landlock_create_ruleset, &rights, size, 0);
    if (rules < 0) return errno;
    // No rule allows any of it.
    int error = syscall(SYS_landlock_restrict_self, rules, 0) == 0 ? 0 : errno;
    close(rules);
    return error;
}

#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define RETURN(action) BPF_STMT(BPF_RET | BPF_K, action)
// Skips the next instruction unless the number of the call is that one.
#define ALLOW(call) \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##call, 0, 1), RETURN(SECCOMP_RET_ALLOW)
#define TRAP(call) \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##call, 0, 1), RETURN(SECCOMP_RET_TRAP)

enum { most_peers = 8, most_connections = 64 };

// The addresses of the one peer, the type of its sockets, and the channel to the process that
// connects them.
static struct {
    struct sockaddr_storage address;
    socklen_t length;
} peers[most_peers];
static int peer_count, peer_type, channel = -1;
static volatile sig_atomic_t has_strayed;

struct request {
    int socket, peer;
};

void csandbox_add_peer(const void *address, size_t length)
{
    if (peer_count == most_peers || length > sizeof peers->address) return;
    memcpy(&peers[peer_count].address, address, length);
    peers[peer_count++].length = (socklen_t)length;
}

bool csandbox_has_strayed(void) { return has_strayed; }

bool csandbox_is_connected(void)
{
    for (int socket = 3; socket < 32; socket++) {
        struct sockaddr_storage address;
        socklen_t length = sizeof address;
        if (getpeername(socket, (struct sockaddr *)&address, &length) == 0 && address.ss_family != AF_UNIX)
            return true;
    }
    return false;
}

// The process that connects. Its memory is its own, so the addresses are those that it began with;
// the descriptors are those of the process that asks.
static _Noreturn void connect_for(pid_t parent, int requests)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
    int left = getppid() == parent ? most_connections : 0;
    struct request request;
    while (recv(requests, &request, sizeof request, 0) == sizeof request) {
        int type = 0, error = EACCES;
        socklen_t length = sizeof type;
        getsockopt(request.socket, SOL_SOCKET, SO_TYPE, &type, &length);
        if (type == peer_type && request.peer >= 0 && request.peer < peer_count && left-- > 0) {
            const struct sockaddr *address = (struct sockaddr *)&peers[request.peer].address;
            error = connect(request.socket, address, peers[request.peer].length) == 0 ? 0 : errno;
        }
        send(requests, &error, sizeof error, MSG_NOSIGNAL);
    }
    _exit(0);
}

// connect(2) through the other process: 0 or a negative errno.
static long ask(int socket, const struct sockaddr *address)
{
    struct request request = {socket, -1};
    // The family and the port come first, then the address, in IPv6 after the flow.
    bool is_four = address->sa_family == AF_INET;
    size_t start = is_four ? 4 : 8, length = is_four ? 4 : 16;
    for (int index = 0; index < peer_count; index++) {
        const char *peer = (char *)&peers[index].address, *other = (char *)address;
        if (!memcmp(peer, other, 4) && !memcmp(peer + start, other + start, length)) request.peer = index;
    }
    int error = EACCES;
    if (send(channel, &request, sizeof request, MSG_NOSIGNAL) == sizeof request)
        while (recv(channel, &error, sizeof error, 0) < 0 && errno == EINTR) {}
    if (error == EACCES) has_strayed = true;
    return -error;
}

static long send_datagram(int socket, const struct msghdr *message)
{
    long sent = writev(socket, message->msg_iov, (int)message->msg_iovlen);
    if (sent >= 0) return sent;
    if (errno != EDESTADDRREQ || !message->msg_name) return -errno;
    long error = ask(socket, message->msg_name);
    if (error != 0) return error;
    sent = writev(socket, message->msg_iov, (int)message->msg_iovlen);
    return sent >= 0 ? sent : -errno;
}

// Answers a call that the filter traps, so that libraries know nothing of all this, as the sandbox
// of Chromium does.
static void trapped(int signal, siginfo_t *info, void *context)
{
#ifdef ARCHITECTURE
    int before = errno;
    mcontext_t *machine = &((ucontext_t *)context)->uc_mcontext;
    long arguments[] = ARGUMENTS((*machine)), result = -EPERM;
    int socket = (int)arguments[0];
    switch (info->si_syscall) {
    case SYS_connect: result = ask(socket, (struct sockaddr *)arguments[1]); break;
    // libsrt binds its socket to no address, and names the peer with each packet.
    case SYS_bind: result = peer_type == SOCK_DGRAM ? 0 : -EPERM; break;
    case SYS_sendmsg:
        if (peer_type == SOCK_DGRAM) result = send_datagram(socket, (struct msghdr *)arguments[1]);
        break;
    // A socket of another family, to ask another program who a host is.
    default: has_strayed = true;
    }
    RESULT((*machine)) = result;
    errno = before;
#endif
}

int csandbox_serve_peers(bool by_datagrams)
{
    peer_type = by_datagrams ? SOCK_DGRAM : SOCK_STREAM;
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return errno;
    channel = ends[0];
    pid_t parent = getpid();
    // As fork(2), but with one table of descriptors for both.
    long process = syscall(SYS_clone, CLONE_FILES | SIGCHLD, 0, 0, 0, 0);
    if (process < 0) return errno;
    if (process == 0) connect_for(parent, ends[1]);
    struct sigaction action = {.sa_sigaction = trapped, .sa_flags = SA_SIGINFO};
    return sigaction(SIGSYS, &action, NULL) == 0 ? 0 : errno;
}

int csandbox_leave_calls(enum csandbox_network network)
{
#ifdef ARCHITECTURE
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) return errno;
    // Sockets of the internet, and none to programs of this machine such as the session bus. They
    // are of no use until the process that was started before connects them: `trapped` asks it.
    struct sock_filter peers[] = {
        TRAP(connect), TRAP(bind), TRAP(sendmsg),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_socket, 0, 9),
        LOAD(args[0]),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AF_INET, 1, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, AF_INET6, 0, 4),
        LOAD(args[1]),
        BPF_STMT(BPF_ALU | BPF_AND | BPF_K, 0xF),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SOCK_STREAM, 2, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SOCK_DGRAM, 1, 0),
        RETURN(SECCOMP_RET_TRAP),
        RETURN(SECCOMP_RET_ALLOW),
        ALLOW(recvmmsg),
    };
    // Those that others connect to a socket that listens already. One that was shut down could be
    // connected again by sendmsg(2) with MSG_FASTOPEN and an address. Its server has one thread.
    struct sock_filter guests[] = {
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_clone, 0, 1),
        RETURN(SECCOMP_RET_ERRNO | EPERM),
        ALLOW(accept4),
#ifdef SYS_accept
        ALLOW(accept),
#endif
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_sendmsg, 0, 4),
        LOAD(args[2]),
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, MSG_FASTOPEN, 0, 1),
        RETURN(SECCOMP_RET_ERRNO | EPERM),
        RETURN(SECCOMP_RET_ALLOW),
    };
    // What both do with them.
    struct sock_filter sockets[] = {
        // Without an address: both halves of the pointer are 0.
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_sendto, 0, 6),
        LOAD(args[4]),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 2),
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, args[4]) + 4),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 1, 0),
        RETURN(SECCOMP_RET_ERRNO | EPERM),
        RETURN(SECCOMP_RET_ALLOW),
        // Options of IP could send packets by another way, or to groups of hosts.
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_setsockopt, 0, 5),
        LOAD(args[1]),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SOL_SOCKET, 2, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, IPPROTO_TCP, 1, 0),
        RETURN(SECCOMP_RET_ERRNO | EPERM),
        RETURN(SECCOMP_RET_ALLOW),
        // Copies and flags, but no signals to other processes (F_SETOWN).
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_fcntl, 0, 5),
        LOAD(args[1]),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, F_DUPFD_CLOEXEC, 2, 0),
        BPF_JUMP(BPF_JMP | BPF_JGT | BPF_K, F_SETFL, 0, 1),
        RETURN(SECCOMP_RET_ERRNO | EPERM),
        RETURN(SECCOMP_RET_ALLOW),
        ALLOW(getsockopt), ALLOW(getsockname), ALLOW(getpeername), ALLOW(shutdown),
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
    // one loads anything else for the calls of the lists before it.
    enum { head = 4, most = (sizeof filter + sizeof peers + sizeof guests + sizeof sockets) / sizeof *filter };
    struct sock_filter all[most];
    size_t count = 0;
#define ADD(list, start, end) \
    memcpy(all + count, (list) + (start), ((end) - (start)) * sizeof *(list)), count += (end) - (start)
#define LENGTH(list) (sizeof(list) / sizeof *(list))
    ADD(filter, 0, head);
    if (network == csandbox_peers) ADD(peers, 0, LENGTH(peers));
    if (network == csandbox_guests) ADD(guests, 0, LENGTH(guests));
    if (network != csandbox_nobody) ADD(sockets, 0, LENGTH(sockets));
    ADD(filter, head, LENGTH(filter));
    struct sock_fprog program = {(unsigned short)count, all};
    return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program, 0, 0) == 0 ? 0 : errno;
#else
    return EINVAL;
#endif
}

ssize_t csandbox_send(int socket, const void *bytes, size_t length, const int *descriptors, int count)
{
    if (count == 0) return send(socket, bytes, length, MSG_NOSIGNAL);
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
