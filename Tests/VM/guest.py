"""What the scripts inside the virtual machine share: conditions, testuser's session, cameras, a consumer.

Run by `rows` as root. A script imports this, calls install() and goes on; every wait is for a condition and has a deadline.
One machine runs several scripts, and reset.py takes away what one has left before the next. The machine is emulated: a processor of 1000 million instructions a second by its own clock, however busy the host
is. Deadlines are wide, and the times are printed.
"""
import bisect, fcntl, json, os, pwd, shutil, subprocess, sys, threading, time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUS_NAME, OBJECT = 'org.dualcam.DualCam1', '/org/dualcam/DualCam1'
UNIT = 'dualcamd.service'
USER = pwd.getpwnam('testuser')
RUNTIME = f'/run/user/{USER.pw_uid}'
# For files of a script that everybody may write to
SCRATCH = '/tmp/dualcam-row'
# What install() has added, for uninstall()
INSTALLED = '/run/dualcam-installed'
REGISTRY = '/run/gstreamer-registry'
# What makes subprocess start a program in testuser's session.
AS_USER = {
    'user': USER.pw_uid, 'group': USER.pw_gid, 'extra_groups': os.getgrouplist(USER.pw_name, USER.pw_gid),
    'env': {'PATH': os.environ['PATH'], 'LANG': 'C.UTF-8', 'HOME': USER.pw_dir, 'XDG_RUNTIME_DIR': RUNTIME,
            'DBUS_SESSION_BUS_ADDRESS': f'unix:path={RUNTIME}/bus',
            # Outside it takes none of this machine's seconds to list GStreamer's plugins.
            'GST_REGISTRY': REGISTRY, 'GST_REGISTRY_UPDATE': 'no'}}
started, began = time.monotonic(), time.time()


class Failure(Exception):
    """What was expected did not come true."""


def become(name):
    """From here on "user" is the one called `name`, who logs in now, as on a desktop: by PAM, at the seat."""
    global USER, RUNTIME
    USER = pwd.getpwnam(name)
    RUNTIME = f'/run/user/{USER.pw_uid}'
    AS_USER.update(user=USER.pw_uid, group=USER.pw_gid, extra_groups=os.getgrouplist(name, USER.pw_gid))
    AS_USER['env'].update(HOME=USER.pw_dir, XDG_RUNTIME_DIR=RUNTIME, DBUS_SESSION_BUS_ADDRESS=f'unix:path={RUNTIME}/bus')
    session = {'XDG_SESSION_CLASS': 'user', 'XDG_SESSION_TYPE': 'wayland', 'XDG_SEAT': 'seat0', 'XDG_VTNR': '1'}
    do('systemd-run', f'--unit=login-{name}', f'--property=User={name}', '--property=PAMName=login',
       *(f'--setenv={key}={value}' for key, value in session.items()), 'sleep', 'infinity')
    wait_for(f"{name}'s session", lambda: os.path.exists(f'{RUNTIME}/bus'), 60)


def say(text):
    print(f'[{time.monotonic() - started:6.1f}] {text}', flush=True)


class Pauses:
    """When the machine stood still.

    Its clock counts its instructions (rig/run-in-vm), so a busy host does not make it slower. Only where it idles does its
    clock go with the host's, which may wake it late. That wait is not to be blamed on the daemon.
    """

    # A wait for a processor that the host took away. Shorter ones do not matter to any limit.
    LEAST = 0.02

    def __init__(self):
        self._seen = []
        threading.Thread(target=self._watch, daemon=True).start()

    def _watch(self):
        # Before every other thread in here, so that the late ones are those of the host
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(99))
        while True:
            due = time.monotonic() + 0.005
            time.sleep(0.005)
            now = time.monotonic()
            if now - due > self.LEAST:
                self._seen.append((due, now))

    def count(self, begin, end):
        """How often the machine stood still between these times."""
        return sum(now > begin and due < end for due, now in list(self._seen))

    def between(self, begin, end):
        """For how long in all the machine stood still between these times, in seconds."""
        total, index = 0, bisect.bisect_left(self._seen, (begin,))
        for due, now in self._seen[max(0, index - 1):]:
            if due > end:
                break
            total += max(0, min(end, now) - max(begin, due))
        return total


