// libsystemd: readiness, watchdog and journal. Only its own headers.
#include <systemd/sd-daemon.h>
#include <systemd/sd-journal.h>
