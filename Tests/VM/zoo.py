#!/usr/bin/python3 -u
"""Devices that are no usual webcam: the kernel's own test driver vivid, with planes of memory, odd formats and sizes, HDMI,
and interlaced video; USB cameras with faults of real ones. At last a desk, of whose devices `auto` takes what a person
would, while WirePlumber offers them once more.

With DUALCAM_ROWS in the environment, one of these: vivid, webcam, coded, desk.
"""
import re
from guest import *

WIDTH, HEIGHT = 320, 180
PLANES, HDMI, ANALOGUE = '/dev/video30', '/dev/video31', '/dev/video32'
# Planes with strides of their own, both orders of colours, and one that libv4lconvert reads
FORMATS = 'YU12', 'UYVY', 'RGB3'
# Its rows are no multiple of four, or of sixteen
ODD = 1366, 768


def sample(frame):
    """The colours in the middle of vivid's eight bars, where no words are: white, yellow, cyan, green, magenta, red, blue,
    black. None where a picture has none of them."""
    row = HEIGHT // 2 * WIDTH * 2
    seen = []
    for bar in range(8):
        at = row + (WIDTH // 2 * bar // 4 + WIDTH // 16) // 2 * 4
        seen.append((frame[at], frame[at + 1], frame[at + 3]))
    return seen


def is_bars(seen):
    """True for eight bars, each darker than the one before, red and blue among them."""
    lumas = [luma for luma, _, _ in seen]
    return all(a > b + 5 for a, b in zip(lumas, lumas[1:])) and seen[5][2] > 160 and seen[6][1] > 160


def configure_back(source, **more):
    lines = '\n'.join(f'{key} = {value}' for key, value in more.items())
    configure(f"""
{output(WIDTH, HEIGHT, 10)}
[cameras.back]
source = "v4l2:{source}"
{lines}
[cameras.front]
source = "test:ramp"
[scene]
layout = "single"
background = "crop"
""")


def back():
    return status()['cameras']['back']


def shows(text, consumer, **expected):
    """Has the camera deliver as expected, and the bars be seen; says how long it took."""
    wait_for(f'{text}: {expected}', lambda: all(back()[key] == value for key, value in expected.items()), 90, 0.2)
    consumer.wait_until(f'{text}: the bars', is_bars)


def has_no_signal(text):
    wait_for(f'{text}: no signal', lambda: back()['interruption'] == 'no-signal', 60, 0.2)
    expect(back()['state'] == 'interrupted', 'it is told as that')


def v4l2(device, *words):
    return do('v4l2-ctl', '-d', device, *words)


def reload(source, **more):
    configure_back(source, **more)
    check('systemctl', '--user', 'reload', UNIT)


def vivid(consumer):
    # NV12 in two planes of memory
    shows('planes', consumer, state='streaming', pixelFormat='NM12')
    reload(PLANES, capture='"320x180@10/YUYV"')
    shows('one plane', consumer, state='streaming', pixelFormat='YUYV')
    for name in FORMATS:
        reload(PLANES, capture=f'"320x180@10/{name}"')
        shows(name, consumer, state='streaming', pixelFormat=name)

    # HDMI: another size, no signal, one that comes back
    reload(HDMI)
    shows('HDMI', consumer, state='streaming', width=640, height=480)
    v4l2(HDMI, '--set-ctrl=dv_timings_signal_mode=1')
    has_no_signal('HDMI')
    timings = v4l2(HDMI, '--list-ctrls-menus')
    v4l2(HDMI, '--set-ctrl=dv_timings_signal_mode=4')
    for width, height, name in (720, 480, '720x480p59'), (*ODD, '1366x768p60'):
        index = re.search(rf'(\d+): {name}', timings)
        expect(index is not None, f'there are the timings {name}')
        since = time.monotonic()
        v4l2(HDMI, f'--set-ctrl=dv_timings={index[1]}')
        shows('another signal', consumer, state='streaming', width=width, height=height)
        expect_within(3, time.monotonic() - since, 'it came by itself')

    # Interlaced, and a standard that changes
    reload(ANALOGUE)
    shows('interlaced', consumer, state='streaming', width=720, height=576)
    v4l2(ANALOGUE, '--set-ctrl=standard_signal_mode=1')
    v4l2(ANALOGUE, '--set-input=0')
    has_no_signal('analogue')
    v4l2(ANALOGUE, '--set-ctrl=standard_signal_mode=0')
    shows('the signal again', consumer, state='streaming')


LIGHT = {'exposure_dynamic_framerate': 1, 'power_line_frequency': 2}


def light(camera):
    out = v4l2(camera.device, f'--get-ctrl={",".join(LIGHT)}')
    return {name: int(value) for name, value in re.findall(r'(\w+): (\d+)', out)}


def webcam():
    """JPEGs with stray bytes and no end, in the dark: shown, recorded and photographed whole, at full rate."""
    camera = Camera(0, '--formats', 'mjpg', '--max-size', '320x240', '--stray', '5', '--no-eoi', '--dim')
    v4l2(camera.device, *(f'--set-ctrl={name}={value}' for name, value in LIGHT.items()))
    camera.command('light 0.2')
    reload(camera.device, **{'anti-flicker': '"50"'})
    consumer = Consumer(lambda frame: None, WIDTH, HEIGHT)
    wait_for('it is shown', lambda: back()['pixelFormat'] == 'MJPG', every=0.2)
    held = {'exposure_dynamic_framerate': 0, 'power_line_frequency': 1}
    wait_for('its rate and its filter are held', lambda: light(camera) == held)

    def noisy():
        return counted()['noisy']['data']['back']['data']

    before = noisy()
    wait_for('its noise is counted', lambda: noisy() > before + 5)
    check('dualcamctl', 'record', 'start')
    consumer.frames(20)
    files = [word for word in check('dualcamctl', 'record', 'stop').split() if 'back' in word and word.endswith('.mkv')]
    expect(len(files) == 1, f'there is a recording: {files}')
    code, _, errors = run('ffmpeg', '-v', 'error', '-i', files[0], '-f', 'null', '-')
    faults = [line for line in errors.splitlines() if 'mjpeg' in line]
    expect(code == 0 and not faults, f'ffmpeg decodes it without a word: {faults[:2]}')
    check('dualcamctl', 'photo', '--of', 'back', '-o', f'{SCRATCH}/photo.jpg')
    code, _, errors = run('djpeg', '-outfile', '/dev/null', f'{SCRATCH}/photo.jpg')
    expect(code == 0 and errors == '', f'libjpeg reads the photo without a word: {errors[:200]}')

    # A crash: what was found is put back all the same
    pid = unit('MainPID')
    os.kill(int(pid), 9)
    wait_for('the daemon is back', lambda: unit('MainPID') not in ('0', pid) and unit('ActiveState') == 'active', 60)
    expect(light(camera) == held, 'the crash left its values')
    consumer.leave()
    wait_for('its node is there', node)
    consumer = Consumer(lambda frame: None, WIDTH, HEIGHT)
    wait_for('it is shown again', lambda: back()['state'] == 'streaming', 60, every=0.2)
    consumer.leave()
    wait_for('it is closed', lambda: back()['state'] == 'closed', every=0.2)
    wait_for('what was found is put back', lambda: light(camera) == LIGHT)
    camera.command('quit')


def coded():
    """A camera that sends H.264 and nothing else."""
    file = '/run/bars.h264'
    do('ffmpeg', '-v', 'error', '-f', 'lavfi', '-i', 'pal100bars=size=320x240:rate=10', '-t', '2', '-c:v', 'libx264',
       '-preset', 'ultrafast', '-tune', 'zerolatency', '-g', '10', '-pix_fmt', 'yuv420p',
       '-bsf:v', 'h264_metadata=aud=insert', '-f', 'h264', file, deadline=240)
    camera = Camera(4, '--name', 'Coded Cam', '--formats', 'h264', '--h264', file, '--max-size', '320x240')
    formats = v4l2(camera.device, '--list-formats')
    expect(re.findall(r"'(.{4})'", formats) == ['H264'], f'it has nothing else: {formats}')
    reload(camera.device)
    consumer = Consumer(sample, WIDTH, HEIGHT)
    shows('H.264', consumer, state='streaming', pixelFormat='H264')
    consumer.leave()
    wait_for('it is closed', lambda: back()['state'] == 'closed', every=0.2)
    camera.command('quit')


AUTOMATIC = f"""
{output(WIDTH, HEIGHT, 10)}
[scene]
layout = "single"
background = "crop"
"""


def build_in(camera):
    """Says of the camera what the firmware says of a port that nobody can reach, as the kernel passes it on."""
    node = camera.device.split('/')[-1]
    with open('/run/fixed', 'w') as file:
        file.write('fixed\n')
    do('mount', '--bind', '/run/fixed', os.path.realpath(f'/sys/class/video4linux/{node}/device/../removable'))


def reasons():
    """What becomes of each device and why, by its path: name, role, reason, and what a source calls it."""
    listed = json.loads(check('dualcamctl', 'cameras', '--all', '--json'))['devices']
    return {device['path']: tuple(device[key] for key in ('name', 'role', 'reason', 'id')) for device in listed}


def node_name(title):
    """The name of the node that WirePlumber's own V4L2 monitor has made of a camera, if it has."""
    return next((each['node.name'] for each in objects() if each.get('node.name', '').startswith('v4l2_input')
                 and title in each.get('node.description', '')), None)


def tint(frame):
    """What tells apart the pictures of the desk's cameras, and those of one after the other."""
    row = HEIGHT // 2 * WIDTH * 2
    return hue(frame, row + WIDTH), bytes(frame[row:][:WIDTH * 2:8])


def desk():
    """A laptop's camera in colour with the infrared one beside it; then a webcam, whose raw pictures are slow."""
    lid = Camera(1, '--name', 'Integrated Camera', '--function', 'Integrated Camera', '--max-size', '640x480',
                 '--tint', '0,80,255')
    infrared = Camera(2, '--ir', '--max-size', '640x480')
    for camera in lid, infrared:
        build_in(camera)
    configure(AUTOMATIC)
    check('systemctl', '--user', 'restart', UNIT)
    wait_for('the daemon lists them', lambda: {lid.device, infrared.device} <= reasons().keys(), 60, 0.5)
    wait_for('WirePlumber has both', lambda: node_name('Integrated Camera') is not None, 60, 0.5)
    found = reasons()
    expect(found[lid.device][:3] == ('Integrated Camera', 'front', 'chosen as front: built in, 640x480 at 30'),
           f'the lid is taken: {found[lid.device]}')
    expect(found[infrared.device][1:3] == ('', 'infrared camera'), f'infrared light is not: {found[infrared.device]}')
    for device in PLANES, HDMI, ANALOGUE:
        expect(found[device][1:3] == ('', "a driver's test picture"), f'nor is vivid: {found[device]}')
    metadata = [value[2] for path, value in found.items() if path not in (lid.device, infrared.device, PLANES, HDMI, ANALOGUE)]
    expect(len(metadata) >= 2 and set(metadata) == {'gives no pictures'}, f'nor are their metadata: {metadata}')
    expect(not [path for path in found if path.startswith('pipewire:')], 'no device is listed twice')
    cameras = status()['cameras']
    expect(cameras['back']['name'] == '', f'nothing is the back camera: {cameras["back"]["name"]}')

    webcam = Camera(3, '--name', 'Desk Cam', '--slow-raw', '--max-size', '640x480', '--tint', '255,80,0')
    wait_for('it is the back camera', lambda: webcam.device in reasons() and reasons()[webcam.device][1] == 'back', 60, 0.5)
    found = reasons()
    expect(found[webcam.device][:3] == ('Desk Cam', 'back', 'chosen as back: external, 640x480 at 30'),
           f'the reason is right: {found[webcam.device]}')
    expect(found[infrared.device][2] == 'infrared camera' and found[lid.device][1] == 'front', 'the others are what they were')
    consumer = Consumer(tint, WIDTH, HEIGHT)
    wait_for('both deliver', lambda: {camera['state'] for camera in status()['cameras'].values()} == {'streaming'}, 90, 0.2)
    expect(back()['pixelFormat'] == 'MJPG', f'not in the raw format, which is slow: {back()["pixelFormat"]}')
    consumer.wait_until('the main picture is the webcam', lambda seen: seen[0] == 'orange')

    # By way of WirePlumber's node of it, which others may use at the same time
    name = wait_for('WirePlumber has the webcam', lambda: node_name('Desk Cam'), 60, 0.5)
    configure(AUTOMATIC.replace('[scene]', f'[cameras.back]\nsource = "pipewire:{name}"\n[cameras.front]\n'
                                'source = "test:ramp"\n[scene]'))
    check('systemctl', '--user', 'reload', UNIT)
    wait_for('it is the source', lambda: back()['source'].startswith('pipewire:') and back()['state'] == 'streaming', 90, 0.2)
    consumer.wait_until('its picture is shown', lambda seen: seen[0] == 'orange', 60)
    first = len(consumer.seen)

    def moved():
        seen = [each for _, each in consumer.seen[first:]]
        return sum(a[1] != b[1] for a, b in zip(seen, seen[1:])) > 10

    wait_for('and moves', moved, 60)
    expect({each[0] for _, each in consumer.seen[first:]} == {'orange'}, 'in each frame')
    pid = int(unit('MainPID'))
    expect(webcam.device not in open_cameras(pid), 'the daemon itself has it not open')
    consumer.leave()


def body():
    install()
    do('modprobe', 'vivid', 'n_devs=3', 'node_types=0x1,0x1,0x1', 'num_inputs=1,1,1', 'input_types=0x0,0x3,0x2',
       'multiplanar=2,1,1', 'vid_cap_nr=30,31,32', 'ccs_cap_mode=0,0,0')
    for device in (PLANES, HDMI, ANALOGUE):
        wait_for(device, lambda: os.path.exists(device))
        # Its words move over the bars
        v4l2(device, '--set-ctrl=osd_text_mode=2')
    # Small enough for an emulated processor
    # The first in the kernel's list: 640x480
    v4l2(HDMI, '--set-dv-bt-timings=index=0')
    configure_back(PLANES, capture='"320x180@10/NM12"')
    activate()
    check('gst-inspect-1.0', 'pipewiresrc', deadline=240)
    rows = os.environ.get('DUALCAM_ROWS', '')
    if rows in 'vivid':
        consumer = Consumer(sample, WIDTH, HEIGHT)
        vivid(consumer)
        consumer.leave()
    if rows in 'webcam':
        webcam()
    if rows in 'coded':
        coded()
    if rows in 'desk':
        desk()


main(body)
