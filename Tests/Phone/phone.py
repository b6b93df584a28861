#!/usr/bin/env python3
"""A phone, honest or not: phone.py ADDRESS:PORT WHAT [SECRET] [FILE...]. Prints what it was answered.

The same requests as the page's, written by hand: to get them wrong is the purpose."""
import json, socket, ssl, sys, threading, time

host, what = sys.argv[1:3]
secret = sys.argv[3] if len(sys.argv) > 3 else ""
place = (host.rsplit(":", 1)[0], int(host.rsplit(":", 1)[1]))
page = "0123456789abcdef"
JPEGS = [open(name, "rb").read() for name in sys.argv[4:]] or [b"\xff\xd8\xff\xe0"]
JPEG = JPEGS[0]


def connect(version=None, timeout=15):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    if version:
        context.set_ciphers("ALL:@SECLEVEL=0")
        context.minimum_version = context.maximum_version = version
    return context.wrap_socket(socket.create_connection(place, timeout))


def head(method, path, length=None, **more):
    fields = {"Host": host, "X-DualCam-Key": secret, "X-DualCam-Page": page}
    if length is not None:
        fields["Content-Length"] = str(length)
    fields.update({name.replace("_", "-"): value for name, value in more.items()})
    lines = [f"{name}: {value}" for name, value in fields.items() if value is not None]
    return "\r\n".join([f"{method} {path} HTTP/1.1", *lines, "", ""]).encode()


def answer(stream):
    """The status and the body; 0 if the connection ended without one."""
    data = b""
    try:
        while b"\r\n\r\n" not in data:
            part = stream.recv(65536)
            if not part:
                return 0, b""
            data += part
        top, body = data.split(b"\r\n\r\n", 1)
        length = next((int(line.split(b":")[1]) for line in top.split(b"\r\n")
                       if line.lower().startswith(b"content-length")), 0)
        while len(body) < length:
            body += stream.recv(65536)
        return int(top.split()[1]), body
    except (OSError, ValueError):
        return 0, b""


def ask(method, path, body=b"", length=-1, **more):
    with connect() as stream:
        count = len(body) if length == -1 else length
        stream.sendall(head(method, path, count if method == "POST" else None, **more) + body)
        return answer(stream)


def status(*arguments, **more):
    return ask(*arguments, **more)[0]


def outcome(body):
    try:
        return body()
    except (OSError, ssl.SSLError):
        return 0


def drip():
    """Seconds until a body that comes byte by byte is ended."""
    with connect() as stream:
        start = time.monotonic()
        stream.sendall(head("POST", "/picture?n=1000000", 1 << 20))
        try:
            while time.monotonic() - start < 30:
                stream.sendall(b"x")
                time.sleep(0.5)
        except OSError:
            pass
        return time.monotonic() - start


def plain():
    with socket.create_connection(place, 10) as stream:
        stream.sendall(head("GET", "/"))
        return answer(stream)[0]


def bodies():
    """The most bytes that are taken of a body that is too long."""
    with connect() as stream:
        stream.sendall(head("POST", "/picture?n=1", 1 << 30))
        return answer(stream)[0]


def overtaken():
    """The status of a picture that began before another page came."""
    with connect() as stream:
        stream.sendall(head("POST", "/picture?n=9", len(fine)) + fine[:-5])
        status("POST", "/state", b"state=ready")
        status("GET", "/wait?after=0", X_DualCam_Page="other")
        stream.sendall(fine[-5:])
        return answer(stream)[0]


if what == "pair":
    code, key = ask("POST", "/pair", secret.encode(), X_DualCam_Key=None, X_DualCam_Page=None)
    print(json.dumps({"status": code, "key": key.decode()}))
elif what in ("send", "late"):
    # Sends the pictures in turn, thirty of each, as a page would, and says what it is told; of the
    # second one that was under way for 0.7 s, if that is to be late.
    def send():
        stream, number = None, 0
        while True:
            time.sleep(1 / 30)
            if not wanted["run"] or not wanted["rate"]:
                stream = None
                continue
            stream, number = stream or connect(), number + 1
            turn, taken = number // 30 % len(JPEGS), int(time.time() * 1000)
            jpeg = JPEGS[turn]
            if what == "late" and turn == 1:
                number += 29
                time.sleep(0.7)
            stream.sendall(head("POST", f"/picture?n={taken}", len(jpeg)) + jpeg)
            if answer(stream)[0] != 200:
                return
    after, sender = 0, None
    while True:
        code, body = ask("GET", f"/wait?after={after}")
        if code != 200:
            sys.exit(f"{code}")
        wanted = json.loads(body)
        if wanted["number"] != after:
            print(body.decode(), flush=True)
        after = wanted["number"]
        state = f"state={'live' if wanted['run'] else 'ready'}&command={after}&side={wanted['side']}"
        state += f"&zoom=1,8,0.1,{wanted.get('zoom', 1)}&light={int(wanted['light'])}"
        ask("POST", "/state", state.encode())
        if sender is None:
            sender = threading.Thread(target=send, daemon=True)
            sender.start()
elif what == "attack":
    fine = JPEG
    results = {
        "right": status("POST", "/state", b"state=ready"),
        "no key": status("POST", "/state", b"state=live", X_DualCam_Key=None),
        "no page": status("POST", "/state", b"state=live", X_DualCam_Page=None),
        "another page": status("POST", "/picture?n=1", fine, X_DualCam_Page="other"),
        "wrong host": status("GET", "/", Host="example.org"),
        "wrong origin": status("POST", "/picture?n=1", fine, Origin="https://example.org"),
        "wrong path": status("GET", "/../etc/passwd"),
        "wrong method": status("PUT", "/picture"),
        "too long": bodies(),
        "without length": status("POST", "/picture?n=1", b"0\r\n\r\n", length=None,
                                 Transfer_Encoding="chunked"),
        "length that lies": outcome(lambda: status("POST", "/picture?n=1", fine, length=-5)),
        # Two records of TLS, of which the last is what is too much: the answer may be lost where
        # more comes after it.
        "long header": status("GET", "/", X_Long="x" * ((32 << 10) - 400)),
        "no JPEG": status("POST", "/picture?n=2", b"GIF89a"),
        "words too long": status("POST", "/state", b"x" * 2000),
        "plain HTTP": outcome(plain),
        "old TLS": outcome(lambda: connect(ssl.TLSVersion.TLSv1_1).close() or 1),
        "drips": round(drip()),
        # As any page in the phone's browser may ask.
        "keyless": [status("GET", "/wait", X_DualCam_Key=None) for _ in range(25)].count(401),
        "right again": status("POST", "/state", b"state=ready"),
        "overtaken": overtaken(),
    }
    print(json.dumps(results))
elif what == "guess":
    # Until nobody listens to this address any more; then the time that 10,000 would take.
    count, start = 0, time.monotonic()
    while count < 10000 and outcome(lambda: status("POST", "/pair", b"A" * 22)) == 401:
        count += 1
    print(json.dumps({"guesses": count, "seconds": time.monotonic() - start}))
elif what == "idle":
    # Connections that never come to an end of their headers keep nobody out for long.
    idle = [stream for stream in (outcome(connect) for _ in range(20)) if stream]
    start = time.monotonic()
    while outcome(lambda: status("GET", "/")) != 200 and time.monotonic() - start < 30:
        for stream in idle:
            outcome(lambda: stream.sendall(b"x"))
        time.sleep(0.2)
    print(json.dumps({"seconds": time.monotonic() - start}))
