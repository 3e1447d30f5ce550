"""Runs a command with a terminal of so many columns as its standard output and prints what the
terminal received: `terminal.py COLUMNS COMMAND…`. Exits as the command did."""

import fcntl
import os
import pty
import struct
import subprocess
import sys
import termios


def main() -> int:
    controller, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 50, int(sys.argv[1]), 0, 0))
    with subprocess.Popen(sys.argv[2:], stdout=terminal) as process:
        os.close(terminal)
        while True:
            try:
                data = os.read(controller, 65536)
            except OSError:  # the program has closed the terminal
                break
            sys.stdout.buffer.write(data)
    return process.returncode


if __name__ == "__main__":
    sys.exit(main())
