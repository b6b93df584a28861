#!/usr/bin/python3 -u
"""Three USB cameras as the lenses of one: each takes the place of another without a cut, set as that one was, and one that is
pulled out is replaced by another one's picture until it is back. And the zoom of one's own: it takes over from the crop."""
from guest import *

WIDTH, HEIGHT, RATE = 320, 180, 10
CAMERA = 320, 240, 5
FACTORS = {'ultra-wide': 0.5, 'wide': 1.0, 'telephoto': 3.0}
# The lights before each, so that one can tell whose picture it is, by hand as well as its own: an
# automatic exposure, which none of them has when it is seen, would make each darker than all of
# these.
LIGHTS = {'ultra-wide': 0.56, 'wide': 0.72, 'telephoto': 1.0}
PORTS = {'wide': 0, 'ultra-wide': 1, 'telephoto': 2}
# Of the mean luma: bars that are half in the picture.
SLACK = 12
# How far from each other the dark bars are at 1x, in pixels of the output.
PERIOD = 8 * 2 * HEIGHT / CAMERA[1]


def sample(frame):
    """The mean luma in the middle of the picture, and what is seen there."""
    row = bytes(frame[(90 * WIDTH + 85) * 2:(90 * WIDTH + 235) * 2:2])
    return sum(row) / len(row), row


def magnified(row):
    """How much the picture is magnified, by how far its dark bars are from each other."""
    falls = [a - b for a, b in zip(row, row[1:])]
    least = max(falls) / 3
    places, at = [], 0
    while at < len(falls):
        # A fall may take some pixels; it is where the middle of it is.
        end = at
        while end < len(falls) and falls[end] > least:
            end += 1
        if end > at:
            places.append(sum(x * falls[x] for x in range(at, end)) / sum(falls[at:end]))
        at = end + 1
    return (places[-1] - places[0]) / (len(places) - 1) / PERIOD


def camera_property(name):
    return property_of('Camera', name, f'{OBJECT}/cameras/back')


def mean(consumer):
    """The mean luma of the next frames."""
    seen = [now[0] for _, now in consumer.frames(6)]
    return sum(seen) / len(seen)


def expect_seamless(frames, before, after, text):
    """No frame is lighter or darker than both pictures, and none is held for more than two of the camera's intervals."""
    lumas = [now[0] for _, now in frames]
    low, high = min(before, after) - SLACK, max(before, after) + SLACK
    say(f'measured: {text}: {len(frames)} frames, luma {before:.1f} to {after:.1f}, within {min(lumas):.1f} to {max(lumas):.1f}')
    wrong = [(round(at - started, 1), round(luma, 1)) for at, (luma, _) in frames if not low <= luma <= high]
    expect(not wrong, f'{text}: no frame is lighter or darker than both pictures: {wrong}')
    changes = [frames[0][0]] + [b[0] for a, b in zip(frames, frames[1:]) if a[1][1] != b[1][1]]
    over, whole, since = longest_wait(changes)
    expect(over <= 2 / CAMERA[2],
           f'{text}: no picture is held for more than two intervals, {2 / CAMERA[2]} s: {whole:.2f} s after '
           f'[{since - started:.1f}], {whole - over:.2f} s of it paused')


