#!/usr/bin/python3 -u
"""A tablet that is turned: whichever of its edges is up, the pictures of both its cameras stand upright, and photographs too.

It is modelled by vectors in its own axes: for who looks at the screen, x points to its right edge and y to its top one. What
the accelerometer measures and what the cameras see follow from those. What iio-sensor-proxy makes of it, and how DualCam
turns the pictures for that, is what is tested.

iio-sensor-proxy names the edge that is up; the words for the vectors below are those of its own test (test-orientation.c). The
acceleration points to the earth there, as HID sensors have it. So does mutter understand it: for left-up it turns what is on
the screen anticlockwise, its top to the left edge.

up      the tablet, for its user      the back camera      its picture has to be turned      the front camera      its picture
top     is not turned                 not turned           not at all                        not turned            not at all
left    is turned clockwise           clockwise            90° clockwise                     anticlockwise         270° clockwise
bottom  stands on its head            by a half            180°                              by a half             180°
right   is turned anticlockwise       anticlockwise        270° clockwise                    clockwise             90° clockwise

A camera is turned clockwise or not for who is behind it: that is the user for the back camera, and for the front camera
somebody who looks at the user. Its picture is mirrored when it stands upright.
"""
import select, struct
from guest import *
from stage import Signals

WIDTH, HEIGHT, RATE = 320, 180, 10
CONFIGURATION = f"""
{output(WIDTH, HEIGHT, RATE)}
[scene]
swap-icon = false
inset-border = 0
inset-radius = 0
"""
# Where the earth is, by which edge is up
EARTH = {'normal': (0, -1, 0), 'left-up': (1, 0, 0), 'bottom-up': (0, 1, 0), 'right-up': (-1, 0, 0)}
FLAT = 0, 0, -1
# To which side of the tablet, on its axis x, the right side of a camera's picture is. Up is up for
# both.
RIGHT = {'back': 1, 'front': -1}
# The scene's quarters, clockwise from the top left: white, light, black, dark
UPRIGHT = 'wlbd'
PROXY = 'iio-sensor-proxy.service'


class Accelerometer:
    """A HID sensor, made by /dev/uhid; the kernel's hid-sensor-accel-3d makes an IIO device of it. `towards` may be set.

    The descriptor is that of an accelerometer (HID usage tables, page 0x20): a feature report with how it reports, its
    power, the interval in ms and its sensitivity, and an input report with three axes in 1/1000 g.
    """

    # Of linux/uhid.h
    START, STOP, GET_REPORT, GET_REPORT_REPLY, CREATE2, INPUT2, SET_REPORT, SET_REPORT_REPLY = 2, 3, 9, 10, 11, 12, 13, 14
    FEATURE = 0

    def __init__(self, towards):
        self.towards = towards
        self._settings = bytearray(struct.pack('<BBBIH', 1, 1, 1, 100, 1))
        run('modprobe', 'uhid')
        self._file = os.open('/dev/uhid', os.O_RDWR)
        descriptor = self._descriptor()
        os.write(self._file, struct.pack('<I128s64s64sHHIIII', self.CREATE2, b'Tablet', b'', b'', len(descriptor), 3,
                                         0x1209, 3, 0, 0) + descriptor)
        self._isThere = True
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def unplug(self):
        self._isThere = False
        self._thread.join()
        os.close(self._file)

    @staticmethod
    def _descriptor():
        def choice(usage, first):
            usages = b''.join(struct.pack('<BH', 0x0a, first + i) for i in range(6))
            return struct.pack('<BH', 0x0a, usage) + bytes.fromhex('1500 2505 7508 9501 a102') + usages + bytes.fromhex('b100 c0')

        def number(usage, form, kind):
            return struct.pack('<BH', 0x0a, usage) + bytes.fromhex(form + '9501' + kind)

        word = '16018026ff7f7510550d'
        return (bytes.fromhex('0520 0901 a101 8501 0973 a100') + choice(0x316, 0x840) + choice(0x319, 0x850)
                + number(0x30e, '150027ffffff7f75205500', 'b102') + number(0x1452, '150026ff7f7510550d', 'b102')
                + b''.join(number(axis, word, '8102') for axis in (0x453, 0x454, 0x455)) + bytes.fromhex('c0c0'))

    def _input(self):
        return struct.pack('<Bhhh', 1, *(1000 * part for part in self.towards))

    def _serve(self):
        isStarted = False
        while self._isThere:
            ready, _, _ = select.select([self._file], [], [], 0.1)
            if not ready:
                if not isStarted:
                    continue
                report = self._input()
                os.write(self._file, struct.pack('<IH', self.INPUT2, len(report)) + report)
                continue
            event = os.read(self._file, 8192)
            kind, number = struct.unpack_from('<II', event)
            if kind in (self.START, self.STOP):
                isStarted = kind == self.START
            elif kind == self.GET_REPORT:
                report = bytes(self._settings) if event[9] == self.FEATURE else self._input()
                os.write(self._file, struct.pack('<IIHH', self.GET_REPORT_REPLY, number, 0, len(report)) + report)
            elif kind == self.SET_REPORT:
                size, = struct.unpack_from('<H', event, 10)
                self._settings[:size] = event[12:12 + size]
                os.write(self._file, struct.pack('<IIH', self.SET_REPORT_REPLY, number, 0))


