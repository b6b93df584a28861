#!/usr/bin/python3 -u
"""Photographs of two USB cameras, one that speaks only MJPG and one that speaks only YUYV: as they run, in their largest mode
and back, and live."""
import stat
from guest import *

WIDTH, HEIGHT, RATE = 320, 180, 5
CAMERA, LARGEST = (320, 240), (640, 480)
CONFIGURATION = f"""
{output(WIDTH, HEIGHT, RATE)}
[cameras.back]
capture = "{CAMERA[0]}x{CAMERA[1]}@5"
[cameras.front]
capture = "{CAMERA[0]}x{CAMERA[1]}@5"
"""
MODELS = {'back': 'Desk Cam', 'front': 'Face Cam'}


def photograph(*options):
    """What `dualcamctl photo` took, by what it is of; each is whole, private and says what took it."""
    taken = {photo['camera']: photo for photo in json.loads(ctl('photo', '--json', *options))['photos']}
    for name, photo in taken.items():
        mode = os.stat(photo['path'])
        expect((stat.S_IMODE(mode.st_mode), mode.st_uid) == (0o600, USER.pw_uid), f"{photo['path']} is its user's alone")
        check('sh', '-c', f"djpeg -fast '{photo['path']}' >/dev/null")
        tags = json.loads(check('exiftool', '-j', '-n', '-Model', '-Orientation', '-ImageSize', photo['path']))[0]
        expect(tags['Orientation'] == 1 and tags['ImageSize'].split() == [str(photo['width']), str(photo['height'])],
               f'{name}: upright, {tags["ImageSize"]}')
        if name in MODELS:
            expect(MODELS[name] in tags['Model'], f'{name}: taken by {tags["Model"]}')
    return taken


def sizes(taken):
    return {name: (photo['width'], photo['height']) for name, photo in taken.items()}


def running(cameras):
    """Whether both cameras deliver in their former mode, by the daemon's word and the driver's."""
    states = {role: (camera['state'], camera['width']) for role, camera in status()['cameras'].items()}
    if states != {role: ('streaming', CAMERA[0]) for role in cameras}:
        return False
    formats = [check('v4l2-ctl', '-d', camera.device, '--get-fmt-video') for camera in cameras.values()]
    return all(f'{CAMERA[0]}/{CAMERA[1]}' in text for text in formats)


def body():
    cameras = {
        'back': Camera(0, '--name', MODELS['back'], '--serial', 'D1', '--formats', 'mjpg', '--max-size', '640x480'),
        'front': Camera(1, '--name', MODELS['front'], '--serial', 'F1', '--formats', 'yuyv', '--max-size', '640x480')}
    install()
    configure(CONFIGURATION)
    activate()
    pid = int(unit('MainPID'))

    # Nobody looks: they are opened for it, and closed again
    taken = photograph('--of', 'both')
    expect(sizes(taken) == {'back': CAMERA, 'front': CAMERA}, 'each has what its camera gives')
    wait_for('the cameras are closed', lambda: not open_cameras(pid))
    for camera in cameras.values():
        expect(camera.streams(), f'another program streams from {camera.device}')

    # In the middle of a call
    check('gst-inspect-1.0', 'pipewiresrc')
    consumer = Consumer(lambda frame: sum(frame[::2 * 997]), WIDTH, HEIGHT)
    wait_for('both cameras deliver', lambda: running(cameras), 60)
    before, count = node()['object.id'], len(consumer.seen)
    taken = photograph('--of', 'both', '--full')
    expect(sizes(taken) == {'back': LARGEST, 'front': LARGEST}, 'each has all that its camera can give')
    wait_for('both cameras deliver as before', lambda: running(cameras), 60)
    expect(node()['object.id'] == before and len(consumer.seen) > count, 'the stream went on')
    expect(not [problem for problem in status()['problems'] if 'bandwidth' in problem], 'nothing is amiss')

    # Live
    ctl('live-photo', 'on')
    consumer.frames(4 * RATE)
    for name, photo in photograph('--of', 'all').items():
        probe = json.loads(check('ffprobe', '-v', 'error', '-show_format', '-show_streams', '-of', 'json', photo['movie']))
        seconds = float(probe['format']['duration'])
        moment = int(probe['format']['tags']['DUALCAM_MOMENT'].split()[0]) / 1000
        expect(photo['movie'] == photo['path'][:-4] + '.mkv' and probe['streams'][0]['codec_name'] == 'mjpeg'
               and 0.5 < moment <= 1.5 and moment < seconds < 3.5,
               f'{name}: a movie of {seconds:.2f} s, {moment:.2f} s of it before the photograph')
        # No muxer of ffmpeg's, which would have frames at even intervals
        code, counts, errors = user('ffprobe', '-v', 'error', '-count_packets', '-count_frames', '-show_entries',
                                    'stream=nb_read_packets,nb_read_frames', '-of', 'csv=p=0', photo['movie'])
        packets, frames = counts.strip().split(',')
        expect(code == 0 and not errors and packets == frames, f'{name}: all of it is played {counts}{errors[:500]}')
    consumer.leave()
    wait_for('the cameras are closed', lambda: not open_cameras(pid))


main(body)
