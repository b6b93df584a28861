#!/usr/bin/python3 -u
"""What `dualcamctl doctor --fix` does under real systemd, WirePlumber, udev and camera portal, with USB cameras; and that
--undo takes it back, file by file. What it cannot mend itself: it names the cause and a command, after which it says that
all is well.
"""
import loopback, re, shlex, signal
from guest import *

CONFIGURATION = output(320, 180, 10) + """
[cameras.back]
source = "v4l2:{}"
[cameras.front]
source = "v4l2:{}"
"""


def doctor(*words):
    """Runs it; it fails where there are other problems. Returns the findings of `--json`, by name."""
    _, out, errors = user('dualcamctl', 'doctor', *words)
    say(f'doctor {" ".join(words)}: {errors.strip()}\n{out if "--json" not in words else ""}')
    return {check['name']: check for check in json.loads(out)['checks']} if words == ('--json',) else out


def files():
    """Everything in the user's configuration: kind and permissions, content."""
    found = {}
    for folder, _, names in os.walk(f'{USER.pw_dir}/.config'):
        for name in names:
            path = f'{folder}/{name}'
            link = os.readlink(path) if os.path.islink(path) else None
            found[path] = os.lstat(path).st_mode, link or open(path, 'rb').read()
    return found


def listed(dump=None):
    """The names of the cameras that apps see in PipeWire, or those in what pw-dump has written."""
    return {each.get('node.description', '').split(' (')[0] for each in objects(dump)
            if each.get('media.class') == 'Video/Source'}


def offered():
    """The names of those that the portal offers to apps; None if it refuses."""
    code, out, errors = user('python3', os.path.join(os.path.dirname(os.path.abspath(__file__)), 'portal_dump.py'))
    if code == 0:
        return listed(out)
    if 'AccessDenied' in errors or 'NotAllowed' in errors:
        return None
    raise Failure(f'the portal: {errors}')


def copies():
    """WirePlumber's own nodes of the loopback device; None if it does not know the device."""
    kinds = [each.get('media.class') for each in objects() if each.get('api.v4l2.path') == loopback.DEVICE]
    return kinds.count('Video/Source') if 'Video/Device' in kinds else None


def version(*command):
    """The first version that a program prints of itself, as numbers."""
    out = check(*command)
    return [int(number) for number in re.search(r'(\d+)\.(\d+)(?:\.(\d+))?', out).groups('0')]


def desktop():
    """A screen that nobody sees, for the portal's windows."""
    server = subprocess.Popen(['Xvfb', '-displayfd', '1', '-nolisten', 'tcp'], stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, **AS_USER)
    number = server.stdout.readline().strip()
    expect(number, 'there is a screen')
    check('systemctl', '--user', 'set-environment', f'DISPLAY=:{number}', 'XDG_CURRENT_DESKTOP=gtk')


def portal_sees():
    """True if the portal, which this starts, knows of a camera."""
    out = check('busctl', '--user', 'get-property', 'org.freedesktop.portal.Desktop', '/org/freedesktop/portal/desktop',
                'org.freedesktop.portal.Camera', 'IsCameraPresent', deadline=120)
    return out.strip() == 'b true'


def old_portal():
    """A portal that was there before there was a camera. That of Debian 12, 1.16, never notices; that of Debian 13 does."""
    expect(not portal_sees(), 'the portal runs, and there is no camera')
    ctl('start')
    wait_for('the node is there', node, 60)
    if version('/usr/libexec/xdg-desktop-portal', '--version') < [1, 20]:
        finding = wait_for_finding('portal', False)
        expect('started before the camera' in finding['text'], f'it says why: {finding["text"]}')
        doctor('--fix', 'portal', '--yes')
    wait_for('the portal sees the camera', portal_sees, 60, 0.5)
    wait_for_finding('portal', True)


def store(member, *arguments):
    """Calls the portal's store of permissions."""
    name = 'org.freedesktop.impl.portal.PermissionStore'
    check('busctl', '--user', 'call', name, '/' + name.replace('.', '/'), name, member, *arguments)


def refused():
    """Somebody has once said No to an app."""
    store('SetPermission', 'sbssas', 'devices', 'true', 'camera', '', '1', 'no')
    expect(offered() is None, 'the portal refuses the camera')
    finding = wait_for_finding('refusals', False)
    expect(finding['text'] == 'an app outside a sandbox was refused the camera, and the portal remembers this', f'it says so: {finding["text"]}')
    follow(finding, '--yes')
    wait_for_finding('refusals', True)
    doctor('--undo', 'refusals')
    wait_for_finding('refusals', False)
    expect(offered() is None, 'the portal refuses it again')
    doctor('--fix', 'refusals', '--yes')
    # Now the portal asks, and somebody says Yes
    store('SetPermission', 'sbssas', 'devices', 'true', 'camera', '', '1', 'yes')
    wait_for('the portal offers the stream', lambda: offered() == {'DualCam'}, 60, 0.5)