def expect(condition, text):
    if not condition:
        raise Failure(text)
    say(f'ok: {text}')


def wait_for(text, condition, deadline=30, every=0.05):
    """The first true value of `condition()`; Failure after `deadline` seconds. Prints how long it took."""
    begin = time.monotonic()
    while True:
        value = condition()
        took = time.monotonic() - begin
        if value:
            say(f'ok: {text} (waited {took:.2f} s)')
            return value
        if took > deadline:
            raise Failure(f'{text}: not within {deadline} s')
        time.sleep(every)


def run(*command, deadline=60, **options):
    """Runs a command as root; returns exit status, stdout and stderr."""
    done = subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=deadline, **options)
    return done.returncode, done.stdout, done.stderr


def do(*command, **options):
    """Runs a command as root that must succeed; returns its stdout."""
    code, out, errors = run(*command, **options)
    if code != 0:
        raise Failure(f'{" ".join(command)}: {errors.strip() or out.strip()}')
    return out


def user(*command, deadline=60):
    """`run` in testuser's session."""
    return run(*command, deadline=deadline, **AS_USER)


def check(*command, deadline=60):
    """Runs a command in testuser's session that must succeed; returns its stdout."""
    status, out, errors = user(*command, deadline=deadline)
    if status != 0:
        raise Failure(f'{" ".join(command)}: exit status {status}: {errors.strip() or out.strip()}')
    return out


def ctl(*words):
    """Runs dualcamctl, which must succeed; prints how long it took, and returns its stdout."""
    begin = time.monotonic()
    out = check('dualcamctl', *words)
    say(f'ok: dualcamctl {" ".join(words)} ({time.monotonic() - begin:.2f} s)')
    return out


def activate():
    """Has `dualcamctl start` activate the service."""
    ctl('start')
    expect(unit('ActiveState') == 'active', 'dualcamctl start has activated dualcamd.service')


def status():
    """What the daemon says of itself."""
    return json.loads(check('dualcamctl', 'status', '--json'))


def property_of(interface, name, path=OBJECT):
    """A property of one of the daemon's objects."""
    out = check('busctl', '--user', '--json=short', 'get-property', BUS_NAME, path, f'{BUS_NAME}.{interface}', name)
    return json.loads(out)['data']


def counted():
    """What the daemon has counted, as busctl writes it."""
    out = check('busctl', '--user', '--json=short', 'call', BUS_NAME, OBJECT, f'{BUS_NAME}.Stream', 'Statistics', 'a{sv}', '0')
    return json.loads(out)['data'][0]


def unit(name):
    """A property of the daemon's unit, as `systemctl show` prints it."""
    return check('systemctl', '--user', 'show', '--property', name, '--value', UNIT).strip()


def install():
    """Adds to this machine what `make install` has made outside, and tells testuser's session."""
    wait_for("testuser's session", lambda: os.path.exists(f'{RUNTIME}/bus'), 60)
    made = os.environ['DUALCAM_INSTALLED']
    added = []
    for folder, _, names in os.walk(made):
        target = folder[len(made):] or '/'
        if not os.path.isdir(target):
            os.mkdir(target)
            added.append(target)
        for name in names:
            file, place = f'{folder}/{name}', os.path.join(target, name)
            added.append(place)
            # A program is large
            if target == '/usr/bin':
                open(place, 'w').close()
                do('mount', '--bind', file, place)
            else:
                shutil.copy(file, place)
    with open(INSTALLED, 'w') as file:
        file.writelines(f'{path}\n' for path in added)
    check('systemctl', '--user', 'daemon-reload')
    # So that systemd keeps the unit in mind, and how it ended, when it has stopped.
    check('systemctl', '--user', 'enable', UNIT)
    check('busctl', '--user', 'call', 'org.freedesktop.DBus', '/org/freedesktop/DBus', 'org.freedesktop.DBus', 'ReloadConfig')
    say(f'installed {len(added)} files and folders')


