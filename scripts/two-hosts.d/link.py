"""Measures the link of scripts/two-hosts: link.py serve ADDRESS, then link.py measure ADDRESS."""
import socket
import statistics
import sys
import time

PORT = 4711
ROUND_TRIPS = 100
SECONDS = 0.5  # duration of the transfer that measures the rate
CHUNK = 1 << 18


def serve(address):
    with socket.create_server((address, PORT)) as server:
        connection, _ = server.accept()
        with connection:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            for _ in range(ROUND_TRIPS):
                connection.sendall(connection.recv(1))
            received = 0
            begin = time.monotonic()
            while part := connection.recv(CHUNK):
                received += len(part)
            connection.sendall(f"{8 * received / (time.monotonic() - begin)}".encode())


def connected(address):
    limit = time.monotonic() + 10
    while True:
        try:
            return socket.create_connection((address, PORT), timeout=10)
        except OSError:
            if time.monotonic() > limit:
                raise
            time.sleep(0.05)


def measure(address):
    with connected(address) as connection:
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        times = []
        for _ in range(ROUND_TRIPS):
            begin = time.monotonic()
            connection.sendall(b"x")
            connection.recv(1)
            times.append(time.monotonic() - begin)
        end = time.monotonic() + SECONDS
        data = bytes(CHUNK)
        while time.monotonic() < end:
            connection.sendall(data)
        connection.shutdown(socket.SHUT_WR)
        rate = float(connection.recv(64)) / 1e9
        print(f"round trip {statistics.median(times) * 1e3:.3f} ms at the median of {ROUND_TRIPS}, "
              f"{rate:.2f} Gbit/s")


{"serve": serve, "measure": measure}[sys.argv[1]](sys.argv[2])
