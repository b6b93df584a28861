#!/usr/bin/python3 -u
"""The mirror of the stream on a device of v4l2loopback: fed while programs read it, with exclusive_caps and without, and
through the module's unload.

Alone, or as a part of package.py, which saves a machine.
"""
import fcntl, re, shutil, struct
from guest import *

WIDTH, HEIGHT = 320, 180
DEVICE = '/dev/video20'
MODULE = os.path.join(os.path.dirname(shutil.which('uvccam')), '..', f'v4l2loopback-{os.uname().release}', 'v4l2loopback.ko')
CONFIGURATION = f"""
{output(WIDTH, HEIGHT, 10)}
[cameras.back]
source = "test:bars"
[cameras.front]
source = "test:ramp"
[scene]
swap-icon = false
[loopback]
device = "auto"
"""


def load(devices='devices=1 video_nr=20 card_label=DualCam exclusive_caps=1'):
    # What it needs of the kernel, by name; itself by its path, for it was built here
    do('modprobe', 'videodev')
    do('insmod', MODULE, *devices.split())
    say('v4l2loopback is loaded')


def is_camera(device=DEVICE):
    """With exclusive_caps it is one only while somebody feeds it."""
    return 'Video Capture' in user('v4l2-ctl', '-d', device, '--info')[1]


def feed(device):
    """Feeds a device as another program would, by VIDIOC_S_FMT and a write; until what it returns is closed."""
    feeder = open(device, 'r+b', buffering=0)
    yuyv = int.from_bytes(b'YUYV', 'little')
    pixels = struct.pack('8I', WIDTH, HEIGHT, yuyv, 1, WIDTH * 2, WIDTH * HEIGHT * 2, 1, 0)
    fcntl.ioctl(feeder, 0xc0d05605, bytearray(struct.pack('2I', 2, 0) + pixels.ljust(200, b'\0')))
    feeder.write(bytes(WIDTH * HEIGHT * 2))
    return feeder


def cameras():
    return {camera['state'] for camera in status()['cameras'].values()}


