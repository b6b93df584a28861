#!/usr/bin/python3 -u
"""The Debian package: installed it is there from a new user's login on, two USB cameras are a call at full rate whose
pictures trade places, an upgrade goes by unnoticed, a purge leaves nothing.

What it installs mirrors the stream to v4l2loopback meanwhile.
"""
import glob
import loopback
from guest import *

OLD, NEW = os.environ['DUALCAM_PACKAGES'].split()
# Small and slow, for one emulated machine makes the pictures, decodes, composes and reads them
WIDTH, HEIGHT, RATE = 320, 180, 10
CONFIGURATION = f"""
[output]
width = {WIDTH}
height = {HEIGHT}
frame-rate = {RATE}
[cameras.back]
capture = "320x240@{RATE}"
[cameras.front]
capture = "320x240@{RATE}"
"""


def apt(*words):
    # Without the lists of what Debian has, which there is no network for. Some images have Debian
    # leave out manuals.
    code, out, errors = run(
        'apt-get', '-y', '-o', 'Dir::State::Lists=/var/empty', '-o', 'DPkg::Options::=--path-include=*', *words, deadline=240,
        env={**os.environ, 'DEBIAN_FRONTEND': 'noninteractive'})
    if code != 0:
        raise Failure(f'apt-get {" ".join(words)}: {out}{errors}')
    say(f'ok: apt-get {" ".join(words)}')


def sight(frame):
    """The hues that the main picture and the inset have: 'orange', 'blue' or None."""
    def look(*points):
        differences = [frame[at + 3] - frame[at + 1] for at in ((y * WIDTH + x) * 2 for x, y in points)]
        hues = {'orange' if difference > 30 else 'blue' if difference < -30 else None for difference in differences}
        return hues.pop() if len(hues) == 1 else None

    return look((60, 74), (160, 100), (250, 150), (4, 176), (316, 176)), look((260, 26), (272, 30), (288, 26))


def expect_rate(consumer):
    """Has a consumer have all of the stream's frames for five seconds on end, once it has settled."""
    begin, best = time.monotonic(), 0
    while abs(best - RATE) > RATE * 0.05 and time.monotonic() - begin < 60:
        frames = consumer.frames(5 * RATE)
        best = min(best, (len(frames) - 1) / (frames[-1][0] - frames[0][0]), key=lambda rate: abs(rate - RATE))
    expect(abs(best - RATE) <= RATE * 0.05, f'it has {best:.2f} frames/s of {RATE}')


def swap(consumer):
    _, (main, inset) = consumer.wait_until('both cameras are seen', lambda seen: set(seen) == {'orange', 'blue'})
    ctl('swap')
    consumer.wait_until('the pictures have traded places', lambda seen: seen == (inset, main))


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
    apt('install', OLD)
    _, out, _ = run('dpkg', '-L', 'dualcam')
    missing = [file for file in out.splitlines() if not os.path.lexists(file)]
    expect(not missing, f'its {len(out.splitlines())} files are there {missing}')

    # A user who was never here, and does nothing but log in
    code, _, errors = run('useradd', '--create-home', '--groups', 'video', 'newcomer')
    expect(code == 0, f'there is a new user {errors}')
    Camera(0, '--name', 'Desk Cam', '--serial', 'D1', '--formats', 'mjpg', '--max-size', '320x240', '--tint', '255,80,0')
    Camera(1, '--name', 'Face Cam', '--serial', 'F1', '--formats', 'yuyv', '--max-size', '320x240', '--tint', '0,80,255')
    become('newcomer')
    wait_for('the daemon runs', lambda: unit('ActiveState') == 'active', 120)
    properties = wait_for('the node is there', node, 60)['info']['props']
    expect(properties.get('node.description') == 'DualCam', 'it is the camera called DualCam')
    wait_for('it has found the cameras', lambda: loopback.cameras() == {'closed'})
    wait_for('it has no problem', lambda: status()['problems'] == [])
    check('dualcamctl', 'config', 'check', '/etc/dualcam/dualcam.toml')

    # Another configuration
    configure(loopback.CONFIGURATION)
    check('systemctl', '--user', 'reload', UNIT)
    loopback.play()

    # A call, in which the pictures trade places
    configure(CONFIGURATION)
    check('systemctl', '--user', 'reload', UNIT)
    wait_for('it has the cameras', lambda: {camera['name'][-8:] for camera in status()['cameras'].values()} == {'Desk Cam', 'Face Cam'})
    wait_for('its node is there', node)
    check('gst-inspect-1.0', 'pipewiresrc')
    consumer = Consumer(sight, WIDTH, HEIGHT)
    consumer.wait_until('both cameras are seen', lambda seen: set(seen) == {'orange', 'blue'}, 60)
    expect_rate(consumer)
    swap(consumer)

    # An upgrade meanwhile; the client is the new one, then
    pid, identity = unit('MainPID'), status()['output']['nodeId']
    begin = time.monotonic()
    apt('install', NEW)
    consumer.frames(RATE)
    times = [when for when, _ in consumer.seen if when >= begin]
    longest = max(b - a for a, b in zip([begin] + times, times))
    expect_within(2, longest, f'the longest wait for a frame in the upgrade, of {len(times)} frames')
    expect((unit('MainPID'), status()['output']['nodeId']) == (pid, identity), 'the same daemon has the same node')
    swap(consumer)
    expect_rate(consumer)
    consumer.leave()

    # The daemon that the upgrade has left alone, whose file is another one now
    apt('purge', 'dualcam')
    wait_for('the daemon is gone', lambda: not os.path.exists(f'/proc/{pid}/exe'), 30)
    remaining = [file for file in out.splitlines() if 'dualcam' in file and os.path.lexists(file)]
    expect(not remaining, f'every file is gone {remaining}')
    expect(left() == before, f'nothing is left: {sorted(left() - before)}')
    expect(not os.path.exists('/etc/dualcam'), 'nor is its folder')


main(body)
