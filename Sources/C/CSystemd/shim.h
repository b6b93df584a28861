// libsystemd: readiness, watchdog, journal and seats. Only its own headers.
#include <systemd/sd-daemon.h>
#include <systemd/sd-journal.h>
#include <systemd/sd-login.h>
