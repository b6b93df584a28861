#!/usr/bin/python3 -u
"""The stream in a user's session under systemd, from two USB cameras: one speaks only MJPG, the other only YUYV."""
import time
from guest import *

# Small and slow, for one emulated machine makes the pictures, decodes, composes and reads them. A
# camera that delivers nothing for five intervals counts as stalled, and its picture is blurred: on
# a busy machine that happens.
WIDTH, HEIGHT, RATE = 640, 360, 15
CAMERA = '320x240', 5
CONFIGURATION = f"""
{output(WIDTH, HEIGHT, RATE)}
[cameras.back]
capture = "{CAMERA[0]}@{CAMERA[1]}"
[cameras.front]
capture = "{CAMERA[0]}@{CAMERA[1]}"
"""


class Sight:
    """What one looks for in a frame: whose hue the main picture and the inset have, and the main camera's counter."""

    def __init__(self):
        self.pictures = {}      # hue -> size of the camera that has it, and if it is mirrored

    def __call__(self, frame):
        # The lower corners too: the incoming picture grows, and has them when it has arrived
        main, _ = self.look(frame, (120, 150), (320, 200), (500, 300), (6, 352), (632, 352))
        inset, luma = self.look(frame, (520, 55), (546, 60), (576, 55))
        if main not in self.pictures:
            return main, inset, luma, None
        size, mirrored = self.pictures[main]
        return main, inset, luma, counter(frame, (WIDTH, HEIGHT), size, mirrored, gray=range(51, 200))

    def look(self, frame, *points):
        """The hue that all the points have ('orange', 'blue' or None), and their mean luma."""
        luma, hues = 0, set()
        for x, y in points:
            at = (y * WIDTH + x) * 2
            luma += frame[at]
            hues.add(hue(frame, at))
        return hues.pop() if len(hues) == 1 else None, luma / len(points)


def streaming():
    """The status, when all is well."""
    state = status()
    states = {camera['state'] for camera in state['cameras'].values()}
    return state if (state['state'], state['consumers'], states) == ('streaming', 1, {'streaming'}) else None


def rate(frames):
    return (len(frames) - 1) / (frames[-1][0] - frames[0][0])


def expect_live(frames):
    """The main camera's counter rises from frame to frame, or stays where no new picture was there in time."""
    counters = [sample[3] for _, sample in frames if sample[3] is not None]
    steps = [b - a for a, b in zip(counters, counters[1:])]
    if not all(0 <= step < 100 for step in steps) or len(set(counters)) < 10:
        raise Failure(f'the main picture does not live: counters {[sample[3] for _, sample in frames]}')
    say(f'ok: the main picture lives: counter {counters[0]}..{counters[-1]} in {len(frames)} frames, '
        f'{steps.count(0)} repeated, {sum(step - 1 for step in steps if step > 1)} passed over, '
        f'{len(frames) - len(counters)} blurred, {rate(frames):.1f} frames/s')


def closed_after(pid, left):
    wait_for('the cameras are closed', lambda: not open_cameras(pid), 15, every=0.02)
    took = time.monotonic() - left
    say(f'measured: cameras closed {took:.2f} s after the consumer was told to leave')
    return took


