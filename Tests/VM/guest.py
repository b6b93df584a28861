"""What the scripts inside the virtual machine share: conditions, testuser's session, cameras, a consumer.

Run by rig/run-in-vm as root. A script imports this, calls install() and goes on; every wait is for a condition and has a
deadline. The machine is emulated and 5 to 20 times slower than real ones, so deadlines are wide and the times are printed.
"""
import bisect, fcntl, json, os, pwd, subprocess, sys, threading, time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUS_NAME, OBJECT = 'org.dualcam.DualCam1', '/org/dualcam/DualCam1'
UNIT = 'dualcamd.service'
USER = pwd.getpwnam('testuser')
RUNTIME = f'/run/user/{USER.pw_uid}'
# What makes subprocess start a program in testuser's session.
AS_USER = {
    'user': USER.pw_uid, 'group': USER.pw_gid, 'extra_groups': os.getgrouplist(USER.pw_name, USER.pw_gid),
    'env': {'PATH': os.environ['PATH'], 'LANG': 'C.UTF-8', 'HOME': USER.pw_dir, 'XDG_RUNTIME_DIR': RUNTIME,
            'DBUS_SESSION_BUS_ADDRESS': f'unix:path={RUNTIME}/bus'}}
started = time.monotonic()


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
    code, _, errors = run(
        'systemd-run', f'--unit=login-{name}', f'--property=User={name}', '--property=PAMName=login',
        *(f'--setenv={key}={value}' for key, value in session.items()), 'sleep', 'infinity')
    if code != 0:
        raise Failure(f'{name} cannot log in: {errors}')
    wait_for(f"{name}'s session", lambda: os.path.exists(f'{RUNTIME}/bus'), 60)


def say(text):
    print(f'[{time.monotonic() - started:6.1f}] {text}', flush=True)


class Machine:
    """How slow this machine is at the moment, and how late.

    It is emulated by one that has others to serve. What waits for that is not to be blamed: a limit in seconds holds for
    a machine as fast as the one that it was set on, and in proportion for a slower one.
    """

    # Seconds of a thread's time that the piece of work takes on the machine that the limits were
    # set on, left alone.
    PIECE = 0.0035
    # From here on the machine is too slow for a failure to prove anything.
    SLOW = 1.5

    def __init__(self):
        self._late, self._slow = [], []
        threading.Thread(target=self._watch, daemon=True).start()

    def _watch(self):
        measured = 0
        while True:
            # A thread that wants to run every 5 ms, and keeps when it could not
            due = time.monotonic() + 0.005
            time.sleep(0.005)
            now = time.monotonic()
            if now - due > 0.001:
                self._late.append((due, now))
            if now - measured > 0.5:
                measured = now
                # This thread's own time: it stands still while others in here run, and goes on
                # while the whole machine waits for a processor.
                begin = time.thread_time()
                total = 0
                for number in range(10000):
                    total += number & 3
                self._slow.append((now, (time.thread_time() - begin) / self.PIECE))

    def late(self, begin, end):
        """For how long in all nothing could run between these times, in seconds."""
        total, index = 0, bisect.bisect_left(self._late, (begin,))
        for due, now in self._late[max(0, index - 1):]:
            if due > end:
                break
            total += max(0, min(end, now) - max(begin, due))
        return total

    def slowness(self, begin, end=None):
        """How many times slower the machine was in the worst two seconds of this time; 1 at least."""
        end = time.monotonic() if end is None else end
        seen = [slow for when, slow in self._slow[bisect.bisect_left(self._slow, (begin - 1,)):] if when <= end + 1]
        return max([1.0] + [sum(seen[i:i + 4]) / len(seen[i:i + 4]) for i in range(max(1, len(seen) - 3)) if seen])


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


def user(*command, deadline=60):
    """The same in testuser's session."""
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
    """Has `dualcamctl start` activate the service. It waits for 5 s, which can be too short for this machine."""
    def start():
        code, _, errors = user('dualcamctl', 'start')
        if code not in (0, 3):
            raise Failure(f'dualcamctl start: exit status {code}: {errors.strip()}')
        return code == 0

    wait_for('dualcamctl start', start)
    expect(unit('ActiveState') == 'active', 'dualcamctl start has activated dualcamd.service')


def status():
    """What the daemon says of itself. It has 5 s for that, which can be too short for a machine that is slow just now."""
    for _ in range(5):
        begin = time.monotonic()
        code, out, errors = user('dualcamctl', 'status', '--json')
        if code == 0:
            return json.loads(out)
        if code != 3 or machine.slowness(begin) <= machine.SLOW:
            break
    raise Failure(f'dualcamctl status: exit status {code}: {errors.strip()}')


