#!/usr/bin/python3 -u
"""What cameras, PipeWire and the daemon's own failures do to the stream: a table with a row a fault, each injected for
real while a consumer reads. The numbers of all rows are printed at the end.

With DUALCAM_ROWS in the environment only rows are played whose name has that in it, after the first, which sets the stage.
"""
import signal
from stage import *


def late(stage):
    """Cameras that come when the daemon has run for a while, and somebody looks already."""
    stage.consumer = Consumer(sample, WIDTH, HEIGHT)
    stage.signals.wait('Stream', 'State', 'interrupted', 0, 60)
    stage.consumer.frames(5)
    for port, role in enumerate(('back', 'front')):
        there = stage.add(role, port)
        stage.note(f'{role}: device node to live', stage.live(there, role), BACK)


def held_by_another(stage):
    since = stage.privacy(True)
    stage.interrupted('back', 'privacy', since)
    wait_for('the cameras are closed', lambda: not open_cameras(stage.pid))
    holder = subprocess.Popen(
        ['v4l2-ctl', '-d', stage.cameras['back'].device, '--stream-mmap', '--stream-count=100000',
         '--stream-to=/dev/null'], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        **AS_USER)
    try:
        # It streams when it has buffers mapped
        wait_for('another program streams from it',
                 lambda: '/dev/video' in open(f'/proc/{holder.pid}/maps').read())
        since = stage.privacy(False)
        took = stage.interrupted('back', 'busy', since)
        stage.note('opened to busy', took)
        stage.signals.wait('Stream', 'Problems', lambda problems: any('held by v4l2-ctl' in text for text in problems), since)
        stage.live(since, 'front')
        # Long enough for the delay between attempts to have grown to its most
        stage.consumer.frames(2 * RATE)
    finally:
        freed = time.monotonic()
        holder.send_signal(signal.SIGINT)
        holder.wait(30)
    stage.note('freed to live', stage.live(freed), BACK)
    say(f'problems: {stage.signals.values(since, "Stream", "Problems")}')


def denied(stage):
    since = stage.privacy(True)
    stage.interrupted('back', 'privacy', since)
    wait_for('the cameras are closed', lambda: not open_cameras(stage.pid))
    path = stage.cameras['back'].device
    mode = os.stat(path).st_mode
    os.chmod(path, 0)
    since = stage.privacy(False)
    stage.note('opened to denied', stage.interrupted('back', 'denied', since))
    stage.signals.wait('Stream', 'Problems',
                       lambda problems: any('group video' in text and 'seat' in text for text in problems), since)
    stage.consumer.frames(2 * RATE)
    given = time.monotonic()
    os.chmod(path, mode)
    stage.note('permitted to live', stage.live(given), BACK)


def unplugged(role):
    def row(stage):
        since = stage.unplug(role)
        stage.note('unplug to signalled', stage.interrupted(role, 'unplugged', since))
        if role == 'back':
            moved = stage.held(since)
            stage.note(f'unplug to held picture {moved} output frames')
            expect(moved <= 2, 'that is soon enough')
        stage.consumer.frames(RATE)
        there = stage.plug(role)
        stage.note('device node to live', stage.live(there, role), BACK)
        expect(stage.signals.values(since, role, 'Interruption') == ['unplugged', 'none'], 'no other reason was signalled')
    return row


def frozen(stage):
    since = time.monotonic()
    stage.cameras['back'].command('freeze 1')
    stage.note('freeze to stalled', stage.interrupted('back', 'stalled', since))
    stage.held(since)
    # It is opened anew meanwhile, and still gives nothing
    stage.consumer.frames(3 * RATE)
    thawed = time.monotonic()
    stage.cameras['back'].command('freeze 0')
    stage.note('thaw to live', stage.live(thawed), BACK)
    expect(stage.signals.values(since, 'back', 'Interruption') == ['stalled', 'none'], 'no other reason was signalled')


def counts(role):
    return [property_of('Camera', name, f'{OBJECT}/cameras/{role}') for name in ('FramesCaptured', 'FramesDropped')]


