#!/usr/bin/python3 -u
"""A desk camera, mounted upside down: what a scene sets of it comes when the camera does, what was locked is held through
other light and a loss of power, and text stays upright.

With DUALCAM_ROWS in the environment, one of these: scene, locked, upright.
"""
from guest import *

WIDTH, HEIGHT, RATE = 320, 180, 10
CONFIGURATION = f"""
{output(WIDTH, HEIGHT, RATE)}
[cameras.back]
capture = "320x240@{RATE}"
[cameras.front]
source = "test:ramp"
[scene]
layout = "single"
background = "crop"
swap-icon = false
hud = "off"
"""
# Four quarters, each of another lightness: the lightest at the top left, then clockwise
OPTIONS = '--name', 'Desk Cam', '--serial', 'D1', '--formats', 'yuyv', '--max-size', '320x240', '--quarters', '--letter', '-'
UPRIGHT, TURNED = (0, 1, 3, 2), (3, 2, 0, 1)
AUTOMATIC = {'auto_exposure': 3, 'white_balance_automatic': 1, 'focus_automatic_continuous': 1, 'zoom_absolute': 100}


def sample(frame):
    """Which of the scene's quarters is where, clockwise from the top left; None while they are not told apart."""
    lumas = [frame[(y * WIDTH + x) * 2] for x, y in ((60, 45), (260, 45), (260, 135), (60, 135))]
    order = sorted(lumas, reverse=True)
    if any(a - b < 30 for a, b in zip(order, order[1:])):
        return None
    # The darkest is behind the lightest but one
    return tuple(order.index(luma) for luma in lumas)


def controls(camera, *names):
    """The values that v4l2-ctl reads."""
    out = check('v4l2-ctl', '-d', camera.device, '-C', ','.join(names))
    return {line.split(': ')[0]: int(line.split(': ')[1].split()[0]) for line in out.splitlines()}


def back():
    return status()['cameras']['back']


def unplug(camera):
    camera.command('unplug')
    wait_for('the camera is gone', lambda: back()['interruption'] == 'unplugged')
    # What a real one does without power
    camera.command('forget')


def plug(camera, consumer):
    camera.command('plug')
    wait_for('the camera is back', lambda: back()['state'] == 'streaming', 60, 0.1)
    camera.device = wait_for('its node', lambda: next(iter(open_cameras(unit('MainPID'))), None))


def scene(camera, consumer):
    consumer.wait_until('the camera is upside down', lambda seen: seen == UPRIGHT, 60)
    expect(controls(camera, *AUTOMATIC) == AUTOMATIC, 'it is automatic')
    for words in (('rotate', '180', '--camera', 'back'), ('zoom', '2', '--camera', 'back'), ('pro', 'on'), ('iso', '400')):
        ctl(*words)
    consumer.wait_until('the picture is turned', lambda seen: seen == TURNED)
    names = 'auto_exposure', 'gain', 'zoom_absolute'
    wanted = wait_for('the camera has zoomed', lambda: controls(camera, *names)['zoom_absolute'] == 200
                      and controls(camera, *names))
    expect(wanted['auto_exposure'] == 1, f'ISO is set by hand: {wanted}')
    ctl('scene', 'save', 'page')
    expect(status()['scene'] == 'page', 'that is the scene')

    # Something else, then the scene while the camera is away
    for words in (('pro', 'off'), ('zoom', '1', '--camera', 'back'), ('rotate', '0', '--camera', 'back')):
        ctl(*words)
    consumer.wait_until('the picture is as it was', lambda seen: seen == UPRIGHT)
    wait_for('so is the camera', lambda: controls(camera, *AUTOMATIC) == AUTOMATIC)
    expect(status()['scene'] == '', 'that is no scene')
    unplug(camera)
    begin = len(consumer.seen)
    ctl('scene', 'apply', 'page')
    plug(camera, consumer)
    consumer.wait_until('the picture is the scene\'s', lambda seen: seen == TURNED)
    wait_for('so are the controls', lambda: controls(camera, *names) == wanted)
    expect(status()['scene'] == 'page', 'that is the scene again')
    live = [seen for _, seen in consumer.seen[begin:] if seen is not None]
    turned = live.index(TURNED)
    # The last picture from before may still be there; then none is as the camera stands
    expect(UPRIGHT not in live[turned:], 'from the first on, each picture is')


HELD = {'auto_exposure': 1, 'white_balance_automatic': 0}


def follows(camera, light, kelvin):
    """The exposure and white balance that uvccam's automatics find, once they have."""
    now = controls(camera, 'exposure_time_absolute', 'gain', 'white_balance_temperature')
    wanted = {'exposure_time_absolute': int(156 * 2 / (1 + now['gain'] / 32) / light), 'white_balance_temperature': kelvin}
    return wanted if wanted.items() <= now.items() else None


def expect_following(camera, light, kelvin):
    try:
        return wait_for('its automatics follow the light', lambda: follows(camera, light, kelvin))
    except Failure as failure:
        raise Failure(f'{failure}; it has {controls(camera, "exposure_time_absolute", "gain", "white_balance_temperature", *HELD)}')


def locked(camera, consumer):
    ctl('pro', 'off')
    names = 'exposure_time_absolute', 'gain', 'white_balance_temperature'
    camera.command('light 0.6')
    camera.command('wbk 3500')
    settled = expect_following(camera, 0.6, 3500)
    ctl('lock', 'exposure', 'wb', '--camera', 'back')
    held = controls(camera, *names, *HELD)
    expect(held == {**held, **settled, **HELD}, f'it holds what they found: {held}')
    expect(sorted(back()['locked']) == ['exposure', 'wb'], 'that is told')
    camera.command('light 0.3')
    camera.command('wbk 6000')
    consumer.frames(2 * RATE)
    expect(controls(camera, *held) == held, 'another light changes none of it')
    unplug(camera)
    plug(camera, consumer)
    wait_for('it is held after a replug', lambda: controls(camera, *held) == held)
    consumer.frames(RATE)
    expect(controls(camera, *held) == held, 'and stays so')
    expect(sorted(back()['locked']) == ['exposure', 'wb'], 'that is told')
    ctl('lock', 'off', '--camera', 'back')
    expect_following(camera, 0.3, 6000)


def upright(camera, consumer):
    """Into another socket, then the daemon anew."""
    def stays(consumer, text):
        consumer.wait_until(f'text is upright {text}', lambda seen: seen == TURNED, 90)
        now = back()
        expect((now['rotation'], now['mirror']) == (180, False), 'turned, and not mirrored')
        expect({seen for _, seen in consumer.frames(RATE)} == {TURNED}, 'in each picture')

    ctl('rotate', '180', '--camera', 'back')
    stays(consumer, 'to begin with')
    camera.command('quit')
    wait_for('the camera is gone', lambda: back()['interruption'] == 'unplugged')
    camera = Camera(4, *OPTIONS)
    stays(consumer, 'in another socket')
    consumer.leave()
    check('systemctl', '--user', 'restart', UNIT)
    wait_for('the node is there', node, 60)
    consumer = Consumer(sample, WIDTH, HEIGHT)
    stays(consumer, 'after a restart')
    consumer.leave()


def body():
    camera = Camera(0, *OPTIONS)
    install()
    configure(CONFIGURATION)
    activate()
    check('gst-inspect-1.0', 'pipewiresrc', deadline=240)
    consumer = Consumer(sample, WIDTH, HEIGHT)
    for row in scene, locked, upright:
        if os.environ.get('DUALCAM_ROWS', '') in row.__name__:
            row(camera, consumer)


main(body)
