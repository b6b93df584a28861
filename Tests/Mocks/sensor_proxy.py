"""iio-sensor-proxy for python-dbusmock: an accelerometer that reports only to who has claimed it.

python-dbusmock had a template of its own, which the version of Debian testing lacks.
"""
import dbus
from dbusmock import MOCK_IFACE

BUS_NAME = MAIN_IFACE = 'net.hadess.SensorProxy'
MAIN_OBJ = '/net/hadess/SensorProxy'
SYSTEM_BUS = True


def load(mock, parameters):
    mock.readings = {
        'HasAccelerometer': dbus.Boolean(False),
        'AccelerometerOrientation': dbus.String('undefined'),
    }
    mock.owners = {}


@dbus.service.method(dbus.PROPERTIES_IFACE, in_signature='ss', out_signature='v')
def Get(self, interface, name):
    return self.readings[name]


@dbus.service.method(dbus.PROPERTIES_IFACE, in_signature='s', out_signature='a{sv}')
def GetAll(self, interface):
    return self.readings if interface == MAIN_IFACE else dbus.Dictionary({}, signature='sv')


@dbus.service.method(MAIN_IFACE, sender_keyword='sender')
def ClaimAccelerometer(self, sender):
    def changed(owner):
        if not owner:
            ReleaseAccelerometer(self, sender)

    if sender not in self.owners:
        self.owners[sender] = self.connection.watch_name_owner(sender, changed)


@dbus.service.method(MAIN_IFACE, sender_keyword='sender')
def ReleaseAccelerometer(self, sender):
    watch = self.owners.pop(sender, None)
    if watch:
        watch.cancel()


@dbus.service.method(MOCK_IFACE, in_signature='ssv')
def SetInternalProperty(self, interface, name, value):
    if self.readings[name] == value:
        return
    self.readings[name] = value
    for owner in list(self.owners) if name == 'AccelerometerOrientation' else [None]:
        message = dbus.lowlevel.SignalMessage(self.path, dbus.PROPERTIES_IFACE, 'PropertiesChanged')
        if owner:
            message.set_destination(owner)
        message.append(interface, {name: value}, [], signature='sa{sv}as')
        for location in self.locations:
            location[0].send_message(message)


@dbus.service.method(MOCK_IFACE, in_signature='s', out_signature='as')
def GetInternalProperty(self, name):
    return list(self.owners)
