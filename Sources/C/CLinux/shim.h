// Linux calls that Swift cannot make itself: variadic ones, and headers missing in Glibc's module.
#include <fcntl.h>
#include <malloc.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>

/// Names the calling thread, as `ps -L` and crash reports show it. `name` is cut to 15 bytes.
///
/// prctl is variadic. pthread_setname_np would need _GNU_SOURCE, under which Glibc's types differ
/// from those in Swift's own module.
static inline void clinux_name_thread(const char *name) { prctl(PR_SET_NAME, name, 0, 0, 0); }

/// poll(2) with a timeout in nanoseconds, by ppoll(2), whose declaration is hidden without
/// _GNU_SOURCE: see `clinux_name_thread`.
extern int ppoll(struct pollfd *, nfds_t, const struct timespec *, const sigset_t *);
static inline int clinux_poll(struct pollfd *descriptors, nfds_t count, long long nanoseconds) {
    struct timespec time = {nanoseconds / 1000000000, nanoseconds % 1000000000};
    return ppoll(descriptors, count, &time, 0);
}

/// Waits for `thread` to end until CLOCK_MONOTONIC shows `nanoseconds`. Returns 0, or ETIMEDOUT.
///
/// The declaration of pthread_clockjoin_np(3) is hidden without _GNU_SOURCE: see
/// `clinux_name_thread`.
extern int pthread_clockjoin_np(pthread_t, void **, clockid_t, const struct timespec *);
static inline int clinux_join_thread(pthread_t thread, long long nanoseconds) {
    struct timespec time = {nanoseconds / 1000000000, nanoseconds % 1000000000};
    return pthread_clockjoin_np(thread, 0, CLOCK_MONOTONIC, &time);
}

/// rename(2) that does not replace a file at `to`: returns 0, or -1 with errno EEXIST. It is hidden
/// without _GNU_SOURCE: see `clinux_name_thread`.
extern int renameat2(int, const char *, int, const char *, unsigned int);
static inline int clinux_rename_to_new(const char *from, const char *to) {
    return renameat2(-100 /* AT_FDCWD */, from, -100, to, 1 /* RENAME_NOREPLACE */);
}

/// Opens a file without a name in `folder`, which close(2) removes: open(2) with O_TMPFILE, whose
/// name is hidden without _GNU_SOURCE. Returns its descriptor, or -1 with errno.
static inline int clinux_open_unnamed(const char *folder) {
    return open(folder, __O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
}

/// Hidden without _XOPEN_SOURCE.
extern char *strptime(const char *, const char *, struct tm *);

/// Opens a pipe whose ends do not block: pipe2(2), which is hidden without _GNU_SOURCE.
extern int pipe2(int[2], int);
static inline int clinux_pipe(int *ends) { return pipe2(ends, O_CLOEXEC | O_NONBLOCK); }

/// Moves up to `count` bytes from one pipe to another that has room, without waiting for room:
/// splice(2), which is hidden without _GNU_SOURCE. Returns their number, or -1 with errno.
static inline long clinux_move(int from, int to, long count) {
    return syscall(SYS_splice, from, 0, to, 0, count, 2 /* SPLICE_F_NONBLOCK */);
}

/// gettid(2), which is hidden without _GNU_SOURCE: see `clinux_name_thread`.
static inline int clinux_thread_id(void) { return (int)syscall(SYS_gettid); }

/// sched_setscheduler(2) for the thread `thread`, whose children get ordinary scheduling
/// (SCHED_RESET_ON_FORK, hidden without _GNU_SOURCE). Returns 0, or -1 with errno.
static inline int clinux_schedule(int thread, int policy, int priority) {
    struct sched_param parameters = {priority};
    return sched_setscheduler(thread, policy | 0x40000000, &parameters);
}

/// Returns the policy of the thread `thread`, or -1 if it has ended.
static inline int clinux_scheduling(int thread) {
    int policy = sched_getscheduler(thread);
    return policy < 0 ? -1 : policy & ~0x40000000;
}

/// The nice level of the thread `thread`. Linux keeps one for each thread, against POSIX.
static inline int clinux_nice(int thread) { return getpriority(PRIO_PROCESS, (id_t)thread); }
static inline int clinux_set_nice(int thread, int level) {
    return setpriority(PRIO_PROCESS, (id_t)thread, level);
}

/// Returns how often the calling thread has slept or waited so far (RUSAGE_THREAD, hidden without
/// _GNU_SOURCE), and in `nanoseconds` the processor time that it has used.
static inline long clinux_thread_waits(long long *nanoseconds) {
    struct timespec time;
    struct rusage usage;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    *nanoseconds = time.tv_sec * 1000000000ll + time.tv_nsec;
    return getrusage((__rusage_who_t)1, &usage) ? -1 : usage.ru_nvcsw;
}

/// Lowers RLIMIT_RTTIME, whose name is hidden without _GNU_SOURCE, to `microseconds`, and the time
/// of its signal to half of that. Returns 0, or -1 with errno.
static inline int clinux_limit_realtime(long long microseconds) {
    struct rlimit limit;
    if (getrlimit((__rlimit_resource_t)15, &limit)) return -1;
    if (limit.rlim_max > (rlim_t)microseconds) limit.rlim_max = (rlim_t)microseconds;
    if (limit.rlim_cur > limit.rlim_max / 2) limit.rlim_cur = limit.rlim_max / 2;
    return setrlimit((__rlimit_resource_t)15, &limit);
}
