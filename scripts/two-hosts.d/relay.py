"""Forwards packets between the hosts of scripts/two-hosts with a delay, if the kernel cannot: each host has
a network device, `link`, whose packets this program reads and writes.
  relay.py NAMESPACE NAMESPACE DELAY LOSS-IN-PERCENT
Packets are as large as the kernel makes them, up to 64 KiB: a loss drops a whole one."""
import collections
import contextlib
import ctypes
import fcntl
import os
import random
import select
import struct
import sys
import time

TAP, NO_HEADER_OF_TUN, OFFLOAD_HEADER = 0x0002, 0x1000, 0x4000
SET_DEVICE, SET_OFFLOAD = 0x400454CA, 0x400454D0
CHECKSUMS, SEGMENTS_V4, SEGMENTS_V6 = 0x01, 0x02, 0x04
NETWORK_NAMESPACE = 0x40000000  # CLONE_NEWNET
LARGEST_PACKET = 1 << 17
PRIORITY = 10  # above all ordinary threads, whose time slices would delay packets


def open_device(namespace):
    """Enters a namespace and makes a network device there, whose file it returns."""
    with open(f"/run/netns/{namespace}", "rb") as space:
        if ctypes.CDLL(None, use_errno=True).setns(space.fileno(), NETWORK_NAMESPACE) != 0:
            raise OSError(ctypes.get_errno(), f"cannot enter namespace {namespace}")
    file = os.open("/dev/net/tun", os.O_RDWR | os.O_NONBLOCK)
    fcntl.ioctl(file, SET_DEVICE, struct.pack("16sH22x", b"link", TAP | NO_HEADER_OF_TUN | OFFLOAD_HEADER))
    fcntl.ioctl(file, SET_OFFLOAD, CHECKSUMS | SEGMENTS_V4 | SEGMENTS_V6)
    return file


def seconds(text):
    return float(text[:-2]) * (1e-3 if text.endswith("ms") else 1e-6)


def receive(file):
    """Yields the packets that have arrived."""
    with contextlib.suppress(BlockingIOError):
        while True:
            yield os.read(file, LARGEST_PACKET)


def relay(files, delay, loss):
    chance = random.Random(1)
    on_way = collections.deque()  # (arrival time, target, packet); all have the same delay
    while True:
        left = max(0.0, on_way[0][0] - time.monotonic()) if on_way else None
        ready, _, _ = select.select(files, [], [], left)
        for file in ready:
            arrival = time.monotonic() + delay
            target = files[1 - files.index(file)]
            on_way.extend((arrival, target, one) for one in receive(file) if chance.random() >= loss)
        while on_way and on_way[0][0] <= time.monotonic():
            _, target, packet = on_way.popleft()
            with contextlib.suppress(OSError):  # the target's end of the link is down
                os.write(target, packet)


def main():
    os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(PRIORITY))
    files = [open_device(namespace) for namespace in sys.argv[1:3]]
    relay(files, seconds(sys.argv[3]), float(sys.argv[4]) / 100)


main()
