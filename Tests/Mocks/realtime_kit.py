"""RTKit for python-dbusmock: it demands the limit of time as the real one does.

It gives the priority where it may, so that it can be seen.
"""
import dbus

BUS_NAME = MAIN_IFACE = 'org.freedesktop.RealtimeKit1'
MAIN_OBJ = '/org/freedesktop/RealtimeKit1'
SYSTEM_BUS = True

GIVE = '''
import os
process, thread, priority = (int(argument) for argument in args)
with open('/proc/%d/limits' % process) as limits:
    limit = next(line for line in limits if line.startswith('Max realtime timeout')).split()
if limit[4] == 'unlimited' or int(limit[4]) > 100000 or int(limit[3]) >= int(limit[4]):
    raise dbus.exceptions.DBusException(
        'RLIMIT_RTTIME is not set', name='org.freedesktop.DBus.Error.AccessDenied')
try:
    os.sched_setscheduler(
        thread, os.SCHED_FIFO | os.SCHED_RESET_ON_FORK, os.sched_param(priority))
except PermissionError:
    pass
'''


def load(mock, parameters):
    mock.AddProperties(MAIN_IFACE, {
        'MaxRealtimePriority': dbus.Int32(20),
        'MinNiceLevel': dbus.Int32(-15),
        'RTTimeUSecMax': dbus.Int64(100000),
    })
    mock.AddMethod(MAIN_IFACE, 'MakeThreadRealtimeWithPID', 'ttu', '', GIVE)
