#!/usr/bin/python3
"""Prints what pw-dump shows to an app that has its connection to PipeWire from the camera portal.

pw-dump can only connect to a socket, so this passes what goes over one on to the portal's connection, and back. Exits with 1
if the portal refuses.
"""
import array, os, socket, subprocess, sys, threading
from gi.repository import Gio, GLib

NAME, PATH = 'org.freedesktop.portal.Desktop', '/org/freedesktop/portal/desktop'


def connection():
    """The portal's connection to PipeWire."""
    bus = Gio.bus_get_sync(Gio.BusType.SESSION)
    reply, descriptors = bus.call_with_unix_fd_list_sync(
        NAME, PATH, 'org.freedesktop.portal.Camera', 'OpenPipeWireRemote', GLib.Variant('(a{sv})', ({},)),
        GLib.VariantType('(h)'), Gio.DBusCallFlags.NONE, 60000, None, None)
    remote = socket.socket(fileno=descriptors.get(reply.unpack()[0]))
    remote.setblocking(True)
    return remote


def pass_on(source, target):
    """Bytes and descriptors, until one of the two closes."""
    try:
        while True:
            data, ancillary, _, _ = source.recvmsg(1 << 16, socket.CMSG_SPACE(64 * 4))
            if not data:
                break
            numbers = array.array('i')
            for level, kind, content in ancillary:
                if (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS):
                    numbers.frombytes(content[:len(content) // 4 * 4])
            sent = target.sendmsg([data], [(socket.SOL_SOCKET, socket.SCM_RIGHTS, numbers)] if numbers else [])
            target.sendall(data[sent:])
            for number in numbers:
                os.close(number)
    except OSError:
        pass
    for end in source, target:
        try:
            end.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass


def main():
    try:
        remote = connection()
    except GLib.Error as error:
        sys.exit(str(error))
    name = f'pipewire-of-portal-{os.getpid()}'
    path = f'{os.environ["XDG_RUNTIME_DIR"]}/{name}'
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(path)
    listener.listen()
    dump = subprocess.Popen(['pw-dump'], env={**os.environ, 'PIPEWIRE_REMOTE': name}, stdin=subprocess.DEVNULL)
    listener.settimeout(60)
    app, _ = listener.accept()
    os.unlink(path)
    for source, target in (app, remote), (remote, app):
        threading.Thread(target=pass_on, args=(source, target), daemon=True).start()
    status = dump.wait(60)
    sys.stdout.flush()
    os._exit(status)


main()