def unit(name):
    """A property of the daemon's unit, as `systemctl show` prints it."""
    return check('systemctl', '--user', 'show', '--property', name, '--value', UNIT).strip()


def install():
    """Installs the built daemon into this machine as a user would have it, and tells testuser's session."""
    wait_for("testuser's session", lambda: os.path.exists(f'{RUNTIME}/bus'), 60)
    binaries = os.environ['DUALCAM_BIN_DIR']
    code, out, errors = run(
        'make', '-C', ROOT, 'install', 'PREFIX=/usr', f'BIN_DIR={binaries}', deadline=120)
    if code != 0:
        raise Failure(f'make install: {out}{errors}')
    check('systemctl', '--user', 'daemon-reload')
    # So that systemd keeps the unit in mind, and how it ended, when it has stopped.
    check('systemctl', '--user', 'enable', UNIT)
    check('busctl', '--user', 'call', 'org.freedesktop.DBus', '/org/freedesktop/DBus', 'org.freedesktop.DBus', 'ReloadConfig')
    say(f'installed from {binaries}')


def configure(text):
    """Writes testuser's dualcam.toml."""
    folder = f'{USER.pw_dir}/.config/dualcam'
    os.makedirs(folder, exist_ok=True)
    with open(f'{folder}/dualcam.toml', 'w') as file:
        file.write(text)


machine = Machine()
# How long before a failure, in seconds, a slow machine may have caused it.
AROUND = 10


def expect_within(limit, seconds, text):
    """Has what took `seconds` until now have taken no more than `limit`, or than that of a machine as slow as this one."""
    slowness = machine.slowness(time.monotonic() - seconds)
    expect(seconds <= limit * slowness, f'{text}: {seconds:.2f} s of {limit} s, on a machine {slowness:.1f} times slower '
           'than the limit is for')


class Camera:
    """An emulated USB camera, plugged in. `device` is its capture node."""

    def __init__(self, port, *options):
        self.port = port
        code, out, errors = run('plug-camera', str(port), *options)
        if code != 0:
            raise Failure(f'plug-camera {port}: {errors}')
        self.device = out.strip()
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


def node():
    """The PipeWire node of the stream as pw-dump shows it, or None."""
    code, out, _ = user('pw-dump')
    if code != 0 or not out.strip():
        return None
    for item in json.loads(out):
        properties = (item.get('info') or {}).get('props') or {}
        if properties.get('node.name') == 'dualcam' and properties.get('media.class') == 'Video/Source':
            return item
    return None


class Consumer:
    """A program of testuser's that reads the stream through PipeWire, and what it saw of each frame.

    `seen` grows by (time, sample(frame)) a frame, on a thread of its own; `sample` gets the YUY2 bytes.
    """

    def __init__(self, sample, width, height, target='dualcam'):
        self.seen = []
        self._sample, self._size = sample, width * height * 2
        self._log = open('/tmp/consumer.log', 'a')
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
                raise Failure(f'{text}: the consumer ended: ' + open('/tmp/consumer.log').read()[-2000:])
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
    """Runs the test; on failure prints what the daemon and the kernel had to say, and exits 1.

    It exits 75, for "try again", when the machine was too slow just then for the failure to prove anything.
    """
    try:
        body()
        say('passed')
    except (Failure, subprocess.TimeoutExpired, KeyError, ValueError) as failure:
        # Before the commands below, which keep the machine busy.
        slowness = machine.slowness(time.monotonic() - AROUND)
        say(f'FAILED: {failure!r}' if not isinstance(failure, Failure) else f'FAILED: {failure}')
        for title, runner, command in (
                ('unit', user, ['systemctl', '--user', 'status', '--no-pager', '--lines=0', UNIT]),
                ('journal of the session', run, ['journalctl', '--no-pager', '--output=short-monotonic',
                                                 f'_UID={USER.pw_uid}']),
                ('kernel', run, ['sh', '-c', 'dmesg | grep -v vhci_hcd | tail -25'])):
            try:
                _, out, errors = runner(*command)
                print(f'--- {title}\n' + '\n'.join((out + errors).splitlines()[-150:]), flush=True)
            except subprocess.TimeoutExpired:
                print(f'--- {title}: no answer', flush=True)
        say(f'FAILED: {failure}; at its worst in the {AROUND} s before, the machine was {slowness:.1f} times slower than '
            'the limits are for')
        sys.exit(75 if slowness > machine.SLOW else 1)
