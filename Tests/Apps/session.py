"""A private desktop session: bus, PipeWire, camera portal, dualcamd with test pictures, screens."""
import json, mmap, os, re, shutil, signal, struct, subprocess, tempfile, threading, time, zlib

ROOT = os.path.realpath(os.path.join(os.path.dirname(__file__), '../..'))
BIN = os.path.join(ROOT, os.environ.get('BIN_DIR', '.build/release'))
RATE = 30
# Colour bars, and a ramp in the inset: whoever looks at a screen finds them.
CONFIGURATION = '[cameras.back]\nsource = "test:bars"\n[cameras.front]\nsource = "test:ramp"\n'
SERVICE, PATH = 'org.dualcam.DualCam1', '/org/dualcam/DualCam1'
GET = 'org.freedesktop.DBus.Properties.Get'
BUS = '''<busconfig>
  <type>session</type>
  <listen>unix:path={0}/bus</listen>
  <policy context="default">
    <allow send_destination="*" eavesdrop="true"/>
    <allow eavesdrop="true"/>
    <allow own="*"/>
  </policy>
</busconfig>'''


class Failed(Exception):
    """Why an app does not work, in a sentence."""


def eventually(what, condition, seconds=20):
    """Waits until `condition` is true, and returns what it gives."""
    deadline = time.monotonic() + seconds
    while True:
        result = condition()
        if result:
            return result
        if time.monotonic() > deadline:
            raise Failed(f'waited {seconds} s for {what}')
        time.sleep(0.02)


