"""What the table of faults is played on: the daemon, what it signals, two cameras of one model, and a consumer."""
import glob
from guest import *

WIDTH, HEIGHT, RATE = 320, 180, 10
# The longest that a consumer may wait for a frame: two intervals.
PATIENCE = 2 / RATE
# How soon all is well again when the cause is gone, in seconds.
BACK = 2.0
CAMERA = 320, 240
CONFIGURATION = output(WIDTH, HEIGHT, RATE)
# Told apart by nothing but their serial numbers. One speaks MJPG only, the other prefers YUYV,
# which takes twice the room on the bus that they share.
MODEL = '--name', 'Twin Cam', '--max-size', '320x240', '--enospc'
CAMERAS = {'back': (*MODEL, '--serial', 'T1', '--formats', 'mjpg', '--tint', '255,80,0'),
           'front': (*MODEL, '--serial', 'T2', '--formats', 'yuyv,mjpg', '--tint', '0,80,255')}
NO_NODE = 2 ** 32 - 1


def sample(frame):
    """The main picture's hue, and its camera's counter where that can be read sharply."""
    # Where neither the inset nor the words of a notice are
    seen = hue(frame, (160 * WIDTH + 100) * 2)
    # Under the veil, which blurs and darkens, a few white blocks are as dark as none.
    return seen, counter(frame, (WIDTH, HEIGHT), CAMERA) or None


class Signals:
    """What the daemon signals on the session bus: `seen` grows by (time, role or interface, property, value)."""

    def __init__(self):
        self.seen, self.isListening = [], False
        self._program = subprocess.Popen(
            ['dualcamctl', 'monitor', '--json'], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True, **AS_USER)
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self._program.stdout:
            now = time.monotonic()
            event = json.loads(line)
            self.isListening |= event['event'] == 'appeared'
            subject = event.get('camera') or event.get('interface')
            for name, value in event.get('changed', {}).items():
                self.seen.append((now, subject, name, value))

    def holds(self, subject, name, value, deadline=30):
        """Waits until the last value that was signalled of the property is `value`."""
        def found():
            return next((last == value for _, *what, last in reversed(list(self.seen)) if what == [subject, name]), None)

        wait_for(f'{subject} {name} is {value}', found, deadline, 0.02)

    def since(self, when, subject=None, name=None):
        """What was signalled since `when`: (seconds after it, subject, property, value)."""
        return [(round(at - when, 2), *what) for at, *what in list(self.seen)
                if at > when and subject in (None, what[0]) and name in (None, what[1])]

    def values(self, when, subject, name):
        return [value for _, _, _, value in self.since(when, subject, name)]

    def wait(self, subject, name, value, since, deadline=30):
        """How long after `since` the property was first signalled to have the value, which may be a condition."""
        holds = value if callable(value) else lambda seen: seen == value

        def found():
            return next(((at,) for at, *what in list(self.seen)
                         if at > since and what[:2] == [subject, name] and holds(what[2])), None)

        text = f'{subject} {name} {"as expected" if callable(value) else value}'
        try:
            return wait_for(f'signalled: {text}', found, deadline, 0.02)[0] - since
        except Failure as failure:
            raise Failure(f'{failure}; signalled since: {self.since(since)}')


