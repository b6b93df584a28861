'''The portal of global shortcuts for python-dbusmock: it grants every key, and remembers who asked.'''

import dbus
import dbus.lowlevel

BUS_NAME = 'org.freedesktop.portal.Desktop'
MAIN_OBJ = '/org/freedesktop/portal/desktop'
MAIN_IFACE = 'org.freedesktop.portal.GlobalShortcuts'
REGISTRY = 'org.freedesktop.host.portal.Registry'
REQUEST = 'org.freedesktop.portal.Request'
SYSTEM_BUS = False


def load(mock, parameters):
    mock.AddProperty(MAIN_IFACE, 'version', dbus.UInt32(1))
    mock.registered = ''
    mock.bound = []


def respond(mock, sender, options, results):
    name = sender[1:].replace('.', '_')
    path = f'{MAIN_OBJ}/request/{name}/{options["handle_token"]}'
    signal = dbus.lowlevel.SignalMessage(path, REQUEST, 'Response')
    signal.append(dbus.UInt32(0), dbus.Dictionary(results, signature='sv'), signature='ua{sv}')
    signal.set_destination(sender)
    mock.connection.send_message(signal)
    return path


@dbus.service.method(REGISTRY, in_signature='sa{sv}')
def Register(self, application, options):
    self.registered = application


@dbus.service.method(MAIN_IFACE, in_signature='a{sv}', out_signature='o', sender_keyword='sender')
def CreateSession(self, options, sender=None):
    session = f'{MAIN_OBJ}/session/test/{options["session_handle_token"]}'
    return respond(self, sender, options, {'session_handle': dbus.String(session, variant_level=1)})


@dbus.service.method(MAIN_IFACE, in_signature='oa(sa{sv})sa{sv}', out_signature='o', sender_keyword='sender')
def BindShortcuts(self, session, shortcuts, parent, options, sender=None):
    self.bound = [str(session), str(self.registered)] + [str(name) for name, _ in shortcuts]
    granted = dbus.Array([
        (name, dbus.Dictionary({'trigger_description': 'Ctrl+Alt+' + str(name)[0]}, signature='sv'))
        for name, _ in shortcuts
    ], signature='(sa{sv})', variant_level=1)
    return respond(self, sender, options, {'shortcuts': granted})


@dbus.service.method(MAIN_IFACE, out_signature='as')
def Bound(self):
    return self.bound
