#!/usr/bin/env python3
"""A bad network: air.py LEAST MOST BITS LOSS COMMAND...

Runs a command in a network of its own. Each way between that and this one takes LEAST to MOST
milliseconds, carries BITS a second, of which a tenth may wait, and loses LOSS of all packets. At
SIGUSR1 it loses all of them for five seconds."""
import ctypes, fcntl, heapq, os, random, select, signal, struct, subprocess, sys, time

least, most, bits, loss = map(float, sys.argv[1:5])
stalled = 0.0


def tunnel(name, own, other):
    """Makes an interface of this network; its packets are read and written by the descriptor."""
    device = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
    # TUNSETIFF, with packets that have no header of their own.
    fcntl.ioctl(device, 0x400454CA, struct.pack("16sH22x", name.encode(), 0x1001))
    for words in f"addr add {own} peer {other} dev {name}", f"link set {name} up":
        subprocess.run(["ip", *words.split()], check=True)
    return device


def stall(*_):
    global stalled
    stalled = time.monotonic() + 5


signal.signal(signal.SIGUSR1, stall)
here = tunnel("lan", "192.168.78.1", "192.168.78.2")
# CLONE_NEWNET.
if ctypes.CDLL(None).unshare(0x40000000):
    sys.exit("air.py: no network of its own")
there = tunnel("air", "192.168.78.2", "192.168.78.1")
for words in "link set lo up", "route add default dev air":
    subprocess.run(["ip", *words.split()], check=True)
command = subprocess.Popen(sys.argv[5:])
signal.signal(signal.SIGTERM, lambda *_: command.terminate())

ways, due, count = {here: there, there: here}, [], 0
free, last = dict.fromkeys(ways, 0.0), dict.fromkeys(ways, 0.0)
while command.poll() is None:
    pause = max(0, due[0][0] - time.monotonic()) if due else 0.5
    for device in select.select(list(ways), [], [], min(pause, 0.5))[0]:
        packet, now = os.read(device, 65536), time.monotonic()
        if now < stalled or random.random() < loss or free[device] > now + 0.1:
            continue
        free[device] = max(free[device], now) + len(packet) * 8 / bits
        # None overtakes another.
        last[device] = max(last[device], free[device] + random.uniform(least, most) / 1000)
        count += 1
        heapq.heappush(due, (last[device], count, ways[device], packet))
    while due and due[0][0] <= time.monotonic():
        _, _, device, packet = heapq.heappop(due)
        os.write(device, packet)
sys.exit(command.returncode)
