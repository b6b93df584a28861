#!/usr/bin/python3 -u
"""Makes the machine what it was after its boot, between two scripts; fails when something is left then, which is the doing of
the script that ran last. Its own processes are gone already (rig/guest/run-script.sh).
"""
import glob
from guest import *

# Of kernel modules that scripts load: these have state.
MODULES = 'uvcvideo', 'vhci_hcd', 'vivid', 'v4l2loopback', 'sch_netem', 'veth'
# Somebody whom package.py adds.
NEWCOMER = 'newcomer'
DROP_INS = '/etc/systemd/system/iio-sensor-proxy.service.d', f'/etc/systemd/user/{UNIT}.d'


def loaded():
    with open('/proc/modules') as file:
        return [line.split()[0] for line in file if line.split()[0] in MODULES]


def left(users):
    """Processes of people, and ours by whomever."""
    found = []
    for process in glob.glob('/proc/[0-9]*'):
        try:
            owner = os.stat(process).st_uid
            with open(f'{process}/comm') as file:
                name = file.read().strip()
        except OSError:
            continue
        if owner in users or name.startswith(('dualcam', 'uvccam')):
            found.append(f'{name} ({process[6:]})')
    return found


def body():
    users = {user.pw_uid: user.pw_name for user in pwd.getpwall() if user.pw_name in (USER.pw_name, NEWCOMER)}
    # With the session ends all that a person runs; what PAM has opened (guest.become) comes before.
    run('systemctl', 'stop', *(f'login-{name}.service' for name in users.values()),
        *(f'user@{number}.service' for number in users), 'iio-sensor-proxy.service', deadline=150)
    try:
        wait_for('no process is left', lambda: not left(users), 10, 0.2)
    except Failure:
        raise Failure(f'processes are left: {", ".join(left(users))}')

    with open('/proc/mounts') as file:
        for place in (line.split()[1] for line in file):
            if place.endswith('/removable'):
                run('umount', place)
    if os.path.exists('/run/netns/far'):
        run('ip', 'netns', 'del', 'far')
    # A camera is gone when the kernel has noticed that its program is.
    wait_for('the modules are unloaded', lambda: not any(run('rmmod', name)[0] for name in loaded()), 20, 0.2)
    devices = glob.glob('/dev/video*') + glob.glob('/dev/media*')
    expect(not devices, f'no video device is left {devices}')

    uninstall()
    changed = [folder for folder in DROP_INS if os.path.exists(folder)]
    for folder in changed:
        shutil.rmtree(folder)
    if DROP_INS[0] in changed:
        run('systemctl', 'daemon-reload')
    ours = [path for pattern in ('/etc/dualcam*', '/etc/systemd/user/*dualcam*', '/etc/systemd/user/*/*dualcam*', '/usr/bin/dualcam*')
            for path in glob.glob(pattern)]
    expect(not ours, f'no file of ours is left {ours}')
    run('systemctl', 'reset-failed')
    if NEWCOMER in users.values():
        run('userdel', '--force', '--remove', NEWCOMER)
    for path in (SCRATCH, USER.pw_dir, *glob.glob('/run/uvccam*')):
        shutil.rmtree(path) if os.path.isdir(path) else os.path.exists(path) and os.unlink(path)
    os.mkdir(USER.pw_dir)
    os.chown(USER.pw_dir, USER.pw_uid, USER.pw_gid)
    run('systemctl', 'start', f'user@{USER.pw_uid}.service')


if __name__ == '__main__':
    main(body)