class Stage:
    """All that a row works with. `measured` grows by the numbers of the row that is played."""

    def __init__(self):
        self.cameras, self.consumer, self.measured, self.isWarm = {}, None, [], False
        self.signals = Signals()
        self.pid = int(unit('MainPID'))

    def note(self, text, seconds=None, most=None):
        """Keeps a number of the row; Failure when it is more than `most`."""
        text = text if seconds is None else f'{text} {seconds:.2f} s'
        say(f'measured: {text}')
        self.measured.append(text)
        if most is not None:
            expect_within(most, seconds, 'that is soon enough')

    # Cameras

    def add(self, role, port, *options):
        """Plugs in the role's camera for the first time. When its node was there."""
        self.cameras[role] = Camera(port, *CAMERAS[role], *options)
        return self.appeared(role)

    def node_of(self, role):
        """The /dev node of the role's camera, as soon as the kernel has made it; None when it is unplugged."""
        for index in glob.glob(f'/sys/devices/platform/vhci_hcd.0/usb*/*-{self.cameras[role].port + 1}/'
                               '*:1.0/video4linux/video*/index'):
            path = '/dev/' + index.split('/')[-2]
            try:
                if open(index).read().strip() == '0' and os.path.exists(path):
                    return path
            except OSError:
                pass
        return None

    def appeared(self, role):
        """When the kernel made the camera's node."""
        path = wait_for(f"the {role} camera's node is there", lambda: self.node_of(role), every=0.01)
        self.cameras[role].device = path
        return time.monotonic() - (time.time() - os.stat(path).st_ctime)

    def unplug(self, role):
        since = time.monotonic()
        self.cameras[role].command('unplug')
        return since

    def plug(self, role):
        """Puts the plug back. When the node was there."""
        self.cameras[role].command('plug')
        path = wait_for(f"the {role} camera's node is there", lambda: self.node_of(role), every=0.01)
        self.cameras[role].device = path
        return time.monotonic()

    def kill(self, role):
        """Ends the camera's own program as a crash would."""
        code, out, _ = run('pgrep', '-f', f'uvccam --port {self.cameras[role].port} ')
        if code != 0:
            raise Failure(f'the {role} camera has no process')
        since = time.monotonic()
        os.kill(int(out.split()[0]), 9)
        return since

    def privacy(self, isOn):
        """Closes or opens all cameras; when it was asked for."""
        since = time.monotonic()
        check('busctl', '--user', 'set-property', BUS_NAME, OBJECT, f'{BUS_NAME}.Privacy', 'Enabled', 'b', str(isOn).lower())
        return since

    # What is to be seen

    def interrupted(self, role, why, since, deadline=30):
        took = self.signals.wait(role, 'Interruption', why, since, deadline)
        # It may have been so for another reason.
        self.signals.holds(role, 'State', 'interrupted')
        if role == 'back':
            self.signals.holds('Stream', 'State', 'interrupted')
        return took

    def held(self, since):
        """The main picture stays, then is veiled. How many output frames after `since` still moved on."""
        first = next((i for i, (when, _) in enumerate(self.consumer.seen) if when > since), len(self.consumer.seen))
        try:
            wait_for('the main picture is held and veiled', lambda: len(self.consumer.seen) > first + 5
                     and all(seen[1] is None for _, seen in self.consumer.seen[-3:]), 10, 0.02)
        except Failure as failure:
            raise Failure(f'{failure}; {len(self.consumer.seen) - first} frames since, the last of them '
                          f'{self.consumer.seen[-3:]}')
        seen = [sample for _, sample in self.consumer.seen[first:]]
        expect({hue for hue, _ in seen} == {'orange'}, f'all {len(seen)} pictures are of the camera')
        last = self.consumer.seen[first - 1][1][1]
        moved = 0
        for number, (_, counter) in enumerate(seen):
            if counter is not None and counter != last:
                moved, last = number + 1, counter
        return moved

    def live(self, since, role='back', deadline=30):
        """How long after `since` the camera's picture was live: signalled and, that of the main one, seen to move on."""
        took = self.signals.wait(role, 'State', 'streaming', since, deadline)
        if role != 'back':
            return took
        self.signals.wait('Stream', 'State', 'streaming', since)

        def moves():
            seen = [(when, seen[1]) for when, seen in self.consumer.seen if when > since and seen[1] is not None]
            return next(((when,) for (_, a), (when, b) in zip(seen, seen[1:]) if 0 < (b - a) & 0xffff < 100), None)

        return max(took, wait_for('the main picture lives', moves, deadline, 0.02)[0] - since)

    def look(self):
        """A consumer in place of the one before, and live pictures of both cameras; when it was started."""
        self.consumer.leave()
        # Cameras stay open for a moment; only those that were closed are signalled to stream again.
        wait_for('the cameras are closed', lambda: not open_cameras(int(unit('MainPID'))))
        since = time.monotonic()
        self.consumer = Consumer(sample, WIDTH, HEIGHT)
        for role in ('back', 'front'):
            self.signals.wait(role, 'State', 'streaming', since, 60)
        self.live(since)
        return since

    def resources(self):
        """How many descriptors the daemon has open, and its memory in KiB."""
        with open(f'/proc/{self.pid}/status') as file:
            memory = next(int(line.split()[1]) for line in file if line.startswith('VmRSS'))
        return len(os.listdir(f'/proc/{self.pid}/fd')), memory

    def play(self, name, row):
        """Plays one row, and checks what holds for all: nobody waited, the node is the same, nothing leaked."""
        say(f'=== {name}')
        first, self.measured = time.monotonic(), []
        # The first row opens what the others find open
        before = self.resources() if self.isWarm else (160, 1 << 20)
        self.isWarm = True
        try:
            row(self)
            changed = self.signals.values(first, 'Stream', 'NodeId')
            expect(not changed, 'the node id is unchanged')
            times = [when for when, _ in self.consumer.seen if when >= first]
            longest, whole, when = longest_wait(times)
            # Those that a thread is about to close
            wait_for('as many descriptors are open as before', lambda: self.resources()[0] <= before[0], 2)
            after = self.resources()
            self.measured.append(f'longest wait {whole:.3f} s of {len(times)} frames ({whole - longest:.3f} s of it paused); '
                                 f'descriptors {before[0]}, {after[0]}; '
                                 f'memory {before[1]}, {after[1]} KiB')
            say(self.measured[-1])
            expect(after[1] - before[1] < 4096, 'the memory is what it was')
            expect(longest <= PATIENCE, f'the consumer never waited more than {PATIENCE} s for a frame (longest after '
                   f'[{when - started:.1f}])')
        except Failure as failure:
            raise Failure(f'row "{name}": {failure}')
        return f'{name}: ' + '; '.join(self.measured)
