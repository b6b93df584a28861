#!/usr/bin/python3 -u
"""The Debian package: installed it is there from a new user's login on, an upgrade goes by unnoticed, a purge leaves nothing.

What it installs mirrors the stream to v4l2loopback meanwhile.
"""
import glob
import loopback
from guest import *

OLD, NEW = os.environ['DUALCAM_PACKAGES'].split()
WIDTH, HEIGHT = 320, 180


def dpkg(*words):
    # Some images have Debian leave out manuals
    code, out, errors = run('dpkg', '--path-include=*', *words, deadline=180)
    if code != 0:
        raise Failure(f'dpkg {" ".join(words)}: {out}{errors}')
    say(f'ok: dpkg {" ".join(words)}')


def left():
    """Every file of ours that a package can leave behind."""
    folders = ['/etc', '/usr/bin', '/usr/lib/systemd/user', '/usr/share/dbus-1', '/var/lib/dpkg/info', '/var/lib/systemd']
    _, out, _ = run('find', *(f for f in folders if os.path.exists(f)), '-xdev', '-iname', '*dualcam*', deadline=120)
    return set(out.splitlines())


def body():
    # It would list all of this machine's manuals anew
    for file in glob.glob('/var/lib/man-db/auto-update'):
        os.unlink(file)
    before = left()
    dpkg('-i', OLD)
    _, out, _ = run('dpkg', '-L', 'dualcam')
    missing = [file for file in out.splitlines() if not os.path.lexists(file)]
    expect(not missing, f'its {len(out.splitlines())} files are there {missing}')

    # A user who was never here, and does nothing but log in
    code, _, errors = run('useradd', '--create-home', '--groups', 'video', 'newcomer')
    expect(code == 0, f'there is a new user {errors}')
    Camera(0, '--name', 'Desk Cam', '--serial', 'D1', '--formats', 'mjpg', '--max-size', '320x240', '--tint', '255,80,0')
    become('newcomer')
    wait_for('the daemon runs', lambda: unit('ActiveState') == 'active', 120)
    properties = wait_for('the node is there', node, 60)['info']['props']
    expect(properties.get('node.description') == 'DualCam', 'it is the camera called DualCam')
    wait_for('it has found the camera', lambda: status()['cameras']['back']['state'] == 'closed')
    wait_for('it has no problem', lambda: status()['problems'] == [])
    check('dualcamctl', 'config', 'check', '/etc/dualcam/dualcam.toml')

    # Another configuration
    configure(loopback.CONFIGURATION)
    check('systemctl', '--user', 'reload', UNIT)
    loopback.play()

    # A call, on a machine that is too slow for the usual size; an upgrade meanwhile
    configure(f'[output]\nwidth = {WIDTH}\nheight = {HEIGHT}\nframe-rate = 10\n')
    check('systemctl', '--user', 'reload', UNIT)
    wait_for('it has the cameras', lambda: 'Desk Cam' in status()['cameras']['back']['name'])
    wait_for('its node is there', node)
    check('gst-inspect-1.0', 'pipewiresrc')
    consumer = Consumer(lambda frame: frame[3] - frame[1] > 30, WIDTH, HEIGHT)
    consumer.wait_until('the camera is seen', lambda isOrange: isOrange, 60)
    pid, identity = unit('MainPID'), status()['output']['nodeId']
    begin = time.monotonic()
    dpkg('-i', NEW)
    consumer.frames(10)
    times = [when for when, _ in consumer.seen if when >= begin]
    longest = max(b - a for a, b in zip([begin] + times, times))
    expect_within(2, longest, f'the longest wait for a frame in the upgrade, of {len(times)} frames')
    expect((unit('MainPID'), status()['output']['nodeId']) == (pid, identity), 'the same daemon has the same node')
    consumer.leave()

    # The daemon that the upgrade has left alone, whose file is another one now
    dpkg('--purge', 'dualcam')
    wait_for('the daemon is gone', lambda: not os.path.exists(f'/proc/{pid}/exe'), 30)
    remaining = [file for file in out.splitlines() if 'dualcam' in file and os.path.lexists(file)]
    expect(not remaining, f'every file is gone {remaining}')
    expect(left() == before, f'nothing is left: {sorted(left() - before)}')
    expect(not os.path.exists('/etc/dualcam'), 'nor is its folder')
    run('loginctl', 'disable-linger', 'newcomer')


main(body)