def own_zoom(consumer, camera):
    """The crop shows at once what is asked for, and gives way to the camera's own zoom, step by step; back it goes as that does."""
    consumer.frames(RATE)
    expect(abs(magnified(consumer.seen[-1][1][1]) - 1) < 0.05, 'the whole picture is seen')
    expect(camera_property('ZoomRange') == [0.5, 40], 'five times by itself, and eight times by cropping')
    for wanted in 2.5, 1:
        first = len(consumer.seen)
        ctl('zoom', str(wanted), '--ramp', '0')
        wait_for(f'its own zoom is {wanted}', lambda: control(camera, 'zoom_absolute') == 100 * wanted)
        consumer.frames(RATE)
        seen = [magnified(now[1]) for _, now in consumer.seen[first:]]
        say(f'measured: {[round(value, 2) for value in seen]}')
        expect(abs(seen[-1] / wanted - 1) < 0.05, f'{wanted} is seen')
        # A step is 5 %, and one is on its way. Without the crop it would be 150 % in all.
        tolerance = 0.15
        if wanted > 1:
            off = [abs(value / wanted - 1) for value in seen]
            there = next(index for index, value in enumerate(off) if value < tolerance)
            expect(all(value < tolerance for value in off[there:]) and sorted(off[-RATE:])[RATE // 2] < 0.05,
                   f'it stays so while crop and zoom trade places, within {tolerance}')
        else:
            expect(all(b < a * (1 + tolerance) for a, b in zip(seen, seen[1:])), 'it widens all the way')

    # A hand that turns it has its way.
    check('v4l2-ctl', '-d', camera.device, '-c', 'zoom_absolute=150')
    wait_for('that is the zoom', lambda: camera_property('Zoom') == 1.5)
    check('v4l2-ctl', '-d', camera.device, '-c', 'zoom_absolute=100')
    wait_for('and back', lambda: camera_property('Zoom') == 1)
    code, _, errors = user('dualcamctl', 'zoom', '41')
    expect(code == 2 and 'between 0.5 and 40' in errors, f'a zoom beyond that: exit status {code}: {errors.strip()}')


def by_id(device):
    """What udev calls a camera by its maker, model and serial number."""
    folder = '/dev/v4l/by-id'
    return next((name for name in os.listdir(folder) if os.path.realpath(f'{folder}/{name}') == device), None)


def body():
    cameras = {}
    for name, port in PORTS.items():
        cameras[name] = Camera(port, '--name', f'Lens {port}', '--serial', f'L{port}', '--formats', 'yuyv', '--max-size',
                               '320x240', '--letter', '-', '--bars', '2')
        cameras[name].command(f'light {LIGHTS[name]}')
    names = {name: wait_for(f'the name of {name}', lambda: by_id(camera.device)) for name, camera in cameras.items()}
    wide, telephoto = cameras['wide'], cameras['telephoto']
    install()
    lenses = '\n'.join(
        f'[[cameras.back.lenses]]\nname = "{name}"\nfactor = {FACTORS[name]}\nsource = "v4l2:{names[name]}"'
        for name in ('ultra-wide', 'telephoto'))
    configure(f"""
{output(WIDTH, HEIGHT, RATE)}
[scene]
layout = "single"
hud = "off"
[cameras.front]
source = "test"
[cameras.back]
source = "v4l2:{names['wide']}"
capture = "{CAMERA[0]}x{CAMERA[1]}@{CAMERA[2]}"
{lenses}
""")
    activate()
    pid = int(unit('MainPID'))
    check('gst-inspect-1.0', 'pipewiresrc')
    expect([name for name, _ in camera_property('Lenses')] == ['ultra-wide', 'wide', 'telephoto'], 'three lenses are there')
    expect(camera_property('Lens') == 'wide', 'the wide one is in use')

    consumer = Consumer(sample, WIDTH, HEIGHT)
    consumer.wait_until('a frame', lambda _: True, 60)
    wait_for('status: streaming', lambda: status()['cameras']['back']['state'] == 'streaming', 60)
    expect(open_cameras(pid) == {wide.device}, 'no other lens is open')
    own_zoom(consumer, wide)
    for dial in (('shutter', '1/60'), ('iso', '400'), ('focus', 'near')):
        ctl(*dial)
    by_hand = {name: control(wide, name) for name in ('auto_exposure', 'exposure_time_absolute', 'gain')}
    expect(by_hand['auto_exposure'] == 1 and control(wide, 'focus_automatic_continuous') == 0, f'set by hand: {by_hand}')
    consumer.frames(RATE)

    lumas, shown = {'wide': mean(consumer)}, wide
    for name in ('telephoto', 'ultra-wide', 'wide', 'telephoto'):
        camera, before = cameras[name], mean(consumer)
        first = len(consumer.seen)
        begin = time.monotonic()
        # It answers when the lens is seen.
        ctl('lens', name)
        wait_for(f'{name} alone is open', lambda: open_cameras(pid) == {camera.device})
        say(f'measured: {name} alone is open {time.monotonic() - begin:.2f} s after the command')
        consumer.frames(3)
        after = mean(consumer)
        expect(abs(after - before) > 2 * SLACK, f'the pictures differ: {before:.1f}, {after:.1f}')
        expect(abs(after - lumas.setdefault(name, after)) < SLACK, f'{name} is seen')
        expect_seamless(consumer.seen[first:], before, after, name)
        expect(camera_property('Lens') == name and not camera_property('LensFallback'), f'{name} is in use')
        seen = {key: control(camera, key) for key in by_hand}
        expect(seen == by_hand, f'{name} is set as the one before: {seen}')
        expect(control(camera, 'focus_automatic_continuous') == 1, f'{name} focuses by itself')
        wait_for('the one before is automatic again', lambda: control(shown, 'auto_exposure') == 3, 10)
        shown = camera

    # The telephoto is pulled out in use, and another one shows what it would.
    telephoto.command('unplug')
    wait_for('the lens falls back', lambda: camera_property('LensFallback'))
    wait_for('the wide one is open', lambda: open_cameras(pid) == {wide.device})
    consumer.wait_until('the wide one is seen', lambda now: abs(now[0] - lumas['wide']) < SLACK)
    wait_for('status: streaming', lambda: status()['cameras']['back']['state'] == 'streaming')
    expect([name for name, _ in camera_property('Lenses')] == ['ultra-wide', 'wide'], 'two lenses are left')
    expect(camera_property('Lens') == 'telephoto', 'it is still what is wanted')
    consumer.frames(RATE)
    before, first = mean(consumer), len(consumer.seen)
    telephoto.command('plug')
    wait_for('it comes back', lambda: camera_property('LensFallback') is False)
    wait_for('it alone is open', lambda: len(open_cameras(pid)) == 1 and wide.device not in open_cameras(pid))
    telephoto.device = next(iter(open_cameras(pid)))
    consumer.frames(3)
    after = mean(consumer)
    expect(abs(after - lumas['telephoto']) < SLACK, 'it is seen')
    expect_seamless(consumer.seen[first:], before, after, 'back again')
    seen = {key: control(telephoto, key) for key in by_hand}
    expect(seen == by_hand, f'it is set by hand again: {seen}')

    # When it is not used any more, its own zoom is as it was.
    ctl('zoom', '6')
    wait_for('its own zoom', lambda: control(telephoto, 'zoom_absolute') == 200)
    consumer.leave()
    wait_for('the cameras are closed', lambda: not open_cameras(pid), 15)
    expect(control(telephoto, 'zoom_absolute') == 100, 'its own zoom is as it was')


main(body)