def hide(cameras):
    every = {'DualCam', 'Desk', 'Face', 'Third'}
    wait_for('all are listed', lambda: listed() == every, 60, 0.5)
    wait_for('the portal offers all', lambda: offered() == every, 60, 0.5)
    before = files()
    out = doctor('--fix', 'hide-cameras', '--yes')
    expect('Done.' in out, 'the rules are written')
    check('systemctl', '--user', 'restart', 'wireplumber')
    wait_for('the cameras in use are hidden, the third is not', lambda: listed() == {'DualCam', 'Third'}, 60, 0.5)
    wait_for('the portal does not offer them', lambda: offered() == {'DualCam', 'Third'}, 60, 0.5)
    expect(doctor('--json')['hide-cameras']['ok'], 'doctor knows')
    # DualCam has them all the same
    consumer = Consumer(lambda frame: None, 320, 180)
    wait_for('both deliver', lambda: {camera['state'] for camera in status()['cameras'].values()} == {'streaming'}, 90, 0.5)
    viewers = [line for line in check('dualcamctl', 'status').splitlines() if line.startswith('  viewer')]
    expect(len(viewers) == 1 and ' · since ' in viewers[0], f'it is said who looks: {viewers}')
    consumer.leave()
    doctor('--undo', 'hide-cameras')
    expect(files() == before, 'every file is as it was')
    check('systemctl', '--user', 'restart', 'wireplumber')
    wait_for('all are listed again', lambda: listed() == every, 60, 0.5)


def by_wireplumber(configuration, camera):
    """A camera that is only WirePlumber's, and has not the stream's size, which PipeWire 1.4 does not bear to be asked for."""
    names = [each['node.name'] for each in objects()
             if each.get('media.class') == 'Video/Source' and each.get('node.description', '').startswith('Third')]
    expect(len(names) == 1, f'it has a name: {names}')
    configure(configuration.replace(f'v4l2:{camera.device}', f'pipewire:{names[0]}', 1))
    check('systemctl', '--user', 'reload', UNIT)
    consumer = Consumer(lambda frame: None, 320, 180)

    def delivers():
        back = status()['cameras']['back']
        return (back['source'], back['state']) == (f'pipewire:{names[0]}', 'streaming')

    wait_for('it delivers', delivers, 60, 0.5)
    consumer.leave()
    configure(configuration)
    check('systemctl', '--user', 'reload', UNIT)


def unit_enabled():
    check('systemctl', '--user', 'disable', '--now', UNIT)
    before = files()
    found = doctor('--json')
    expect(not found['unit']['ok'] and not found['daemon']['ok'], 'a unit that is disabled is a problem')
    doctor('--fix', 'unit', '--yes')
    found = doctor('--json')
    expect(found['unit']['ok'] and found['daemon']['ok'], 'it is enabled, and runs')
    doctor('--undo', 'unit')
    expect(unit('ActiveState') == 'inactive' and files() == before, 'it is disabled and stopped again')
    doctor('--fix', 'unit', '--yes')


def follow(finding, *more):
    """Does what a user does with the command of a finding, who has a password for sudo."""
    words = [*shlex.split(finding['command']), *more]
    code, _, errors = run(*words[1:]) if words[0] == 'sudo' else user(*words)
    expect(code == 0, f'{finding["command"]}: {errors.strip()}')


def wait_for_finding(name, is_well):
    return wait_for(f'doctor says of {name}: {"good" if is_well else "bad"}',
                    lambda: next((each for each in [doctor('--json')[name]] if each['ok'] is is_well), None), 30, 1)


def held(camera):
    expect(doctor('--json')['in-use']['ok'], 'nobody else has a camera')
    # The daemon has it for a moment after its last reader left
    wait_for('the cameras are closed', lambda: not open_cameras(int(unit('MainPID'))))
    holder = subprocess.Popen(
        ['v4l2-ctl', '-d', camera.device, '--stream-mmap', '--stream-count=100000', '--stream-to=/dev/null'],
        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **AS_USER)
    try:
        finding = wait_for_finding('in-use', False)
        expect(finding['text'] == f'Desk ({camera.device}) is in use by v4l2-ctl ({holder.pid})',
               f'it says by whom: {finding["text"]}')
        follow(finding)
        expect(holder.wait(30) == -signal.SIGTERM, 'the program has ended')
    finally:
        if holder.poll() is None:
            holder.kill()
    wait_for_finding('in-use', True)


