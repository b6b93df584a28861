// A disk that takes its time, for a program started with this library before all others
// (LD_PRELOAD): each call that concerns a path below SLOW_DISK waits for as many milliseconds as
// the file SLOW_DELAY says.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static void wait_for(const char *path)
{
    const char *disk = getenv("SLOW_DISK"), *delay = getenv("SLOW_DELAY");
    if (!path || !disk || !delay || strncmp(path, disk, strlen(disk)) != 0) return;
    char text[16] = "";
    int file = (int)syscall(SYS_openat, AT_FDCWD, delay, O_RDONLY | O_CLOEXEC);
    if (file < 0) return;
    ssize_t count = read(file, text, sizeof text - 1);
    close(file);
    long milliseconds = count > 0 ? strtol(text, 0, 10) : 0;
    struct timespec time = {milliseconds / 1000, milliseconds % 1000 * 1000000};
    nanosleep(&time, 0);
}

static void wait_for_file(int descriptor)
{
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    ssize_t count = readlink(link, path, sizeof path - 1);
    if (count <= 0) return;
    path[count] = 0;
    wait_for(path);
}

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))

#define OPEN(name) \
    int name(const char *path, int flags, ...) \
    { \
        va_list list; \
        va_start(list, flags); \
        unsigned mode = flags & (O_CREAT | O_TMPFILE) ? va_arg(list, unsigned) : 0; \
        va_end(list); \
        wait_for(path); \
        return NEXT(name)(path, flags, mode); \
    }
OPEN(open)
OPEN(open64)

int mkdir(const char *path, mode_t mode) { wait_for(path); return NEXT(mkdir)(path, mode); }
int access(const char *path, int mode) { wait_for(path); return NEXT(access)(path, mode); }
int statvfs(const char *path, struct statvfs *status) { wait_for(path); return NEXT(statvfs)(path, status); }
int fsync(int file) { wait_for_file(file); return NEXT(fsync)(file); }
int fdatasync(int file) { wait_for_file(file); return NEXT(fdatasync)(file); }
int unlink(const char *path) { wait_for(path); return NEXT(unlink)(path); }
int rename(const char *from, const char *to) { wait_for(to); return NEXT(rename)(from, to); }