def turned(posture, role):
    """By how many quarters the camera is turned clockwise, for who is behind it, when the tablet is held so."""
    x, y, _ = EARTH[posture]
    # Where the sky is in the picture as it comes from the camera
    return [(0, 1), (-1, 0), (0, -1), (1, 0)].index((-x * RIGHT[role], -y))


def lying(role, turns=0):
    """How the quarters lie in the stream when the camera is turned so much more than is made up for."""
    a, b, c, d = (UPRIGHT * 2)[turns % 4:turns % 4 + 4]
    return b + a + d + c if role == 'front' else a + b + c + d


def name(luma):
    """Which quarter has the lightness; JPEGs of the camera, our own and the stream differ in their range."""
    return 'w' if luma >= 205 else 'l' if luma >= 130 else 'd' if luma >= 60 else 'b'


class Look:
    """What is seen of a camera around a point of the stream: whose picture it is, and how its quarters lie."""

    def __init__(self, x, y, dx, dy):
        self._at = [((y + v) * WIDTH + x + h) * 2 for h, v in ((-dx, -dy), (dx, -dy), (dx, dy), (-dx, dy))]

    def __call__(self, frame):
        isOrange = {frame[i + 3] > frame[i + 1] for i in self._at}
        role = None if len(isOrange) > 1 else 'back' if True in isOrange else 'front'
        return role, ''.join(name(frame[i]) for i in self._at)


# Where U comes before V, so at an even x
LOOKS = Look(160, 90, 30, 40), Look(274, 36, 10, 10), Look(80, 90, 14, 20), Look(240, 90, 14, 20)


def sample(frame):
    """The main picture and the inset, and both of them side by side; whether the main one is narrow, beside its own blur."""
    beside, within = (frame[(50 * WIDTH + x) * 2] for x in (84, 100))
    return *(look(frame) for look in LOOKS), abs(beside - within) > 10


def orientation(member):
    return property_of('Orientation', member)


def proxy_said():
    """The log of the iio-sensor-proxy that runs now, with all that it has written."""
    run('journalctl', '--sync')
    pid = run('systemctl', 'show', '--property', 'MainPID', '--value', PROXY)[1].strip()
    return run('journalctl', '--no-pager', '--output=cat', f'_PID={pid}')[1]


def claims():
    """How many have claimed the sensor, by its log."""
    log = proxy_said()
    return log.count("'ClaimAccelerometer'") - log.count("'ReleaseAccelerometer'")