def damaged(role, command):
    """Every fifth frame is damaged in some way: it is dropped and counted, and the others are shown."""
    def row(stage):
        captured, dropped = counts(role)
        since = time.monotonic()
        stage.cameras[role].command(f'{command} 5')
        stage.consumer.frames(3 * RATE)
        stage.cameras[role].command(f'{command} 0')
        captured, dropped = [after - before for after, before in zip(counts(role), (captured, dropped))]
        stage.note(f'{captured} frames captured, {dropped} dropped')
        expect(4 <= dropped <= captured / 3, 'damaged frames are counted, the others are shown')
        expect(not stage.signals.since(since, role, 'State'), 'no interruption was signalled')
        if role == 'back':
            seen = [seen for when, seen in stage.consumer.seen if when > since]
            wrong = [seen for seen in seen if seen[0] != 'orange' or seen[1] is None]
            expect(not wrong, 'no picture shows the damage')
    return row


def no_tables(stage):
    """JPEG frames without Huffman tables, as many cameras send them."""
    since = time.monotonic()
    stage.cameras['back'].command('dht 0')
    seen = [seen for _, seen in stage.consumer.frames(2 * RATE)]
    stage.cameras['back'].command('dht 1')
    counters = {counter for _, counter in seen}
    expect(all(hue == 'orange' and counter is not None for hue, counter in seen) and len(counters) > RATE,
           f'{len(seen)} frames, all right, {len(counters)} different ones')
    expect(not stage.signals.since(since, 'back', 'State'), 'no interruption was signalled')


def killed(stage):
    since = stage.kill('back')
    stage.note('kill to signalled', stage.interrupted('back', 'unplugged', since))
    stage.held(since)
    there = stage.add('back', 0)
    stage.note('device node of a new one to live', stage.live(there), BACK)


def swapped_plugs(stage):
    """Both cameras come back where the other one was, in the order in which they would change roles."""
    since = time.monotonic()
    for role in ('back', 'front'):
        stage.kill(role)
    for role in ('back', 'front'):
        stage.interrupted(role, 'unplugged', since)
    stage.held(since)
    for port, role in enumerate(('front', 'back')):
        there = stage.add(role, port)
        stage.note(f'{role}: device node to live', stage.live(there, role), BACK)
    expect(stage.consumer.frames(3)[-1][1][0] == 'orange', 'each has its role again')


def same_model(stage):
    """Without serial numbers, two cameras of one model are known by where they are plugged in."""
    since = time.monotonic()
    for role in ('back', 'front'):
        stage.kill(role)
    for role in ('back', 'front'):
        stage.interrupted(role, 'unplugged', since)
    for port, role in ((2, 'back'), (3, 'front')):
        stage.live(stage.add(role, port, '--serial', ''), role)
    since = [stage.unplug(role) for role in ('back', 'front')][-1]
    for role in ('back', 'front'):
        stage.interrupted(role, 'unplugged', since)
    # In the order in which they would change roles, and nodes
    for role in ('front', 'back'):
        stage.note(f'{role}: device node to live', stage.live(stage.plug(role), role), BACK)
    expect(stage.consumer.frames(3)[-1][1][0] == 'orange', 'each has its role again')


def bandwidth(stage):
    """The inset's camera is refused in the mode that suits it, then the main one leaves it all the room."""
    since = stage.unplug('front')
    stage.interrupted('front', 'unplugged', since)
    stage.cameras['front'].command('budget 300')
    there = stage.plug('front')
    stage.note('device node to live, lighter', stage.live(there, 'front'), BACK)
    stage.signals.wait('front', 'PixelFormat', 'MJPG', there)
    told = 'The front camera sends 320x240@10/MJPG instead of 320x240@10/YUYV, because the USB bandwidth is used up.'
    stage.signals.wait('Stream', 'Problems', lambda problems: told in problems, there)
    expect('bandwidth' in stage.signals.values(there, 'front', 'Interruption'), 'the reason was signalled')
    expect(not stage.signals.since(there, 'back', 'State'), 'the main camera went on')
    left = stage.unplug('back')
    stage.interrupted('back', 'unplugged', left)
    stage.note('other camera gone to the better mode', stage.signals.wait('front', 'PixelFormat', 'YUYV', left), BACK)
    stage.signals.wait('Stream', 'Problems', lambda problems: told not in problems, left)
    stage.cameras['front'].command('budget 6000')
    stage.live(stage.plug('back'))


