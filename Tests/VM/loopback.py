#!/usr/bin/python3 -u
"""The mirror of the stream on a device of v4l2loopback: fed while a program reads it, and through the module's unload.

Alone, or as a part of package.py, which saves a machine.
"""
import fcntl, shutil, struct
from guest import *

WIDTH, HEIGHT = 320, 180
DEVICE = '/dev/video20'
MODULE = os.path.join(os.path.dirname(shutil.which('uvccam')), '..', f'v4l2loopback-{os.uname().release}', 'v4l2loopback.ko')
CONFIGURATION = f"""
[output]
width = {WIDTH}
height = {HEIGHT}
frame-rate = 10
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
    for command in (['modprobe', 'videodev'], ['insmod', MODULE, *devices.split()]):
        code, _, errors = run(*command)
        if code != 0:
            raise Failure(f'{" ".join(command)}: {errors}')
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


def expect_bars():
    wait_for('it is a camera', is_camera, 60)
    # A program of V4L2, which reads until it is told to end
    program = subprocess.Popen(
        ['v4l2-ctl', '-d', DEVICE, '--stream-mmap', '--stream-to=/tmp/frames'],
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **AS_USER)
    try:
        wait_for('the cameras are open for it', lambda: cameras() == {'streaming'}, 60)
        wait_for('it has pictures', lambda: os.path.exists('/tmp/frames'), 60)
        # Its first are of cameras that are being opened
        lumas = wait_for('they are the stream', lambda: max(bars('/tmp/frames'), default=0) > 200 and bars('/tmp/frames'), 60)
        expect(lumas == sorted(lumas, reverse=True) and lumas[7] < 40, f'all its bars are there: {lumas}')
        begin = os.path.getsize('/tmp/frames')
        wait_for('more of them come', lambda: os.path.getsize('/tmp/frames') > begin + 20 * WIDTH * HEIGHT * 2, 60)
    finally:
        program.terminate()
        program.wait(30)
        if os.path.exists('/tmp/frames'):
            os.unlink('/tmp/frames')
    wait_for('nobody looks any more', lambda: status()['consumers'] == 0 and cameras() == {'closed'}, 30)


def play():
    """With the daemon running, configured as above."""
    wait_for('it has the size', lambda: status()['output']['width'] == WIDTH)
    wait_for('the node is there', node)
    load()
    wait_for('it is a camera', is_camera, 60)
    expect(status()['consumers'] == 0 and cameras() == {'closed'}, 'the stream is mirrored to nobody')
    expect_bars()

    # Without a stream the device is let go of, and the module may be taken away and come again
    pid = unit('MainPID')
    ctl('stop')
    wait_for('the module is unloaded', lambda: run('rmmod', 'v4l2loopback')[0] == 0, 30)
    ctl('start')
    load()
    expect_bars()
    expect(unit('MainPID') == pid, 'the daemon is the same')

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