def uninstall():
    """Takes away what install() has added, if it has."""
    if not os.path.exists(INSTALLED):
        return
    with open(INSTALLED) as file:
        added = file.read().splitlines()
    for path in reversed(added):
        if os.path.isdir(path):
            # What a script has put there, too
            shutil.rmtree(path)
        else:
            run('umount', path) if path.startswith('/usr/bin/') else None
            if os.path.lexists(path):
                os.unlink(path)
    os.unlink(INSTALLED)


def journal(*options):
    """What the journal has from this script's time."""
    return run('journalctl', '--no-pager', f'--since=@{began:.0f}', *options)[1]


def output(width, height, rate):
    """The table of a configuration that says what the stream is."""
    return f'[output]\nwidth = {width}\nheight = {height}\nframe-rate = {rate}'


def configure(text):
    """Writes testuser's dualcam.toml."""
    folder = f'{USER.pw_dir}/.config/dualcam'
    os.makedirs(folder, exist_ok=True)
    with open(f'{folder}/dualcam.toml', 'w') as file:
        file.write(text)


pauses = Pauses()


def expect_within(limit, seconds, text):
    """Has what took `seconds` until now have taken no more than `limit`, the machine's pauses left out."""
    now = time.monotonic()
    paused = pauses.between(now - seconds, now)
    expect(seconds - paused <= limit, f'{text}: {seconds:.2f} s of {limit} s, {paused:.2f} s of them paused')


def longest_wait(times):
    """The longest time between two of these, the machine's pauses left out; with it that between them and when it began."""
    waits = [(b - a - pauses.between(a, b), b - a, a) for a, b in zip(times, times[1:])]
    return max(waits)


class Camera:
    """An emulated USB camera, plugged in. `device` is its capture node."""

    def __init__(self, port, *options):
        self.port = port
        self.device = do('plug-camera', str(port), *options).strip()
        say(f'camera on port {port}: {self.device} {" ".join(options)}')

    def command(self, text):
        """A command to the camera, such as "unplug", "freeze 1" or "light 0.2"; see uvccam --help."""
        with open(f'/run/uvccam{self.port}', 'w') as fifo:
            fifo.write(text + '\n')

    def streams(self, count=5):
        """True when another program (v4l2-ctl, run by testuser) gets `count` frames from it."""
        code, _, errors = user(
            'v4l2-ctl', '-d', self.device, '--stream-mmap', f'--stream-count={count}', '--stream-to=/dev/null')
        if code != 0:
            say(f'v4l2-ctl on {self.device}: {errors.strip()}')
        return code == 0


def control(camera, name):
    """A control's value as v4l2-ctl reads it."""
    return int(check('v4l2-ctl', '-d', camera.device, '-C', name).split(':')[1].split()[0])


def hue(frame, at):
    """The hue of a camera's tint at this offset of a YUY2 picture, where U comes before V; None for another one."""
    difference = frame[at + 3] - frame[at + 1]
    return 'orange' if difference > 30 else 'blue' if difference < -30 else None


def counter(frame, canvas, size, isMirrored=False, gray=range(71, 180)):
    """uvccam's frame counter in a picture of that size in the middle of the canvas: 16 blocks of 8 x 8 in the top row, highest
    bit first, white or black; modulo 2 ** 16. None when one of them is gray, as where the picture is blurred."""
    scale = min(canvas[0] / size[0], canvas[1] / size[1])
    left, top = (canvas[0] - size[0] * scale) / 2, (canvas[1] - size[1] * scale) / 2
    value = 0
    for block in range(16):
        x = block * 8 + 4
        x = left + (size[0] - x if isMirrored else x) * scale
        luma = frame[(int(top + 4 * scale) * canvas[0] + int(x)) * 2]
        if luma in gray:
            return None
        value = value * 2 + (luma > 128)
    return value


def open_cameras(pid):
    """The video devices that the program has open."""
    links = set()
    try:
        for number in os.listdir(f'/proc/{pid}/fd'):
            try:
                link = os.readlink(f'/proc/{pid}/fd/{number}')
            except OSError:
                continue
            if link.startswith('/dev/video'):
                links.add(link)
    except OSError:
        pass
    return links


def objects(dump=None):
    """The properties of each of PipeWire's objects, as pw-dump shows them now, or has shown them; [] if it does not answer."""
    if dump is None:
        code, dump, _ = user('pw-dump')
        dump = dump if code == 0 else ''
    return [(item.get('info') or {}).get('props') or {} for item in json.loads(dump)] if dump.strip() else []