def no_module(configuration):
    configure(configuration + '[loopback]\ndevice = "auto"\n')
    check('systemctl', '--user', 'reload', UNIT)
    finding = wait_for_finding('loopback', False)
    expect('there is no v4l2loopback device' in finding['text'] and 'v4l2loopback-dkms' in finding['command'],
           f'it says what is missing: {finding}')
    # What the command ends with; there is no network to install from
    loopback.load('devices=1 video_nr=20 card_label=DualCam exclusive_caps=1')
    finding = wait_for_finding('loopback', True)
    expect(loopback.DEVICE in finding['text'], f'it says where the stream is: {finding["text"]}')
    hide_copy()
    configure(configuration)
    check('systemctl', '--user', 'reload', UNIT)


def hide_copy():
    """WirePlumber makes a camera of the loopback device, too, which carries the stream: apps list it twice until that
    is hidden."""
    check('systemctl', '--user', 'restart', 'wireplumber')
    wait_for('WirePlumber lists a copy of the stream', lambda: copies() == 1, 60, 0.5)
    doctor('--fix', 'hide-cameras', '--yes')
    check('systemctl', '--user', 'restart', 'wireplumber')
    wait_for('the stream and the third camera are listed',
             lambda: listed() == {'DualCam', 'Third'} and copies() is not None, 60, 0.5)
    expect(doctor('--json')['hide-cameras']['ok'], 'doctor knows')
    expect(copies() == 0, 'the copy of the stream is hidden')
    doctor('--undo', 'hide-cameras')
    check('systemctl', '--user', 'restart', 'wireplumber')
    wait_for('the copy is there again', lambda: copies() == 1, 60, 0.5)


def services():
    """Somebody has stopped what the camera needs, or forbidden it to start."""
    for name, units in (('wireplumber', ['wireplumber.service']), ('pipewire', ['pipewire.socket', 'pipewire.service'])):
        check('systemctl', '--user', 'stop', *units)
        wait_for_finding(name, False)
        doctor('--fix', name, '--yes')
        wait_for_finding(name, True)
    wait_for('the node is there again', node, 60)
    check('systemctl', '--user', 'mask', UNIT)
    finding = wait_for_finding('unit', False)
    expect(finding['text'] == 'dualcamd.service is masked', f'it says why: {finding["text"]}')
    doctor('--fix', 'unit', '--yes')
    wait_for_finding('unit', True)


def no_driver():
    """The cameras are plugged in, and their driver is not there."""
    configure(CONFIGURATION.replace('v4l2:{}', 'auto'))
    check('systemctl', '--user', 'reload', UNIT)
    wait_for('the driver is unloaded', lambda: run('rmmod', 'uvcvideo')[0] == 0, 60, 0.5)
    finding = wait_for_finding('cameras', False)
    expect('its driver is not loaded' in finding['text'], f'it says why: {finding["text"]}')
    follow(finding)
    wait_for_finding('cameras', True)


def denied(camera):
    """The right of who is at the seat is gone, from the file as from its list."""
    def take_away():
        os.chmod(camera.device, 0o600)
        try:
            os.removexattr(camera.device, 'system.posix_acl_access')
        except OSError:
            pass

    take_away()
    finding = wait_for_finding('permissions', False)
    expect(camera.device in finding['text'] and 'not logged in at this computer' in finding['text'] and not finding['command'],
           f'from elsewhere one has to go there: {finding}')
    become(USER.pw_name)
    # Logging in gives the right back
    wait_for_finding('permissions', True)
    take_away()
    finding = wait_for_finding('permissions', False)
    expect(camera.device in finding['text'] and 'although you are logged in' in finding['text'],
           f'it says that this is wrong: {finding["text"]}')
    follow(finding)
    wait_for_finding('permissions', True)


def body():
    install()
    configure(CONFIGURATION.replace('v4l2:{}', 'test:bars'))
    # As a user has it, for what doctor writes there
    folder = f'{USER.pw_dir}/.config'
    run('chown', '-R', f'{USER.pw_uid}:{USER.pw_gid}', folder)
    desktop()
    old_portal()
    refused()
    cameras = [Camera(port, '--name', name, '--max-size', '320x240') for port, name in enumerate(('Desk', 'Face', 'Third'))]
    configuration = CONFIGURATION.format(*(camera.device for camera in cameras))
    configure(configuration)
    unit_enabled()
    wait_for('the node is there', node, 60)
    # The first use of GStreamer takes its time
    check('gst-inspect-1.0', 'pipewiresrc', deadline=240)
    hide(cameras)
    by_wireplumber(configuration, cameras[0])
    held(cameras[0])
    no_module(configuration)
    services()
    denied(cameras[1])
    no_driver()


if __name__ == '__main__':
    main(body)
