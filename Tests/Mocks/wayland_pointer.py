#!/usr/bin/env python3
"""wayland_pointer.py WIDTH HEIGHT WORDS...: a pointer for a compositor made with wlroots, by its
virtual-pointer protocol on the raw wire. Each of WORDS is "move X Y", "down", "up" or "sleep S";
after "down" and "up", 1 and 2 are the right and the middle button."""

import os
import socket
import struct
import sys
import time

width, height = int(sys.argv[1]), int(sys.argv[2])
connection = socket.socket(socket.AF_UNIX)
connection.connect(os.environ["WAYLAND_DISPLAY"])


def send(target, opcode, body=b""):
    connection.sendall(struct.pack("<IHH", target, opcode, 8 + len(body)) + body)


def string(text):
    data = text.encode() + b"\0"
    return struct.pack("<I", len(data)) + data + b"\0" * (-len(data) % 4)


def roundtrip(callback):
    """Waits until all was answered, and returns the names of the globals that were told."""
    send(1, 0, struct.pack("<I", callback))
    found, buffer = {}, b""
    while True:
        data = connection.recv(65536)
        if not data:
            sys.exit("the compositor hung up")
        buffer += data
        while len(buffer) >= 8:
            sender, opcode, length = struct.unpack("<IHH", buffer[:8])
            if len(buffer) < length:
                break
            body, buffer = buffer[8:length], buffer[length:]
            if sender == 2 and opcode == 0:
                name, size = struct.unpack("<II", body[:8])
                found[body[8 : 8 + size - 1].decode()] = name
            if sender == callback:
                return found


send(1, 1, struct.pack("<I", 2))
manager = "zwlr_virtual_pointer_manager_v1"
name = roundtrip(3)[manager]
send(2, 0, struct.pack("<I", name) + string(manager) + struct.pack("<II", 1, 4))
send(4, 0, struct.pack("<II", 0, 5))
roundtrip(6)
callback = 7
for words in sys.argv[3:]:
    verb, *values = words.split()
    now = int(time.monotonic() * 1000) & 0xFFFFFFFF
    if verb == "sleep":
        time.sleep(float(values[0]))
        continue
    if verb == "move":
        place = [int(value) for value in values]
        send(5, 1, struct.pack("<IIIII", now, *place, width, height))
    else:
        button = 0x110 + int((values or [0])[0])
        send(5, 2, struct.pack("<III", now, button, verb == "down"))
    send(5, 4)
    roundtrip(callback)
    callback += 1
