'''A tray for python-dbusmock: it remembers the item that was registered last.'''

import dbus

BUS_NAME = 'org.kde.StatusNotifierWatcher'
MAIN_OBJ = '/StatusNotifierWatcher'
MAIN_IFACE = BUS_NAME
SYSTEM_BUS = False


def load(mock, parameters):
    mock.registered = ''


@dbus.service.method(MAIN_IFACE, in_signature='s')
def RegisterStatusNotifierItem(self, service):
    self.registered = service


@dbus.service.method(MAIN_IFACE, out_signature='s')
def Registered(self):
    return self.registered
