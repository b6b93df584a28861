#!/usr/bin/python3 -u
"""Pro mode on a USB camera: what is set is what the driver has and what the picture shows, and the HUD says so."""
import zlib
from guest import *

WIDTH, HEIGHT, RATE = 640, 360, 15
CAMERA = 320, 240, 15
CONFIGURATION = f"""
{output(WIDTH, HEIGHT, RATE)}
[cameras.back]
capture = "{CAMERA[0]}x{CAMERA[1]}@{CAMERA[2]}"
aperture = 1.8
"""
OPTIONS = '--name', 'Desk Cam', '--serial', 'D1', '--formats', 'yuyv', '--max-size', '320x240'
# The HUD's values on this canvas: a dark pill around its lower middle.
PILL = range(322, 338), range(160, 480)


def sample(frame):
    """Mean luma and chroma of the picture, and the pixels of the HUD's values."""
    luma = u = v = count = 0
    for y in range(60, 220, 8):
        for x in range(120, 520, 8):
            at = (y * WIDTH + x) * 2
            luma, u, v, count = luma + frame[at], u + frame[at + 1], v + frame[at + 3], count + 1
    rows, columns = PILL
    hud = b''.join(bytes(frame[(y * WIDTH + columns[0]) * 2:(y * WIDTH + columns[-1]) * 2:2]) for y in rows)
    # What is behind the pill moves; the letters, white or amber, are the lightest of it.
    letters = bytes(pixel > 150 for pixel in hud)
    return luma / count, u / count, v / count, zlib.crc32(letters), min(hud), max(hud)


def expect_controls(camera, text, **values):
    seen = {name: control(camera, name) for name in values}
    expect(seen == values, f'{text}: {seen}')


def back(name):
    return status()['cameras']['back'][name]


def command(consumer, words, text, condition):
    """Gives a command; waits for a frame that shows what came of it; says how long that took from the reply."""
    before = consumer.seen[-1][1]
    out = ctl(*words)
    replied = time.monotonic()
    at, seen = consumer.wait_until(text, lambda now: condition(before, now), 10)
    # In an emulated machine the reply itself and the reading of frames take their time.
    say(f'measured: {text} {at - replied:.2f} s after the reply to {" ".join(words)}')
    expect_within(1.0, at - replied, 'that is soon enough')
    return before, seen, out


def first_with_hud(consumer, words):
    """Gives a command; waits for a frame whose HUD shows other values; says how long that took from the reply."""
    command(consumer, words, f'the HUD shows what {" ".join(words)} did', lambda was, now: now[3] != was[3])