TABLE = (
    ('cameras that come later than the daemon', late),
    ('main camera held by another program', held_by_another),
    ('main camera not permitted', denied),
    ('main camera unplugged', unplugged('back')),
    ("inset's camera unplugged", unplugged('front')),
    ('main camera frozen', frozen),
    ('truncated JPEGs of the main camera', damaged('back', 'truncate')),
    ("short frames of the inset's camera", damaged('front', 'truncate')),
    ('frames of the main camera that the driver marks as bad', damaged('back', 'errors')),
    ('JPEGs without Huffman tables', no_tables),
    ('main camera killed', killed),
    ('two cameras of one model change places', swapped_plugs),
    ('two cameras of one model, without serial numbers', same_model),
    ('no bandwidth for a second camera', bandwidth),
)


def restarted(stage, since, text, most=None):
    """The daemon is gone and comes back by itself, its node within `most` seconds beside those that loading takes."""
    took = stage.signals.wait('Stream', 'NodeId', lambda node: node != NO_NODE, since)
    # That is work, which this emulated processor does more slowly than any real one.
    begin = time.monotonic()
    check('dualcamd', '--version')
    loading = time.monotonic() - begin
    stage.note(f'loading {loading:.2f} s, {text} to node', took, most and most + loading)
    pid = int(unit('MainPID'))
    expect(pid not in (0, stage.pid), f'systemd started it again: {stage.pid}, {pid}')
    stage.pid = pid
    stage.look()


def daemon_killed(stage):
    since = time.monotonic()
    os.kill(stage.pid, signal.SIGKILL)
    restarted(stage, since, 'SIGKILL', BACK)


def daemon_hangs(stage):
    since = time.monotonic()
    os.kill(stage.pid, signal.SIGSTOP)
    restarted(stage, since, f'SIGSTOP (WatchdogSec={WATCHDOG})')


def kill_unit(name):
    """Kills a program of testuser's session that systemd keeps; when its successor was started."""
    def started():
        return int(check('systemctl', '--user', 'show', '--property', 'ExecMainStartTimestampMonotonic', '--value', name))

    before = started()
    check('systemctl', '--user', 'kill', '--kill-who=main', '-s', 'KILL', name)
    wait_for(f'{name} is started again', lambda: started() > before)
    return started() / 1e6


def wireplumber_killed(stage):
    """Its links go with it, so that nobody gets frames until it is back; the node stays."""
    since = time.monotonic()
    began = kill_unit('wireplumber.service')
    stage.look()
    expect(not stage.signals.values(since, 'Stream', 'NodeId'), 'the node id is unchanged')
    stage.note('WirePlumber started to frames of a new consumer', stage.consumer.seen[0][0] - began)


def pipewire_killed(stage):
    since = time.monotonic()
    began = kill_unit('pipewire.service')
    # PipeWire may be back before an interruption is to be signalled.
    took = stage.signals.wait('Stream', 'NodeId', lambda node: node != NO_NODE, since)
    stage.note('PipeWire started to node', since + took - began, BACK)
    since = stage.look()
    expect(stage.pid == int(unit('MainPID')), 'the daemon is the same')
    stage.note('a consumer after that to frames', stage.consumer.seen[0][0] - since)


RESTARTS = (
    ('WirePlumber killed', wireplumber_killed),
    ('PipeWire killed', pipewire_killed),
    ('the daemon killed', daemon_killed),
    ('the daemon hangs', daemon_hangs),
)
# Long enough for the daemon to start in a debug build
WATCHDOG = 8


def body():
    install()
    configure(CONFIGURATION)
    folder = f'/etc/systemd/user/{UNIT}.d'
    os.makedirs(folder)
    with open(f'{folder}/watchdog.conf', 'w') as file:
        # A program that is stopped does not end by the watchdog's SIGABRT, but by the SIGKILL after
        # it
        file.write(f'[Service]\nWatchdogSec={WATCHDOG}\nTimeoutAbortSec=1\n')
    check('systemctl', '--user', 'daemon-reload')
    run('modprobe', 'uvcvideo', 'nodrop=1')
    activate()
    stage = Stage()
    wait_for('its signals are listened to', lambda: stage.signals.isListening, 60)
    check('gst-inspect-1.0', 'pipewiresrc')
    results = []
    rows = os.environ.get('DUALCAM_ROWS', '')
    for name, row in TABLE[:1] + tuple(row for row in TABLE[1:] if rows in row[0]):
        results.append(stage.play(name, row))
    for name, row in (row for row in RESTARTS if rows in row[0]):
        say(f'=== {name}')
        stage.measured = []
        row(stage)
        results.append(f'{name}: ' + '; '.join(stage.measured))
    say('--- the table')
    for result in results:
        say(result)


main(body)
