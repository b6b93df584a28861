// libsystemd: readiness, watchdog, journal. Its own headers, nothing added.
#include <systemd/sd-daemon.h>
#include <systemd/sd-journal.h>