def body():
    camera = Camera(0, *OPTIONS)
    install()
    configure(CONFIGURATION)
    activate()
    pid = int(unit('MainPID'))
    check('gst-inspect-1.0', 'pipewiresrc')

    # Nobody looks: a value can be set all the same, and the camera is not left open.
    expect_controls(camera, 'all automatic', auto_exposure=3, white_balance_automatic=1, focus_automatic_continuous=1)
    gain = control(camera, 'gain')
    ctl('focus', 'near')
    expect_controls(camera, 'focus near, while nobody looks', focus_automatic_continuous=0, focus_absolute=250)
    ctl('focus', 'auto')
    wait_for('the camera is closed', lambda: not open_cameras(pid), 5)

    consumer = Consumer(sample, WIDTH, HEIGHT)
    consumer.wait_until('a frame', lambda _: True, 60)
    wait_for('status: streaming', lambda: status()['state'] == 'streaming')
    consumer.frames(30)

    # The HUD comes.
    ctl('pro', 'on')
    consumer.wait_until('the HUD is there', lambda now: now[4] < 60 and now[5] > 225, 10)
    expect(status()['pro'] is True, 'status: pro')

    # ISO: the exposure's automatic goes off, and the picture is lighter by a third of a stop.
    before, after, _ = command(consumer, ('iso', '+1'), 'the picture is lighter', lambda was, now: now[0] > was[0] + 1.5)
    expect(control(camera, 'auto_exposure') == 1, 'the automatic exposure is off')
    expect(control(camera, 'gain') > gain, 'the gain is higher')
    command(consumer, ('iso', '800'), 'the picture is lighter still', lambda was, now: now[0] > was[0] + 3)
    expect(back('iso') == 800, 'status: ISO 800')

    # Shutter
    command(consumer, ('shutter', '1/250'), 'the picture is darker', lambda was, now: now[0] < was[0] - 5)
    expect_controls(camera, 'shutter 1/250', auto_exposure=1, exposure_time_absolute=40, exposure_dynamic_framerate=0)
    first_with_hud(consumer, ('shutter', '-1'))
    ctl('shutter', '+1')
    expect(back('shutter') == 4000, 'status: 4000 µs')

    # White balance: the camera ends at 6500 K, software goes on. In a light of as much, that is
    # neutral.
    camera.command('wbk 6500')
    command(consumer, ('wb', 'tungsten'), 'the picture is bluer', lambda was, now: now[1] > was[1] + 3 and now[2] < was[2] - 3)
    expect_controls(camera, 'wb tungsten', white_balance_automatic=0, white_balance_temperature=3200)
    command(consumer, ('wb', 'cloudy'), 'the picture is warmer', lambda was, now: now[1] < was[1] - 3 and now[2] > was[2] + 3)
    expect_controls(camera, 'wb cloudy', white_balance_temperature=6500)
    command(consumer, ('wb', 'shade'), 'the picture is warmer still', lambda was, now: now[1] < was[1] - 1 and now[2] > was[2] + 1)
    expect_controls(camera, 'wb shade', white_balance_temperature=6500)
    expect((back('whiteBalance'), back('kelvin')) == ('shade', 7500), 'status: shade, 7500 K')

    # Focus
    ctl('focus', 'near')
    expect_controls(camera, 'focus near', focus_automatic_continuous=0, focus_absolute=250)
    first_with_hud(consumer, ('focus', 'auto'))
    ctl('focus', 'infinity')
    expect_controls(camera, 'focus infinity', focus_absolute=0)

    # A dial against its end
    out = json.loads(ctl('iso', '+20', '--json'))
    expect((out['iso'], out['limited']) == (3200, True), 'the dial of ISO ends at 3200')
    expect(control(camera, 'gain') == 255, 'that is the whole gain')
    ctl('iso', '400')

    # Another program's doing
    for name, value, text, seen in (('exposure_time_absolute', 100, 'shutter', 10000), ('gain', 255, 'iso', 3200),
                                    ('white_balance_temperature', 4000, 'kelvin', 4000)):
        check('v4l2-ctl', '-d', camera.device, '-c', f'{name}={value}')
        wait_for(f"another program's {name}={value} is noticed", lambda: back(text) == seen, 10)
    expect(back('whiteBalance') == 'custom', 'the white balance is nobody\'s preset now')

    # A driver's own control, and one that there is not
    ctl('controls', '--set', 'brightness=10')
    expect(control(camera, 'brightness') == 10, 'brightness was set')
    code, _, errors = user('dualcamctl', 'controls', '--set', 'no_such_control=1')
    expect(code == 10, f'a control that there is not: exit status {code}: {errors.strip()}')

    # The picture as the user wants it, and where another program turns the camera
    ctl('image', 'contrast', '50')
    expect_controls(camera, 'image contrast 50', contrast=50)
    ctl('image', 'pan', '+18000')
    wait_for('the camera turns', lambda: control(camera, 'pan_absolute') == 18000, 10)
    check('v4l2-ctl', '-d', camera.device, '-c', 'contrast=20')
    wait_for("another program's contrast is noticed", lambda: 'contrast  20 ' in ctl('image', 'contrast'), 10)
    ctl('image', 'contrast', '50')

    # Unplugged and plugged in again, all is as it was wanted
    ctl('shutter', '1/250')
    ctl('wb', 'shade')
    camera.command('unplug')
    wait_for('the camera is gone', lambda: back('state') == 'interrupted')
    camera.command('plug')
    wait_for('the camera is back', lambda: back('state') == 'streaming', 30)
    camera.device = wait_for('its node', lambda: next(iter(open_cameras(pid)), None))
    wait_for('its exposure is by hand again', lambda: control(camera, 'auto_exposure') == 1, 10)
    wait_for('its white balance is, too', lambda: control(camera, 'white_balance_temperature') == 6500, 10)
    expect_controls(camera, 'as before', exposure_time_absolute=40, gain=255, focus_automatic_continuous=0,
                    contrast=50, pan_absolute=18000)
    expect((back('shutter'), back('kelvin')) == (4000, 7500), 'status: as before')

    # Off, while the camera takes nothing: that is said.
    camera.command('refuse 1')
    code, _, errors = user('dualcamctl', 'pro', 'off')
    expect(code == 1 and 'not every value is automatic' in errors, f'pro off: exit status {code}: {errors.strip()}')
    expect_controls(camera, 'as before', auto_exposure=1, exposure_time_absolute=40)
    camera.command('refuse 0')

    # Off: all is automatic again, and the HUD goes.
    ctl('pro', 'off')
    expect_controls(camera, 'all automatic', auto_exposure=3, white_balance_automatic=1, focus_automatic_continuous=1)
    consumer.wait_until('the HUD is gone', lambda now: now[5] < 190, 10)
    expect(status()['pro'] is False, 'status: not pro')
    consumer.leave()
    wait_for('the camera is closed', lambda: not open_cameras(pid), 15)
    # It points where it did when it was plugged in again.
    expect_controls(camera, 'as they were found', contrast=32, pan_absolute=18000)


main(body)
