#!/usr/bin/env python3
"""A bad network: network.py PORT ADDRESS:PORT LEAST-DELAY MOST-DELAY BITS-PER-SECOND [PAUSE...].

Passes connections to PORT of loopback on, each way with a delay between the two, in milliseconds,
and from PORT all together with so many bits a second. Each PAUSE is START,SECONDS in seconds from
the first connection on, in which nothing passes."""
import asyncio, random, sys, time

port, place, least, most, rate = int(sys.argv[1]), sys.argv[2].split(":"), *map(float, sys.argv[3:6])
pauses = [tuple(map(float, pause.split(","))) for pause in sys.argv[6:]]
begin, free = None, 0.0


def passes(at):
    """The time at which what comes `at` goes on."""
    for start, seconds in pauses:
        if begin + start <= at < begin + start + seconds:
            return begin + start + seconds
    return at


async def way(reader, writer, is_upload):
    global free
    queue, last = asyncio.Queue(), 0.0

    async def leave():
        while (item := await queue.get())[1]:
            await asyncio.sleep(max(0, item[0] - time.monotonic()))
            writer.write(item[1])
        writer.close()

    task = asyncio.create_task(leave())
    data = b"x"
    while data:
        try:
            data = await reader.read(16384)
        except OSError:
            data = b""
        now = passes(time.monotonic())
        if is_upload:
            free = max(free, now) + len(data) * 8 / rate
            now = free
            # No more waits than a router would hold.
            await asyncio.sleep(max(0, free - time.monotonic() - 0.05))
        last = max(last, now + random.uniform(least, most) / 1000)
        queue.put_nowait((last, data))
    await task


async def accept(reader, writer):
    global begin
    begin = begin or time.monotonic()
    other = await asyncio.open_connection(*place)
    await asyncio.gather(way(reader, other[1], True), way(other[0], writer, False))


async def main():
    async with await asyncio.start_server(accept, "127.0.0.1", port) as server:
        print("ready", flush=True)
        await server.serve_forever()

asyncio.run(main())
