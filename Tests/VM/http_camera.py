#!/usr/bin/python3 -u
"""http_camera.py PORT RATE JPEG...: a camera on the network as phones' apps serve it, MJPEG over HTTP. It sends the JPEGs in
turn, always the newest, as an app does whose pictures nobody takes meanwhile. Prints a line for each client.
"""
import socket, sys, threading, time

port, rate = int(sys.argv[1]), float(sys.argv[2])
pictures = [open(path, 'rb').read() for path in sys.argv[3:]]


def serve(client, address):
    print(f'client {address[0]}')
    # What is on its way is little, so that it is not old
    client.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 14)
    try:
        client.recv(4096)
        client.sendall(b'HTTP/1.1 200 OK\r\nContent-Type: multipart/x-mixed-replace; boundary=next\r\n\r\n')
        while True:
            number = int(time.monotonic() * rate)
            picture = pictures[number % len(pictures)]
            client.sendall(b'--next\r\nContent-Type: image/jpeg\r\nContent-Length: %d\r\n\r\n' % len(picture) + picture + b'\r\n')
            time.sleep(max(0, (number + 1) / rate - time.monotonic()))
    except OSError as error:
        print(f'lost {error}')
    finally:
        client.close()


server = socket.create_server(('', port))
print('ready')
while True:
    threading.Thread(target=serve, args=server.accept(), daemon=True).start()
