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
{output(WIDTH, HEIGHT, RATE)}
[cameras.back]
capture = "320x240@{RATE}"
[cameras.front]
capture = "320x240@{RATE}"
"""

HUES = {'Desk Cam': 'orange', 'Face Cam': 'blue'}
# The hues of mirrored cameras
mirrored = set()


def apt(*words):
    # Without the lists of what Debian has, which there is no network for. Some images have Debian
    # leave out manuals.
    do('apt-get', '-y', '-o', 'Dir::State::Lists=/var/empty', '-o', 'DPkg::Options::=--path-include=*', *words, deadline=240,
       env={**os.environ, 'DEBIAN_FRONTEND': 'noninteractive'})
    say(f'ok: apt-get {" ".join(words)}')


def sight(frame):
    """The hues that the main picture and the inset have: 'orange', 'blue' or None; the main camera's own counter."""
    def look(*points):
        hues = {hue(frame, (y * WIDTH + x) * 2) for x, y in points}
        return hues.pop() if len(hues) == 1 else None

    main = look((60, 74), (160, 100), (250, 150), (4, 176), (316, 176))
    inset = look((260, 26), (272, 30), (288, 26))
    return main, inset, counter(frame, (WIDTH, HEIGHT), (320, 240), main in mirrored) if main else None


def lost():
    """Frames that the daemon knows of which no consumer had: those for which it had no buffer, and of both cameras those that
    were damaged, missing or replaced."""
    drops = counted()['drops']['data']
    return drops['unbuffered']['data'] + sum(
        cause['data'] for role in ('back', 'front') for cause in drops[role]['data'].values())


def expect_all(consumer):
    """Has a consumer have every picture of the main camera, but for those that the daemon has counted as lost. Camera and
    stream have the same rate: as few are shown twice, or else one of the two is slow."""
    begin, before = time.monotonic(), lost()
    frames = consumer.frames(10 * RATE)
    counters = [seen[2] for _, seen in frames if seen[2] is not None]
    known = lost() - before
    steps = [(b - a) & 0xffff for a, b in zip(counters, counters[1:])]
    passed, repeated = sum(step - 1 for step in steps if step > 1), steps.count(0)
    say(f'measured: {len(counters)} pictures of {len(frames)}, {passed} passed over, {repeated} twice, {known} lost')
    expect(len(counters) > 0.9 * len(frames) and all(step < 100 for step in steps), 'the main picture lives')
    expect(passed <= known, 'none was lost that the daemon does not know of')
    # When the machine stands still, a camera and the stream go on one after the other.
    excused = 2 * pauses.count(begin, time.monotonic())
    expect(max(passed, repeated) <= 0.05 * len(frames) + excused, f'it has {len(frames) - passed} frames of {len(frames)}')


def both_seen(seen):
    return set(seen[:2]) == {'orange', 'blue'}


def swap(consumer):
    _, (main, inset, _) = consumer.wait_until('both cameras are seen', both_seen)
    ctl('swap')
    consumer.wait_until('the pictures have traded places', lambda seen: seen[:2] == (inset, main))


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
    do('useradd', '--create-home', '--groups', 'video', 'newcomer')
    Camera(0, '--name', 'Desk Cam', '--serial', 'D1', '--formats', 'mjpg', '--max-size', '320x240', '--tint', '255,80,0')
    Camera(1, '--name', 'Face Cam', '--serial', 'F1', '--formats', 'yuyv', '--max-size', '320x240', '--tint', '0,80,255')
    become('newcomer')
    wait_for('the daemon runs', lambda: unit('ActiveState') == 'active', 120)
    properties = wait_for('the node is there', node, 60)
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
    # The name may have the vendor's in front of it
    wait_for('it has the cameras', lambda: {camera['name'][-8:] for camera in status()['cameras'].values()} == HUES.keys())
    mirrored.update(HUES[camera['name'][-8:]] for camera in status()['cameras'].values() if camera['mirror'])
    wait_for('its node is there', node)
    check('gst-inspect-1.0', 'pipewiresrc')
    consumer = Consumer(sight, WIDTH, HEIGHT)
    consumer.wait_until('both cameras are seen', both_seen, 60)
    expect_all(consumer)
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
    expect_all(consumer)
    consumer.leave()

    # The daemon that the upgrade has left alone, whose file is another one now
    apt('purge', 'dualcam')
    wait_for('the daemon is gone', lambda: not os.path.exists(f'/proc/{pid}/exe'), 30)
    remaining = [file for file in out.splitlines() if 'dualcam' in file and os.path.lexists(file)]
    expect(not remaining, f'every file is gone {remaining}')
    expect(left() == before, f'nothing is left: {sorted(left() - before)}')
    expect(not os.path.exists('/etc/dualcam'), 'nor is its folder')


main(body)