def body():
    cameras = {
        'orange': Camera(0, '--name', 'Desk Cam', '--serial', 'D1', '--formats', 'mjpg', '--max-size', CAMERA[0],
                         '--tint', '255,80,0'),
        'blue': Camera(1, '--name', 'Face Cam', '--serial', 'F1', '--formats', 'yuyv', '--max-size', CAMERA[0],
                       '--tint', '0,80,255')}
    hues = {'Desk Cam': 'orange', 'Face Cam': 'blue'}
    install()
    configure(CONFIGURATION)

    # Activation
    expect(unit('ActiveState') == 'inactive', 'the service is not running')
    code, _, _ = user('dualcamctl', 'status')
    expect(code == 8, f'dualcamctl status says so and does not start it (exit status {code})')
    activate()
    pid = int(unit('MainPID'))
    properties = wait_for('the node is there', node)
    expect((properties.get('media.role'), properties.get('node.description')) == ('Camera', 'DualCam'),
           'the node is a camera called DualCam')

    # Each node of uvcvideo's, and why it was chosen or not
    def devices():
        return json.loads(check('dualcamctl', 'cameras', '--all', '--json'))['devices']

    wait_for('both cameras are listed', lambda: sum(device['chosen'] for device in devices()) == 2)
    found = devices()
    say(f'devices: {[(device["path"], device["name"], device["reason"]) for device in found]}')
    chosen = {device['path']: device for device in found if device['chosen']}
    expect(set(chosen) == {camera.device for camera in cameras.values()}, 'they are the two cameras')
    expect({device['role'] for device in chosen.values()} == {'back', 'front'}, 'each has a role')
    for device in chosen.values():
        expect(device['reason'].startswith(f'chosen as {device["role"]}: external, {CAMERA[0]}'), device['reason'])
        expect(device['id'].startswith('v4l2:usb-') and device['modes'], f'{device["id"]} has modes')
    rest = {device['reason'] for device in found if not device['chosen']}
    expect(rest == {'gives no pictures'}, f'uvcvideo has a node for metadata beside each: {rest}')
    check('dualcamctl', 'cameras', '--all')

    # Chosen by hand: the front camera is what back was, back takes the other, and all is undone
    def roles():
        return {device['role']: device['id'] for device in devices() if device['chosen']}

    before, file = roles(), f'{USER.pw_dir}/.config/dualcam/dualcam.toml'
    code, _, errors = user('dualcamctl', 'use', 'front', before['back'])
    expect(code == 1 and 'permission denied' in errors, f'what root wrote is left alone: {errors.strip()}')
    run('chown', '-R', f'{USER.pw_name}:', f'{USER.pw_dir}/.config')
    ctl('use', 'front', before['back'])
    wait_for('the roles are exchanged', lambda: roles() == {'front': before['back'], 'back': before['front']})
    expect(f'source = "{before["back"]}"' in open(file).read(), 'it is in the configuration')
    # The same device for the other role: the two swap what is configured
    ctl('use', 'back', before['back'][len('v4l2:'):])
    wait_for('the roles are as before', lambda: roles() == before)
    ctl('use', 'front', 'auto')
    code, _, errors = user('dualcamctl', 'use', 'front', 'nothing like it')
    expect(code == 10 and before['back'][len('v4l2:'):] in errors, f'a name that nothing has: {errors.strip()}')
    configure(CONFIGURATION)
    ctl('use', 'front', before['back'])
    ctl('use', '--undo')
    wait_for('the roles are as before', lambda: roles() == before)
    expect(open(file).read() == CONFIGURATION, 'the file is as before')
    check('systemctl', '--user', 'reload', UNIT)

    # Nobody looks: the cameras belong to whoever wants them
    expect(not open_cameras(pid), 'no camera is open')
    for camera in cameras.values():
        expect(camera.streams(), f'another program streams from {camera.device}')

    # Somebody looks. GStreamer lists its plugins first, for seconds; not while the time is taken.
    check('gst-inspect-1.0', 'pipewiresrc')
    sight = Sight()
    consumer = Consumer(sight, WIDTH, HEIGHT)
    began = consumer.began
    at, sample = consumer.wait_until('a frame', lambda _: True, 60)
    say(f'measured: first frame {at - began:.2f} s after the consumer was started')
    at, sample = consumer.wait_until('both cameras are seen', lambda seen: {seen[0], seen[1]} == {'orange', 'blue'})
    say(f'measured: both cameras seen {at - began:.2f} s after the consumer was started')
    state = wait_for('status: streaming, from two cameras, to one consumer', streaming)
    wait_for('both cameras are open', lambda: open_cameras(pid) == {camera.device for camera in cameras.values()})
    formats = {}
    for role, camera in state['cameras'].items():
        # The name may have the vendor's in front of it
        name = next(name for name in hues if name in camera['name'])
        formats[name] = camera['pixelFormat']
        mirrored = property_of('Camera', 'Mirror', f'{OBJECT}/cameras/{role}')
        sight.pictures[hues[name]] = (camera['width'], camera['height']), mirrored
        say(f'{role}: {camera["name"]}, {camera["width"]}x{camera["height"]}@{camera["frameRate"]} '
            f'{camera["pixelFormat"]}, mirrored {mirrored}')
        if role == state['main']:
            expect(sample[0] == hues[name], f'the main picture is that of {name}')
    expect(formats == {'Desk Cam': 'MJPG', 'Face Cam': 'YUYV'}, 'one delivers MJPG, the other YUYV')
    expect_live(consumer.frames(60))

    # The inset lives too: its scene goes dark, and bright again
    inset = cameras[sample[1]]
    # For a few frames: the camera's automatic exposure makes up for most of it.
    luma = consumer.seen[-1][1][2]
    for light, text, condition in ((0.05, 'dark', lambda seen: seen[2] < luma * 0.7),
                                   (1.0, 'bright again', lambda seen: seen[2] > luma * 0.9)):
        before = time.monotonic()
        inset.command(f'light {light}')
        at, _ = consumer.wait_until(f'the inset is {text}', condition)
        say(f'measured: the inset was {text} {at - before:.2f} s after the scene')

    # Swap
    before = time.monotonic()
    ctl('swap')
    replied = time.monotonic()
    at, swapped = consumer.wait_until(
        'the pictures have changed places', lambda seen: seen[:2] == (sample[1], sample[0]))
    say(f'measured: swapped {at - before:.2f} s after the command was given, {at - replied:.2f} s after it ended')
    expect(status()['swapped'] is True, 'status: swapped')
    expect_live(consumer.frames(60))

    # Nobody looks again
    left = consumer.leave()
    took = closed_after(pid, left)
    expect_within(4, took, 'that is soon enough')
    wait_for('status: idle', lambda: status()['state'] == 'idle')
    for camera in cameras.values():
        expect(camera.streams(), f'another program streams from {camera.device}')

    # And somebody once more
    consumer = Consumer(sight, WIDTH, HEIGHT)
    at, _ = consumer.wait_until(
        'both cameras are seen, still swapped', lambda seen: seen[:2] == swapped[:2], 60)
    say(f'measured: both cameras seen {at - consumer.began:.2f} s after the second consumer was started')

    # Stop, in the middle of it
    check('systemctl', '--user', 'stop', UNIT)
    # When systemd sent SIGTERM, and when it saw the end; it would not have called it clean after
    # TimeoutStopSec
    told, ended = (int(unit(f'{name}TimestampMonotonic')) / 1e6 for name in ('ActiveExit', 'ExecMainExit'))
    expect(0 < told < ended, f'measured: the daemon ended {ended - told:.2f} s after SIGTERM')
    expect((unit('Result'), unit('ExecMainCode'), unit('ExecMainStatus')) == ('success', '1', '0'), 'it ended cleanly')
    wait_for('the node is gone', lambda: node() is None)
    consumer.leave()
    for camera in cameras.values():
        expect(camera.streams(), f'another program streams from {camera.device}')

    # What it wrote down
    entries = [json.loads(line) for line in journal('--output=json', f'_SYSTEMD_USER_UNIT={UNIT}').splitlines()]
    ours = [entry for entry in entries if any(key.startswith('DUALCAM_') for key in entry)]
    fields = sorted({key for entry in ours for key in entry if key.startswith('DUALCAM_')})
    expect(ours, f'the journal has structured entries: {len(ours)} of {len(entries)}, fields {fields}')
    errors = [entry['MESSAGE'] for entry in ours if int(entry['PRIORITY']) <= 3]
    expect(not errors, f'none of them is an error {errors}')


main(body)
