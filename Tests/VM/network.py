#!/usr/bin/python3 -u
"""A camera on the network, at the other end of a cable: that is pulled for 5 s, and put back; then it loses one packet of
twenty.
"""
from stage import Signals
from guest import *

WIDTH, HEIGHT, RATE = 320, 180, 10
FAR, NEAR, PORT = '10.99.0.2', '10.99.0.1', 8080
# Each picture has another lightness, by which it is told from those before and after.
LEVELS = [40 + 12 * number for number in range(16)]
CONFIGURATION = f"""
{output(WIDTH, HEIGHT, RATE)}
[cameras.back]
source = "url:http://{FAR}:{PORT}/video"
[cameras.front]
source = "test:ramp"
[scene]
layout = "single"
background = "crop"
swap-icon = false
"""
# How long the cable is out, and how soon after that the picture has to be back, in seconds.
CUT, BACK = 5, 2


def sample(frame):
    """Which of the pictures is shown; None for another one."""
    lumas = [frame[(y * WIDTH + x) * 2] for y in range(20, 160, 10) for x in range(20, 300, 20)]
    mean = sum(lumas) / len(lumas)
    nearest = min(range(len(LEVELS)), key=lambda number: abs(LEVELS[number] - mean))
    return nearest if abs(LEVELS[nearest] - mean) < 5 else None


def pictures():
    """Files of JPEGs that take some packets each: noise around a lightness."""
    for number, level in enumerate(LEVELS):
        # Full range in JPEGs, video range in the stream
        base = round((level - 16) * 255 / 219)
        noise = bytes(max(0, min(255, base + (byte & 31) - 16)) for byte in os.urandom(WIDTH * HEIGHT))
        with open('/run/picture.pgm', 'wb') as file:
            file.write(b'P5 %d %d 255\n' % (WIDTH, HEIGHT) + noise)
        do('cjpeg', '-quality', '70', '-outfile', f'/run/picture{number}.jpg', '/run/picture.pgm')
    return [f'/run/picture{number}.jpg' for number in range(len(LEVELS))]


def cable():
    """A network of its own for the camera, with one cable to here."""
    do('modprobe', 'veth')
    do('modprobe', 'sch_netem')
    do('ip', 'netns', 'add', 'far')
    do('ip', 'link', 'add', 'near0', 'type', 'veth', 'peer', 'name', 'far0', 'netns', 'far')
    for place, link, address in (((), 'near0', NEAR), (('-n', 'far'), 'far0', FAR)):
        # Packets as on a cable, for else a lost one would be of 64 kB
        do('ip', *place, 'link', 'set', link, 'gso_max_segs', '1')
        do('ip', *place, 'address', 'add', f'{address}/24', 'dev', link)
        do('ip', *place, 'link', 'set', link, 'up')


def changes(frames):
    """When another of the pictures came."""
    return [at for (_, was), (at, now) in zip(frames, frames[1:]) if now is not None and was is not None and now != was]


def back():
    return status()['cameras']['back']


def cut(consumer, signals):
    since = time.monotonic()
    do('ip', '-n', 'far', 'link', 'set', 'far0', 'down')
    why = lambda reason: reason not in ('none', '')
    say(f'measured: cut to signalled {signals.wait("back", "Interruption", why, since):.2f} s')
    time.sleep(max(0, since + CUT - time.monotonic()))
    up = time.monotonic()
    do('ip', '-n', 'far', 'link', 'set', 'far0', 'up')

    def lives():
        after = changes([each for each in list(consumer.seen) if each[0] > up])
        return (after[0],) if after else None

    took = wait_for('the picture lives', lives, 60, 0.02)[0] - up
    # A program of its own reads the network. To load it is work, which this emulated processor does
    # more slowly than any real one.
    begin = time.monotonic()
    check('dualcamd', '--version')
    loading = time.monotonic() - begin
    say(f'measured: cable back to picture {took:.2f} s, of which loading takes up to {loading:.2f} s')
    expect_within(BACK + loading, took, 'it is back soon enough')
    signals.wait('back', 'State', 'streaming', up)
    meanwhile = [at for at, _ in consumer.seen if since <= at <= up]
    longest = longest_wait(meanwhile)[0]
    expect(longest <= 2 / RATE, f'the stream had its frames meanwhile: longest wait {longest:.2f} s')


def lossy(consumer):
    for place, link in (((), 'near0'), (('-n', 'far'), 'far0')):
        do('tc', *place, 'qdisc', 'add', 'dev', link, 'root', 'netem', 'loss', '5%')
    first = len(consumer.seen)
    begin = time.monotonic()
    wait_for('packets are lost', lambda: 'dropped 0,' not in do('tc', '-s', '-n', 'far', 'qdisc', 'show', 'dev', 'far0'), 60)
    consumer.frames(10 * RATE)
    frames = consumer.seen[first:]
    shown = len(changes(frames))
    span = time.monotonic() - begin
    out = do('tc', '-s', '-n', 'far', 'qdisc', 'show', 'dev', 'far0')
    say(f'measured: {shown} pictures in {span:.1f} s; {" ".join(out.split())}')
    expect(shown >= 0.7 * span * RATE, 'most pictures come all the same')
    expect(back()['state'] == 'streaming', 'the stream goes on')


def body():
    cable()
    files = pictures()
    log = open('/run/camera.log', 'w')
    server = subprocess.Popen(
        ['ip', 'netns', 'exec', 'far', os.path.join(os.path.dirname(os.path.abspath(__file__)), 'http_camera.py'),
         str(PORT), str(RATE), *files], stdin=subprocess.DEVNULL, stdout=log, stderr=log)
    install()
    configure(CONFIGURATION)
    activate()
    pid = unit('MainPID')
    check('gst-inspect-1.0', 'pipewiresrc', deadline=240)
    wait_for('the camera serves', lambda: 'ready' in open('/run/camera.log').read())
    signals = Signals()
    wait_for('its signals are listened to', lambda: signals.isListening, 60)
    expect('client' not in open('/run/camera.log').read(), 'nobody connects while nobody looks')
    consumer = Consumer(sample, WIDTH, HEIGHT)
    wait_for('its pictures are shown', lambda: len(changes(consumer.seen)) > 10, 90)
    cut(consumer, signals)
    wait_for('they are shown again', lambda: len(changes(consumer.seen[-30:])) > 10)
    lossy(consumer)
    consumer.leave()
    wait_for('it is closed', lambda: back()['state'] == 'closed', 30, 0.2)
    expect(unit('MainPID') == pid, 'the daemon is the same')
    server.terminate()
    server.wait(30)


main(body)