def node():
    """The properties of the stream's PipeWire node, or None."""
    return next((each for each in objects()
                 if each.get('node.name') == 'dualcam' and each.get('media.class') == 'Video/Source'), None)


class Consumer:
    """A program of testuser's that reads the stream through PipeWire, and what it saw of each frame.

    `seen` grows by (time, sample(frame)) a frame, on a thread of its own; `sample` gets the YUY2 bytes.
    """

    def __init__(self, sample, width, height, target='dualcam'):
        self.seen = []
        self._sample, self._size = sample, width * height * 2
        self._log = open(f'{SCRATCH}/consumer.log', 'a')
        self.began = time.monotonic()
        self._program = subprocess.Popen(
            ['gst-launch-1.0', '-q', '--no-position', 'pipewiresrc', f'target-object={target}', '!',
             f'video/x-raw,format=YUY2,width={width},height={height}', '!', 'fdsink', 'sync=false'],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=self._log, bufsize=0, **AS_USER)
        fcntl.fcntl(self._program.stdout, 1031, 1 << 20)    # F_SETPIPE_SZ
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def _read(self):
        frame = bytearray(self._size)
        view = memoryview(frame)
        while True:
            filled = 0
            while filled < self._size:
                count = self._program.stdout.readinto(view[filled:])
                if not count:
                    return
                filled += count
            self.seen.append((time.monotonic(), self._sample(frame)))

    def wait_until(self, text, condition, deadline=30):
        """Waits for a frame, from now on, whose sample fulfils `condition`; returns (time, sample)."""
        first = len(self.seen)

        def found():
            nonlocal first
            while first < len(self.seen):
                first += 1
                if condition(self.seen[first - 1][1]):
                    return self.seen[first - 1]
            if self._program.poll() is not None:
                raise Failure(f'{text}: the consumer ended: ' + open(f'{SCRATCH}/consumer.log').read()[-2000:])
            return None

        try:
            return wait_for(text, found, deadline, every=0.01)
        except Failure as failure:
            raise Failure(f'{failure}; last frames seen: {[sample for _, sample in self.seen[-5:]]}')

    def frames(self, count, deadline=60):
        """Waits for `count` more frames and returns them."""
        first = len(self.seen)
        wait_for(f'{count} frames', lambda: len(self.seen) >= first + count, deadline, every=0.02)
        return self.seen[first:first + count]

    def leave(self):
        """Ends the program as a user closing it would; returns the time at which it was told to."""
        now = time.monotonic()
        self._program.terminate()
        self._program.wait(30)
        self._thread.join(30)
        say(f'the consumer left after {len(self.seen)} frames; it took {time.monotonic() - now:.2f} s to end')
        return now


def main(body):
    """Runs the test; on failure prints what the daemon and the kernel had to say, and exits 1."""
    try:
        os.makedirs(SCRATCH, exist_ok=True)
        os.chmod(SCRATCH, 0o1777)
        if not os.path.exists(REGISTRY):
            shutil.copy(os.environ['DUALCAM_REGISTRY'], REGISTRY)
            os.chmod(REGISTRY, 0o644)
        body()
        say('passed')
    except (Failure, subprocess.TimeoutExpired, KeyError, ValueError) as failure:
        say(f'FAILED: {failure!r}' if not isinstance(failure, Failure) else f'FAILED: {failure}')
        for title, runner, command in (
                ('unit', user, ['systemctl', '--user', 'status', '--no-pager', '--lines=0', UNIT]),
                ('journal of the session', run, ['journalctl', '--no-pager', '--output=short-monotonic',
                                                 f'--since=@{began:.0f}', f'_UID={USER.pw_uid}']),
                ('kernel', run, ['sh', '-c', 'dmesg | grep -v vhci_hcd | tail -25'])):
            try:
                _, out, errors = runner(*command)
                print(f'--- {title}\n' + '\n'.join((out + errors).splitlines()[-150:]), flush=True)
            except subprocess.TimeoutExpired:
                print(f'--- {title}: no answer', flush=True)
        say(f'FAILED: {failure}')
        sys.exit(1)
