#!/usr/bin/python3 -u
"""A face in good light on a USB camera: its exposure follows the face as the light changes, leaves another program's value,
and is the camera's own again when it closes."""
import statistics
from guest import *

WIDTH, HEIGHT, RATE = 640, 360, 15
CAMERA = 320, 240, 15
CONFIGURATION = f"""
{output(WIDTH, HEIGHT, RATE)}
[cameras.back]
capture = "{CAMERA[0]}x{CAMERA[1]}@{CAMERA[2]}"
[scene]
layout = "single"
background = "crop"
"""
PICTURE = '/run/person.luma'
# The skin of the drawn person, in parts of the stream's picture.
FACE = range(int(0.43 * HEIGHT), int(0.55 * HEIGHT), 4), range(int(0.49 * WIDTH), int(0.56 * WIDTH), 4)
# The luma that a face should have, and a quarter of a stop about it.
WANTED = range(139, 163)


def sample(frame):
    """The median of the face's luma, 0 to 255."""
    return (statistics.median(frame[(y * WIDTH + x) * 2] for y in FACE[0] for x in FACE[1]) - 16) * 255 / 219


def follows(camera, consumer, light):
    """Changes the light; waits until the face is wrong, and right again for a second."""
    camera.command(f'light {light}')
    at, seen = consumer.wait_until(f'light {light}: the face has other light', lambda now: int(now) not in WANTED, 10)
    right = 0

    def lasts(now):
        nonlocal right
        right = right + 1 if int(now) in WANTED else 0
        return right == RATE
    soon, _ = consumer.wait_until('the face is right again', lasts, 20)
    say(f'measured: light {light}: the face had {seen:.0f}, and was right again {soon - at - 1:.1f} s later')
    expect(control(camera, 'auto_exposure') == 1, 'by the exposure')


def body():
    person = os.path.join(os.path.dirname(os.path.abspath(__file__)), '../ImagingTests/Persons/drawn.png')
    do('ffmpeg', '-v', 'error', '-y', '-i', person, '-vf', 'scale=320:180,pad=320:240:0:30,format=gray,lut=val*0.7',
       '-f', 'rawvideo', PICTURE, deadline=120)
    camera = Camera(0, '--name', 'Desk Cam', '--formats', 'yuyv', '--max-size', '320x240', '--letter', '-', '--luma', PICTURE)
    install()
    configure(CONFIGURATION)
    activate()
    pid = int(unit('MainPID'))
    consumer = Consumer(sample, WIDTH, HEIGHT)
    consumer.wait_until('a frame', lambda _: True, 60)
    wait_for('status: streaming', lambda: status()['state'] == 'streaming')
    consumer.wait_until('the face is dark', lambda now: now < WANTED[0], 20)
    ctl('metering', 'face')
    consumer.wait_until('the face is right', lambda now: int(now) in WANTED, 20)
    follows(camera, consumer, 0.4)
    follows(camera, consumer, 1.6)

    # Another program's value stays.
    check('v4l2-ctl', '-d', camera.device, '-c', 'exposure_time_absolute=30')
    consumer.wait_until("another program's exposure is seen", lambda now: now < WANTED[0], 10)
    consumer.frames(3 * RATE)
    expect(control(camera, 'exposure_time_absolute') == 30, 'it stays')
    ctl('shutter', 'auto')
    consumer.wait_until('the face is right again', lambda now: int(now) in WANTED, 20)

    consumer.leave()
    wait_for('the camera is closed', lambda: not open_cameras(pid), 15)
    expect(control(camera, 'auto_exposure') == 3, 'the exposure is automatic again')


main(body)
