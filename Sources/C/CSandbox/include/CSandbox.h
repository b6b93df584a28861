// What a process gives up for good before it reads what strangers made, Landlock and seccomp, and
// how it gets the files that it is to read. Swift does not import the macros of either.
#ifndef CSANDBOX_H
#define CSANDBOX_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

// Whom a process may reach on the network: nobody, the peers of `csandbox_serve_peers`, or those
// who connect to a socket of its that listens already.
enum csandbox_network { csandbox_nobody, csandbox_peers, csandbox_guests };

// Takes from the calling thread, and from all threads that it starts, the right to gain privileges
// (PR_SET_NO_NEW_PRIVS), to open files and, unless it has peers, to connect by TCP, with Landlock.
// Returns 0 or an errno: ENOSYS or EOPNOTSUPP if the kernel has no Landlock, EPERM if a filter
// refuses its calls.
int csandbox_leave_files(enum csandbox_network);

// Takes every system call from the calling thread, and from all threads that it starts, except for
// those that work on open descriptors, memory, threads and time, with seccomp. For peers there
// are sockets of the internet, too, which can be connected to them alone; for guests there is
// accept(2), and no thread. Other calls fail with EPERM. Returns 0 or an errno: EINVAL if the
// kernel has no seccomp. Takes the right to gain privileges as well, as prctl(2) requires.
int csandbox_leave_calls(enum csandbox_network);

// Adds an address, a struct sockaddr of the internet, to those that are one peer's.
void csandbox_add_peer(const void *address, size_t length);

// Starts a process that connects this one's sockets to the addresses added so far, a limited number
// of times, and ends with the calling thread. connect(2), and for datagrams sendmsg(2) with an
// address, go through it. To be called once: after `csandbox_leave_files`, whose scope would keep
// the signal of that end from it, and before `csandbox_leave_calls`. Returns 0 or an errno.
int csandbox_serve_peers(bool by_datagrams);

// True once this process has tried to reach something else than the peer, or the peer too often.
bool csandbox_has_strayed(void);

// True if this process has a connection of the internet.
bool csandbox_is_connected(void);

// The most descriptors in one message.
enum { csandbox_most_descriptors = 8 };

// sendmsg(2) with descriptors (SCM_RIGHTS, unix(7)); `count` may be 0.
ssize_t csandbox_send(int socket, const void *bytes, size_t length, const int *descriptors, int count);

// recvmsg(2), which stores at most csandbox_most_descriptors descriptors, close-on-exec, and their
// number in `count`.
ssize_t csandbox_receive(int socket, void *bytes, size_t length, int *descriptors, int *count);

// Creates `length` bytes of memory for several processes, a file that none of them can make smaller
// or larger: memfd_create(2), named `name`, close-on-exec. Returns its descriptor, or -1 and sets
// errno.
int csandbox_memory(const char *name, size_t length);

// Closes all descriptors above standard error. Returns 0 or an errno: ENOSYS before Linux 5.9.
int csandbox_close_others(void);

// Makes the calling process end with the thread that started it: prctl(2), which is variadic.
void csandbox_end_with_parent(void);

#endif
