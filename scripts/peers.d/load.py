# Measures how busy other programs keep the cores: on a busy machine figures are unreliable, and
# those of runtimes whose threads spin at barriers are meaningless.
import time


def ticks_of(cores):
    """Returns idle and total clock ticks of these cores since the system started."""
    idle = total = 0
    wanted = {f"cpu{core}" for core in cores}
    with open("/proc/stat", encoding="ascii") as file:
        for line in file:
            words = line.split()
            if words[0] in wanted:
                ticks = [int(word) for word in words[1:9]]  # user time includes guest time
                idle += ticks[3] + ticks[4]
                total += sum(ticks)
    return idle, total


def busy_share(cores, seconds=0.5):
    """Returns the share of the cores' time that was not idle while this process slept."""
    idle_before, total_before = ticks_of(cores)
    time.sleep(seconds)
    idle, total = ticks_of(cores)
    passed = total - total_before
    return 1 - (idle - idle_before) / passed if passed > 0 else 0.0