class Session:
    """Ends with everything that runs in it when the `with` is left."""

    def __enter__(self):
        # Short: the path of a socket has room for 107 bytes.
        self.directory = tempfile.mkdtemp(prefix='dc-', dir='/tmp')
        self._children, self.linked = [], None
        kept = 'PATH', 'LD_LIBRARY_PATH'
        self.environment = {name: os.environ[name] for name in kept if name in os.environ} | {
            'LANG': 'C.UTF-8', 'HOME': self.directory, 'XDG_RUNTIME_DIR': self.directory,
            'DBUS_SESSION_BUS_ADDRESS': f'unix:path={self.directory}/bus',
            # Whoever looks for the machine's services finds none.
            'DBUS_SYSTEM_BUS_ADDRESS': f'unix:path={self.directory}/none',
            # GStreamer lists its plugins anew for seconds where it finds no list.
            'XDG_CACHE_HOME': os.path.expanduser('~/.cache'),
            'XDG_CURRENT_DESKTOP': 'gtk', 'GDK_BACKEND': 'x11', 'QT_QPA_PLATFORM': 'xcb',
            'LIBGL_ALWAYS_SOFTWARE': '1', 'GSK_RENDERER': 'cairo', 'GSETTINGS_BACKEND': 'memory',
            'GTK_A11Y': 'none', 'NO_AT_BRIDGE': '1'}
        try:
            self._begin()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for child in reversed(self._children):
            self.end(child)
        shutil.rmtree(self.directory, ignore_errors=True)

    def _begin(self):
        files = {'bus.conf': BUS.format(self.directory), 'dualcam.toml': CONFIGURATION}
        for name, text in files.items():
            with open(f'{self.directory}/{name}', 'w') as file:
                file.write(text)
        self.run('dbus-daemon', f'--config-file={self.directory}/bus.conf', '--nofork')
        eventually('the bus', lambda: os.path.exists(f'{self.directory}/bus'))
        self.run('pipewire')
        eventually('PipeWire', lambda: os.path.exists(f'{self.directory}/pipewire-0'))
        self.run('wireplumber')
        self.run(f'{BIN}/dualcamd', '--config', f'{self.directory}/dualcam.toml')
        eventually('the camera "dualcam"', lambda: 'true' in self.get('Active'))
        monitor = self.run(f'{BIN}/dualcamctl', 'monitor', '--json', stdout=subprocess.PIPE)
        threading.Thread(target=self._listen, args=[monitor], daemon=True).start()

        # Portal 1.16 never notices a camera that comes after it, and crashes without a backend.
        backend, desktop = 'org.freedesktop.impl.portal', 'org.freedesktop.portal'
        store, screen = f'{backend}.PermissionStore', Screen(self)
        self._serve('xdg-permission-store', store, screen)
        self.call(store, '/' + store.replace('.', '/'), f'{store}.SetPermission',
                  'devices', 'true', 'camera', '', "['yes']")
        self._serve('xdg-desktop-portal-gtk', f'{backend}.desktop.gtk', screen)
        self._serve('xdg-desktop-portal', f'{desktop}.Desktop', screen)
        eventually('the portal to know of a camera', lambda: 'true' in self.call(
            f'{desktop}.Desktop', '/org/freedesktop/portal/desktop', GET,
            f'{desktop}.Camera', 'IsCameraPresent'))

    def _serve(self, service, name, screen):
        self.run(f'/usr/libexec/{service}', DISPLAY=screen.name)
        eventually(service, lambda: 'true' in self.call(
            'org.freedesktop.DBus', '/', 'org.freedesktop.DBus.NameHasOwner', name))

    def run(self, program, *arguments, stdout=None, **variables):
        """Starts a program; what it writes goes to a file, its `log`."""
        name = f'{self.directory}/{len(self._children):02}-{os.path.basename(program)}.log'
        with open(name, 'w') as log:
            child = subprocess.Popen(
                [program, *arguments], env=self.environment | variables, stdin=subprocess.DEVNULL,
                stdout=stdout or log, stderr=log, start_new_session=True, cwd=self.directory)
        child.log = name
        self._children.append(child)
        return child

    def end(self, child):
        """Ends a program and those that it started."""
        for number in signal.SIGTERM, signal.SIGKILL:
            try:
                os.killpg(child.pid, number)
                child.wait(5)
            except (ProcessLookupError, subprocess.TimeoutExpired):
                pass

    def call(self, service, path, member, *arguments):
        """The answer to a D-Bus call, as text; empty when it fails."""
        return subprocess.run(
            ['gdbus', 'call', '--session', '--dest', service, '--object-path', path,
             '--method', member, '--', *arguments], env=self.environment,
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout

    def get(self, name):
        """A property of the stream, as text."""
        return self.call(SERVICE, PATH, GET, f'{SERVICE}.Stream', name)

    def count(self):
        """How many frames were published, how many were not for want of a buffer, and when."""
        begin = time.monotonic()
        text = self.call(SERVICE, PATH, f'{SERVICE}.Stream.Statistics', '{}')
        counts = [int(re.search(f"'{name}': <(?:uint64 )?(\\d+)>", text)[1])
                  for name in ('frames-published', 'unbuffered')]
        return *counts, (begin + time.monotonic()) / 2

    def _listen(self, monitor):
        """Notes when there is a first consumer."""
        for line in monitor.stdout:
            consumers = json.loads(line).get('changed', {}).get('Consumers')
            if consumers is not None:
                self.linked = (self.linked or time.monotonic()) if consumers else None


class Screen:
    """An X server of its own, and what is on it."""
    SIZE = 1280, 800
    # Yellow, cyan, green, magenta, red, blue: the bars between white and black.
    BARS = [(1, 1, 0), (0, 1, 1), (0, 1, 0), (1, 0, 1), (1, 0, 0), (0, 0, 1)]

    def __init__(self, session):
        # Its frame buffer is a file in the format of xwd.
        directory = tempfile.mkdtemp(dir=session.directory)
        server = session.run('Xvfb', '-displayfd', '1', '-nolisten', 'tcp', '-fbdir', directory,
                             '-screen', '0', '%dx%dx24' % self.SIZE, stdout=subprocess.PIPE)
        self.name = ':' + server.stdout.readline().decode().strip()
        with open(f'{directory}/Xvfb_screen0', 'r+b') as file:
            self._memory = mmap.mmap(file.fileno(), 0)
        header = struct.unpack('>25I', self._memory[:100])
        self._begin, self._stride = header[0] + 12 * header[19], header[12]

    def _pixel(self, x, y):
        """Red, green and blue, each 0 or 1, or None where that is not clear."""
        at = self._begin + int(y) * self._stride + int(x) * 4
        values = self._memory[at:at + 3]
        if any(70 < value < 185 for value in values):
            return None
        return values[2] > 127, values[1] > 127, values[0] > 127

    def find(self):
        """Looks for the bars, mirrored or not; returns whether they are there."""
        # They end at two thirds of the height, so the lowest row that has them tells the rest.
        for y in reversed(range(0, self.SIZE[1], 2)):
            runs = []
            for x in range(0, self.SIZE[0], 2):
                color = self._pixel(x, y)
                if color and (not runs or runs[-1][0] != color):
                    runs.append((color, x))
            for begin, end in zip(runs, runs[6:]):
                at = runs.index(begin)
                bars = [color for color, _ in runs[at:at + 6]]
                if bars in (self.BARS, self.BARS[::-1]):
                    width = (end[1] - begin[1]) * 8 / 6
                    top = y + 1 - width * 9 / 16 * 2 / 3
                    self._corner = begin[1] - width / 8, top
                    self._block = width / 80
                    if bars != self.BARS:
                        self._corner = end[1] + width / 8, top
                        self._block = -self._block
                    return True
        return False

    def number(self):
        """The low byte of the frame's number in the picture's corner; None where unsharp."""
        (x, y), value = self._corner, 0
        for bit in range(8, 16):
            color = self._pixel(x + (bit + 0.5) * self._block, y + abs(self._block) / 2)
            if not color or len(set(color)) > 1:
                return None
            value = value * 2 + color[0]
        return value

    def watch(self, seconds):
        """Counts the different pictures of DualCam's that are shown."""
        # The window may have changed since.
        self.find()
        frames, last, deadline = 0, None, time.monotonic() + seconds
        while time.monotonic() < deadline:
            now = self.number()
            if now not in (None, last):
                frames, last = frames + 1, now
            time.sleep(0.004)
        return frames

    def save(self, path):
        """Writes a PNG."""
        rows = bytearray()
        for y in range(self.SIZE[1]):
            at = self._begin + y * self._stride
            row = bytearray(self._memory[at:at + self.SIZE[0] * 4])
            pixels = bytearray(self.SIZE[0] * 3)
            pixels[0::3], pixels[1::3], pixels[2::3] = row[2::4], row[1::4], row[0::4]
            rows += b'\0' + pixels
        with open(path, 'wb') as file:
            file.write(b'\x89PNG\r\n\x1a\n')
            for kind, content in ((b'IHDR', struct.pack('>2I5B', *self.SIZE, 8, 2, 0, 0, 0)),
                                  (b'IDAT', zlib.compress(bytes(rows))), (b'IEND', b'')):
                file.write(struct.pack('>I', len(content)) + kind + content
                           + struct.pack('>I', zlib.crc32(kind + content)))