def bars(file):
    """The lumas in the middle of the eight bars of the last whole picture that is in the file."""
    size = WIDTH * HEIGHT * 2
    count = os.path.getsize(file) // size
    if count == 0:
        return []
    with open(file, 'rb') as pictures:
        pictures.seek((count - 1) * size + HEIGHT // 2 * WIDTH * 2)
        row = pictures.read(WIDTH * 2)
    return [row[(bar * WIDTH // 8 + WIDTH // 16) * 2] for bar in range(8)]


class Reader:
    """A program of V4L2, which reads until it is told to end."""

    def __init__(self, name, device=DEVICE):
        self._file = f'{SCRATCH}/frames-{name}'
        self._program = subprocess.Popen(
            ['v4l2-ctl', '-d', device, '--stream-mmap', f'--stream-to={self._file}'],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=open(f'{SCRATCH}/errors-{name}', 'wb'), **AS_USER)
        self.name, self.pid = name, self._program.pid

    def _bars(self):
        """The bars of its last picture once the stream is in it, for its first are of cameras that are being opened."""
        if self._program.poll() is not None:
            said = open(f'{SCRATCH}/errors-{self.name}').read().strip().split('\n')[-3:]
            raise Failure(f'{self.name} has ended by itself, with {self._program.returncode}: {said}')
        lumas = bars(self._file) if os.path.exists(self._file) else []
        return lumas if max(lumas, default=0) > 200 else None

    def expect_bars(self):
        lumas = wait_for(f'{self.name} has pictures of the stream', self._bars, 60)
        expect(lumas == sorted(lumas, reverse=True) and lumas[7] < 40, f'all its bars are there: {lumas}')
        self.expect_more()

    def expect_refused(self):
        """Has the module refuse this one, since another program streams from the device."""
        wait_for(f'{self.name} is refused', lambda: self._program.poll() is not None, 30)
        said = open(f'{SCRATCH}/errors-{self.name}').read()
        expect('busy' in said, f'it is told why: {said.strip()}')

    def expect_more(self):
        begin = os.path.getsize(self._file)
        wait_for(f'more of them come to {self.name}',
                 lambda: os.path.getsize(self._file) > begin + 10 * WIDTH * HEIGHT * 2, 60)

    def leave(self):
        self._program.terminate()
        self._program.wait(30)
        if os.path.exists(self._file):
            os.unlink(self._file)


def expect_idle():
    wait_for('nobody looks any more', lambda: status()['consumers'] == 0 and cameras() == {'closed'}, 30)


def expect_bars():
    wait_for('it is a camera', is_camera, 60)
    reader = Reader('one')
    try:
        wait_for('the cameras are open for it', lambda: cameras() == {'streaming'}, 60)
        reader.expect_bars()
    finally:
        reader.leave()
    expect_idle()


def readers_named():
    """The processes that `status` names as readers of the device."""
    text = check('dualcamctl', 'status')
    return {int(pid) for pid in re.findall(rf'\((\d+)\), through {DEVICE}', text)}


def takes_several():
    """From 0.13 on the module lets one program stream at a time, as V4L2 has it. 0.12 tells no version."""
    file = '/sys/module/v4l2loopback/version'
    if not os.path.exists(file):
        return True
    with open(file) as version:
        return [int(number) for number in version.read().split('.')[:2]] < [0, 13]


def expect_one_of_two():
    """A second reader is refused; the first does not miss a picture for that, and leaves its place to another."""
    one = Reader('one')
    try:
        one.expect_bars()
        two = Reader('two')
        two.expect_refused()
        two.leave()
        one.expect_more()
        wait_for('status names the one', lambda: readers_named() == {one.pid}, every=0.5)
        expect(run('rmmod', 'v4l2loopback')[0] != 0, 'the module cannot be unloaded now')
        one.leave()
        one = Reader('another')
        one.expect_bars()
        wait_for('status names the other one', lambda: readers_named() == {one.pid}, every=0.5)
    finally:
        one.leave()


def expect_both():
    """Two readers at once; one leaves and comes back, the other never misses a picture for that."""
    one, two = Reader('one'), Reader('two')
    try:
        for reader in one, two:
            reader.expect_bars()
        wait_for('status names both', lambda: readers_named() == {one.pid, two.pid}, every=0.5)
        expect(run('rmmod', 'v4l2loopback')[0] != 0, 'the module cannot be unloaded now')
        one.leave()
        two.expect_more()
        wait_for('status names the other one', lambda: readers_named() == {two.pid}, every=0.5)
        one = Reader('one again')
        one.expect_bars()
        two.expect_more()
        wait_for('status names both again', lambda: readers_named() == {one.pid, two.pid}, every=0.5)
    finally:
        one.leave()
        two.leave()


def expect_two():
    """Two readers, as far as the module lets them. While they read, it stays; then it goes and comes, and the daemon
    never minds."""
    # Without exclusive_caps it is a camera from the first, and has no pictures before it is fed
    wait_for('it is a camera that is fed', lambda: is_camera() and status()['problems'] == [], 60)
    pid = unit('MainPID')
    expect_both() if takes_several() else expect_one_of_two()
    expect_idle()
    first = f'{SCRATCH}/frames-first'
    check('v4l2-ctl', '-d', DEVICE, '--stream-mmap', '--stream-count=1', f'--stream-to={first}')
    expect(max(bars(first), default=255) < 30, f'the next reader begins with black, not with an old picture: {bars(first)}')
    expect_idle()
    unload()
    expect(unit('MainPID') == pid, 'the daemon is the same')


def unload():
    """Takes the module away. It is held by whoever feeds it: the stream stops for that, the daemon does not."""
    ctl('stop')
    wait_for('the module is unloaded', lambda: run('rmmod', 'v4l2loopback')[0] == 0, 30)
    ctl('start')
    wait_for('it says that there is none', lambda: any('has none' in text for text in status()['problems']), 30)


def play():
    """With the daemon running, configured as above."""
    wait_for('it has the size', lambda: status()['output']['width'] == WIDTH)
    wait_for('the node is there', node)
    load()
    wait_for('it is a camera', is_camera, 60)
    expect(status()['consumers'] == 0 and cameras() == {'closed'}, 'the stream is mirrored to nobody')
    # The module may be taken away and come again; it may have another way of naming what it can
    expect_two()
    load('devices=1 video_nr=20 card_label=DualCam exclusive_caps=0')
    expect_two()
    load()
    expect_bars()

    # What another program feeds is left to it: the next device is taken, and none where there is no
    # other
    ctl('stop')
    wait_for('the module is unloaded', lambda: run('rmmod', 'v4l2loopback')[0] == 0, 30)
    load('devices=2 video_nr=20,21 exclusive_caps=1,1')
    feeder = feed(DEVICE)
    ctl('start')
    wait_for('the other device is a camera', lambda: is_camera('/dev/video21'), 60)
    expect(status()['problems'] == [], 'that is no problem')
    ctl('stop')
    wait_for('the device is left', lambda: not is_camera('/dev/video21'), 30)
    other = feed('/dev/video21')
    ctl('start')
    wait_for('it says that both are fed', lambda: any('another program feeds it' in text for text in status()['problems']), 30)
    feeder.close()
    wait_for('the first is taken', lambda: status()['problems'] == [] and is_camera(), 60)
    other.close()


def body():
    install()
    configure(CONFIGURATION)
    activate()
    play()


if __name__ == '__main__':
    main(body)