class Tablet:
    """Cameras and accelerometer as they are turned, and who looks."""

    def __init__(self):
        options = '--max-size', '320x240', '--quarters', '--letter', '-'
        self.cameras = {
            'back': Camera(0, '--name', 'Back Cam', '--serial', 'B1', '--formats', 'mjpg', '--tint', '255,80,0', *options),
            'front': Camera(1, '--name', 'Front Cam', '--serial', 'F1', '--formats', 'yuyv', '--tint', '0,80,255', *options)}
        self.posture, self.main = 'normal', 'back'
        self.sensor = self.signals = self.consumer = None

    @property
    def inset(self):
        return 'front' if self.main == 'back' else 'back'

    def shows(self, posture, isSideBySide=False):
        """What the stream shows when the pictures are turned for that posture."""
        pictures = [(role, lying(role, turned(self.posture, role) - turned(posture, role))) for role in (self.main, self.inset)]
        isNarrow = turned(posture, self.main) % 2 == 1
        return lambda seen: list(seen[2:4]) == pictures if isSideBySide else (
            list(seen[:2]) == pictures and seen[4] == isNarrow)

    def look(self):
        self.consumer = Consumer(sample, WIDTH, HEIGHT)
        self.consumer.wait_until(f'both are upright, {self.posture}', self.shows(self.posture), 60)

    def turn(self, posture, **how):
        """Turns cameras, then the accelerometer, and sees the pictures lie and be turned upright."""
        before, self.posture = self.posture, posture
        for role, camera in self.cameras.items():
            camera.command(f'turn {turned(posture, role)}')
        self.consumer.wait_until(f'{posture}: the pictures lie', self.shows(before, **how))
        since = time.monotonic()
        self.sensor.towards = EARTH[posture]
        self.signals.wait('Orientation', 'Current', posture, since)
        at, _ = self.consumer.wait_until(f'{posture}: the pictures are upright', self.shows(posture, **how))
        say(f'measured: upright {at - since:.2f} s after the tablet was turned')
        # iio-sensor-proxy looks every 0.7 s; the picture takes 0.3 s to turn.
        expect_within(3, at - since, 'that is soon enough')

    def stays(self, text, **how):
        upright = self.shows(self.posture, **how)
        expect(all(upright(seen) for _, seen in self.consumer.frames(5)), f'{text}: the pictures are as they were')

    def swap(self):
        ctl('swap')
        self.main = self.inset
        self.consumer.wait_until('swapped, both are upright', self.shows(self.posture))

    def photograph(self):
        """A photograph of each camera is upright for viewers that know of no EXIF, and for those that do."""
        photos = json.loads(ctl('photo', '--of', 'both', '--json'))['photos']
        for photo in photos:
            role = photo['camera']
            done = subprocess.run(['djpeg', '-grayscale', '-pnm', photo['path']], capture_output=True, timeout=60)
            if done.returncode != 0:
                raise Failure(f'{role}: no JPEG: {done.stderr}')
            width, height = (int(word) for word in done.stdout.split(maxsplit=3)[1:3])
            pixels = done.stdout[-width * height:]
            seen = ''.join(name(pixels[height * y // 4 * width + width * x // 4]) for x, y in ((1, 1), (3, 1), (3, 3), (1, 3)))
            isTall = turned(self.posture, role) % 2 == 1
            expect((seen, width, height) == (lying(role), *((240, 320) if isTall else (320, 240))),
                   f'{role}: the photograph is upright, {width}x{height}')
        paths = [photo['path'] for photo in photos]
        _, out, _ = run('exiftool', '-q', '-n', '-s3', '-Orientation', *paths)
        seen = [photo['camera'] for photo in photos], [line for line in out.splitlines() if line.isdigit()]
        expect(seen == (['back', 'front'], ['1', '1']), f'there is one of each, and none has a tag to be turned once more: {seen}')


def body():
    # What claims it is in its log only when it is to say more
    os.makedirs(f'/etc/systemd/system/{PROXY}.d')
    with open(f'/etc/systemd/system/{PROXY}.d/log.conf', 'w') as file:
        file.write('[Service]\nEnvironment=G_MESSAGES_DEBUG=all\n')
    run('systemctl', 'daemon-reload')
    tablet = Tablet()
    install()
    configure(CONFIGURATION)
    activate()
    tablet.signals = Signals()
    wait_for('its signals are listened to', lambda: tablet.signals.isListening, 60)
    pid = int(unit('MainPID'))
    expect((orientation('SensorAvailable'), orientation('Current')) == (False, 'normal'), 'there is no sensor')

    # udev has iio-sensor-proxy started.
    since = time.monotonic()
    tablet.sensor = Accelerometer(EARTH['normal'])
    tablet.signals.wait('Orientation', 'SensorAvailable', True, since)
    # A claim would come before the question whether there is one.
    expect('Found device' in proxy_said() and claims() == 0, 'nobody looks, and the sensor is not claimed')
    check('gst-inspect-1.0', 'pipewiresrc')
    tablet.look()
    wait_for('the sensor is claimed', lambda: claims() == 1)

    # Every posture with either camera as the main one: swapped or not, it stays so when the tablet
    # is turned.
    for posture in 'left-up', 'bottom-up', 'right-up', 'normal':
        tablet.turn(posture)
        if posture in ('left-up', 'right-up'):
            tablet.photograph()
        tablet.swap()
        state = status()
        expect((state['orientation'], state['main']) == (posture, tablet.main), f'status: {posture}, {tablet.main}')

    # Layout and zoom stay, too.
    ctl('layout', 'side-by-side')
    ctl('zoom', '2x')
    tablet.turn('left-up', isSideBySide=True)
    state = status()
    expect((state['layout'], state['cameras']['back']['zoom'], state['swapped']) == ('side-by-side', 2, False),
           'layout, zoom and who is the main one are as before')

    # Laid on a table, and iio-sensor-proxy anew, which knows of no edge that was up: what was last,
    # holds.
    tablet.sensor.towards = FLAT
    since = time.monotonic()
    run('systemctl', 'restart', PROXY)
    tablet.signals.wait('Orientation', 'SensorAvailable', True, since)
    wait_for('the sensor is claimed again', lambda: claims() == 1)
    wait_for('it is read', lambda: '0, 0, -1000' in proxy_said())
    out = check('busctl', '--system', 'get-property', 'net.hadess.SensorProxy', '/net/hadess/SensorProxy',
                'net.hadess.SensorProxy', 'AccelerometerOrientation')
    expect('undefined' in out, 'which edge is up is not known')
    expect(orientation('Current') == 'left-up', 'the left one still counts')
    tablet.stays('flat', isSideBySide=True)
    tablet.turn('normal', isSideBySide=True)
    ctl('layout', 'pip')
    ctl('zoom', '1x')

    # Nobody looks, and nobody is told; who looks then sees it upright.
    tablet.consumer.leave()
    wait_for('the cameras are closed', lambda: not open_cameras(pid), 15)
    wait_for('the sensor is let go of', lambda: claims() == 0)
    tablet.posture = 'right-up'
    for role, camera in tablet.cameras.items():
        camera.command(f'turn {turned("right-up", role)}')
    tablet.sensor.towards = EARTH['right-up']
    tablet.look()
    wait_for('the sensor is claimed', lambda: claims() == 1)
    expect(orientation('Current') == 'right-up', 'it has told which edge is up')

    # Without the sensor it is as it was last, unless somebody says something else.
    since = time.monotonic()
    tablet.sensor.unplug()
    tablet.signals.wait('Orientation', 'SensorAvailable', False, since)
    tablet.stays('the sensor is gone')
    ctl('orientation', 'bottom-up')
    tablet.consumer.wait_until('they are turned for another posture', tablet.shows('bottom-up'))
    ctl('orientation', 'auto')
    tablet.consumer.wait_until('they are upright again', tablet.shows('right-up'))
    tablet.consumer.leave()


main(body)
