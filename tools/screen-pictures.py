#!/usr/bin/python3
"""screen-pictures.py: shows an X screen's windows with their round corners and shadows, as a
compositor does, in pictures alone. Each line of its input is `X Y WIDTH HEIGHT FILE`: it writes that
part of the screen, on an even ground, to FILE as a PPM, and answers with a line."""
import ctypes
import sys

GROUND = (158, 174, 192)

x11 = ctypes.CDLL("libX11.so.6")
composite = ctypes.CDLL("libXcomposite.so.1")
for function in x11.XOpenDisplay, x11.XGetImage:
    function.restype = ctypes.c_void_p
for function in (x11.XDefaultRootWindow, x11.XInternAtom, x11.XCreateSimpleWindow,
                 composite.XCompositeNameWindowPixmap):
    function.restype = ctypes.c_ulong
display = ctypes.c_void_p(x11.XOpenDisplay(None))
root = x11.XDefaultRootWindow(display)
# A window may go while it is looked at.
HANDLER = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.c_void_p, ctypes.c_void_p)
ignore = HANDLER(lambda display, event: 0)
x11.XSetErrorHandler(ignore)


class Attributes(ctypes.Structure):
    """XWindowAttributes."""
    _fields_ = (
        [(name, ctypes.c_int) for name in ("x", "y", "width", "height", "border", "depth")]
        + [("visual", ctypes.c_void_p), ("root", ctypes.c_ulong)]
        + [(name, ctypes.c_int) for name in ("kind", "bit_gravity", "gravity", "backing_store")]
        + [("planes", ctypes.c_ulong), ("pixel", ctypes.c_ulong), ("save_under", ctypes.c_int),
           ("colormap", ctypes.c_ulong), ("installed", ctypes.c_int), ("map_state", ctypes.c_int)]
        + [("rest", ctypes.c_char * 128)])


class Image(ctypes.Structure):
    """XImage."""
    _fields_ = (
        [(name, ctypes.c_int) for name in ("width", "height", "offset", "format")]
        + [("data", ctypes.c_void_p)]
        + [(name, ctypes.c_int) for name in ("order", "unit", "bit_order", "pad", "depth", "stride")])


def windows():
    """Returns the windows that are on the screen, the lowest first."""
    first, parent, count = ctypes.c_ulong(), ctypes.c_ulong(), ctypes.c_uint()
    children = ctypes.POINTER(ctypes.c_ulong)()
    x11.XQueryTree(display, ctypes.c_ulong(root), ctypes.byref(first), ctypes.byref(parent),
                   ctypes.byref(children), ctypes.byref(count))
    for window in [children[index] for index in range(count.value)]:
        attributes = Attributes()
        found = x11.XGetWindowAttributes(display, ctypes.c_ulong(window), ctypes.byref(attributes))
        if found and attributes.map_state == 2 and attributes.kind == 1:
            yield window, attributes


def draw(canvas, left, top, width, height, window, its):
    """Draws a window, whose pixels are premultiplied with their opacity, over the canvas."""
    pixmap = composite.XCompositeNameWindowPixmap(display, ctypes.c_ulong(window))
    pointer = x11.XGetImage(display, ctypes.c_ulong(pixmap), 0, 0, its.width, its.height,
                            ctypes.c_ulong(0xFFFFFFFF), 2)
    x11.XFreePixmap(display, ctypes.c_ulong(pixmap))
    if not pointer:
        return
    image = Image.from_address(pointer)
    data = ctypes.string_at(image.data, image.stride * its.height)
    x11.XFree(ctypes.c_void_p(image.data))
    for row in range(max(0, top - its.y), min(its.height, top + height - its.y)):
        for column in range(max(0, left - its.x), min(its.width, left + width - its.x)):
            source = row * image.stride + column * 4
            opacity = data[source + 3] if its.depth == 32 else 255
            if opacity == 0:
                continue
            target = ((row + its.y - top) * width + column + its.x - left) * 3
            for channel in range(3):
                under = canvas[target + channel] * (255 - opacity) // 255
                canvas[target + channel] = min(255, data[source + 2 - channel] + under)


x11.XSetSelectionOwner(
    display, ctypes.c_ulong(x11.XInternAtom(display, b"_NET_WM_CM_S0", 0)),
    ctypes.c_ulong(x11.XCreateSimpleWindow(display, ctypes.c_ulong(root), 0, 0, 1, 1, 0, 0, 0)),
    ctypes.c_ulong(0))
# Without this GTK makes no shadows.
supported = x11.XInternAtom(display, b"_NET_SUPPORTED", 0)
extents = (ctypes.c_ulong * 1)(x11.XInternAtom(display, b"_GTK_FRAME_EXTENTS", 0))
x11.XChangeProperty(display, ctypes.c_ulong(root), ctypes.c_ulong(supported), ctypes.c_ulong(4), 32, 2,
                    extents, 1)
composite.XCompositeRedirectSubwindows(display, ctypes.c_ulong(root), 1)
x11.XSync(display, 0)
print("ready", flush=True)
for line in sys.stdin:
    *area, path = line.split()
    left, top, width, height = map(int, area)
    canvas = bytearray(GROUND * (width * height))
    for window, its in list(windows()):
        draw(canvas, left, top, width, height, window, its)
    with open(path, "wb") as file:
        file.write(b"P6 %d %d 255\n" % (width, height) + canvas)
    print(path, flush=True)
