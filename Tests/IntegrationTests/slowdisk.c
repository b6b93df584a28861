// A disk that takes its time, for a program started with this library before all others
// (LD_PRELOAD): each call that concerns a path below one of SLOW_DISK, which colons separate, waits
// for as many milliseconds as the file SLOW_DELAY says, or until that says less.
#define _GNU_SOURCE
#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

static int is_slow(const char *path)
{
    const char *disk = getenv("SLOW_DISK");
    while (path && disk && *disk) {
        size_t length = strcspn(disk, ":");
        if (strncmp(path, disk, length) == 0) return 1;
        disk += length + (disk[length] == ':');
    }
    return 0;
}

static long milliseconds(const char *delay)
{
    char text[16] = "";
    int file = (int)syscall(SYS_openat, AT_FDCWD, delay, O_RDONLY | O_CLOEXEC);
    if (file < 0) return 0;
    long count = syscall(SYS_read, file, text, sizeof text - 1);
    close(file);
    return count > 0 ? strtol(text, 0, 10) : 0;
}

static void wait_for(const char *path)
{
    const char *delay = getenv("SLOW_DELAY");
    if (!delay || !is_slow(path)) return;
    struct timespec begin, now, pause = {0, 20000000};
    clock_gettime(CLOCK_MONOTONIC, &begin);
    for (long waited = 0; waited < milliseconds(delay);) {
        nanosleep(&pause, 0);
        clock_gettime(CLOCK_MONOTONIC, &now);
        waited = (now.tv_sec - begin.tv_sec) * 1000 + (now.tv_nsec - begin.tv_nsec) / 1000000;
    }
}

// A file, or a directory and a path in it.
static void wait_for_place(int descriptor, const char *name)
{
    if (name && *name == '/') return wait_for(name);
    if (descriptor == AT_FDCWD) return;
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    ssize_t count = readlink(link, path, sizeof path - 1);
    if (count <= 0) return;
    path[count] = 0;
    wait_for(path);
}

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))
#define BY_PATH(type, name, parameters, path, ...) \
    type name parameters { wait_for(path); return NEXT(name)(__VA_ARGS__); }
#define BY_FILE(type, name, parameters, file, ...) \
    type name parameters { wait_for_place(file, 0); return NEXT(name)(__VA_ARGS__); }
#define BY_PLACE(type, name, parameters, folder, path, ...) \
    type name parameters { wait_for_place(folder, path); return NEXT(name)(__VA_ARGS__); }

#define MODE(mode) \
    unsigned mode = 0; \
    if (flags & (O_CREAT | __O_TMPFILE)) { \
        va_list list; \
        va_start(list, flags); \
        mode = va_arg(list, unsigned); \
        va_end(list); \
    }
#define OPEN(name) \
    int name(const char *path, int flags, ...) \
    { \
        MODE(mode) \
        wait_for(path); \
        return NEXT(name)(path, flags, mode); \
    }
#define OPENAT(name) \
    int name(int folder, const char *path, int flags, ...) \
    { \
        MODE(mode) \
        wait_for_place(folder, path); \
        return NEXT(name)(folder, path, flags, mode); \
    }
OPEN(open)
OPEN(open64)
OPENAT(openat)
OPENAT(openat64)

BY_PATH(FILE *, fopen, (const char *path, const char *mode), path, path, mode)
BY_PATH(FILE *, fopen64, (const char *path, const char *mode), path, path, mode)
BY_PATH(DIR *, opendir, (const char *path), path, path)
BY_PATH(int, mkdir, (const char *path, mode_t mode), path, path, mode)
BY_PATH(int, access, (const char *path, int mode), path, path, mode)
BY_PATH(int, stat, (const char *path, struct stat *status), path, path, status)
BY_PATH(int, lstat, (const char *path, struct stat *status), path, path, status)
BY_PATH(int, stat64, (const char *path, struct stat64 *status), path, path, status)
BY_PATH(int, lstat64, (const char *path, struct stat64 *status), path, path, status)
BY_PATH(int, statvfs, (const char *path, struct statvfs *status), path, path, status)
BY_PATH(int, statvfs64, (const char *path, struct statvfs64 *status), path, path, status)
BY_PATH(char *, realpath, (const char *path, char *found), path, path, found)
BY_PATH(int, unlink, (const char *path), path, path)
BY_PATH(int, rename, (const char *from, const char *to), to, from, to)
BY_PATH(int, link, (const char *from, const char *to), to, from, to)

BY_PLACE(int, fstatat, (int folder, const char *path, struct stat *status, int flags), folder, path,
         folder, path, status, flags)
BY_PLACE(int, fstatat64, (int folder, const char *path, struct stat64 *status, int flags), folder,
         path, folder, path, status, flags)
BY_PLACE(int, unlinkat, (int folder, const char *path, int flags), folder, path, folder, path, flags)
BY_PLACE(int, linkat, (int old, const char *from, int folder, const char *to, int flags), folder, to,
         old, from, folder, to, flags)
BY_PLACE(int, renameat, (int old, const char *from, int folder, const char *to), folder, to, old,
         from, folder, to)
BY_PLACE(int, renameat2, (int old, const char *from, int folder, const char *to, unsigned flags),
         folder, to, old, from, folder, to, flags)

BY_FILE(ssize_t, read, (int file, void *bytes, size_t count), file, file, bytes, count)
BY_FILE(ssize_t, write, (int file, const void *bytes, size_t count), file, file, bytes, count)
BY_FILE(ssize_t, pread, (int file, void *bytes, size_t count, off_t at), file, file, bytes, count, at)
BY_FILE(ssize_t, pread64, (int file, void *bytes, size_t count, off64_t at), file, file, bytes, count,
        at)
BY_FILE(ssize_t, pwrite, (int file, const void *bytes, size_t count, off_t at), file, file, bytes,
        count, at)
BY_FILE(ssize_t, pwrite64, (int file, const void *bytes, size_t count, off64_t at), file, file, bytes,
        count, at)
BY_FILE(ssize_t, writev, (int file, const struct iovec *parts, int count), file, file, parts, count)
BY_FILE(int, ftruncate, (int file, off_t length), file, file, length)
BY_FILE(int, fchmod, (int file, mode_t mode), file, file, mode)
BY_FILE(int, fsync, (int file), file, file)
BY_FILE(int, fdatasync, (int file), file, file)
