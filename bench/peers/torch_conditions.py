"""The state of the GPU while torch_peers.py measures, as the driver's tool `nvidia-smi` reports it.

What is looked for, and how, is as in bench/src/machine/conditions.rs, whose `Conditions` the JSON has.
"""

import math
import subprocess
import threading

QUERY = "--query-gpu=clocks.sm,clocks.mem,power.draw,temperature.gpu,clocks_event_reasons.active"
# The columns that are numbers. The reasons, as a mask of bits, come after them.
NUMBERS = ("clock_mhz", "memory_mhz", "power_watts", "celsius")
# Milliseconds between two looks.
BETWEEN = "500"
# The bit of a GPU without work, which is no reason that holds clocks back.
IDLE = 0x1
# The reasons that hold clocks back, by their bits.
REASONS = {
    0x2: "applications clocks",
    0x4: "power cap",
    0x8: "hardware slowdown",
    0x10: "sync boost",
    0x20: "software thermal slowdown",
    0x40: "hardware thermal slowdown",
    0x80: "power brake",
    0x100: "display clock setting",
}


class Watch:
    """A process that looks at the GPU until it is finished; none where the driver's tool is not there."""

    def __init__(self, gpu=0, command=None):
        command = command or ["nvidia-smi", f"--id={gpu}", QUERY, "--format=csv,noheader,nounits", "-lms", BETWEEN]
        quiet = {"stdin": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        try:
            self._child = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, **quiet)
        except OSError:
            self._child = None
            return
        # A pipe that nobody reads is full after some minutes of looks.
        self._text = ""
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self):
        self._text = self._child.stdout.read()

    def finish(self):
        """Ends the looking, and returns what was seen; none where the tool had nothing to say."""
        if self._child is None:
            return None
        self._child.kill()
        self._child.wait()
        self._reader.join()
        return parse(self._text)


def look(line):
    """Reads a line: its numbers, none where the tool prints `[N/A]`, and its mask; none if it lacks columns."""
    columns = [column.strip() for column in line.split(",")]
    if len(columns) != len(NUMBERS) + 1:
        return None
    return [number(column) for column in columns[:-1]], mask(columns[-1])


def number(text):
    try:
        value = float(text)
    except ValueError:
        return None
    return value if math.isfinite(value) else None


def mask(text):
    try:
        return int(text, 16)
    except ValueError:
        return 0


def parse(text):
    """Reads the tool's lines; none if one of the numbers is in none of them.

    Looks at a GPU without work count only where there are no others. The last line counts only if it is whole.
    """
    lines = text.split("\n")[:-1]
    looks = [one for one in map(look, lines) if one]
    seen = [one for one in looks if not one[1] & IDLE] or looks
    conditions = {"looks": len(seen)}
    for place, name in enumerate(NUMBERS):
        numbers = [one[0][place] for one in seen if one[0][place] is not None]
        if not numbers:
            return None
        conditions[name] = [min(numbers), max(numbers)]
    reasons = 0
    for _, one in seen:
        reasons |= one
    bits = [1 << place for place in range(64) if reasons >> place & 1 and 1 << place != IDLE]
    return {**conditions, "throttled": [REASONS.get(bit, f"reason {bit:#x}") for bit in bits]}


def self_test():
    calm = "1980, 3201, 612.34, 52, 0x0000000000000000\n"
    capped = parse(f"{calm}1755, 3201, 698.50, 61, 0x0000000000000004\n")
    assert capped == {
        "looks": 2, "clock_mhz": [1755, 1980], "memory_mhz": [3201, 3201], "power_watts": [612.34, 698.5],
        "celsius": [52, 61], "throttled": ["power cap"],
    }, capped  # fmt: skip
    # A cut last line does not count, and neither does what is not available.
    assert parse(f"{calm}1980, 3201, 612.34, 5") == parse(calm) and parse("") is None
    assert parse(f"1200, 3201, [N/A], 40, [N/A]\n{calm}")["power_watts"] == [612.34, 612.34]
    assert parse("1980, 3201, [N/A], 52, 0x0\n") is None
    idle = "345, 3201, 75.10, 30, 0x0000000000000001\n"
    assert parse(f"{idle}{calm}") == parse(calm) and parse(idle)["throttled"] == []
    assert parse(calm.replace("0x0000000000000000", "0x264"))["throttled"] == [
        "power cap", "software thermal slowdown", "hardware thermal slowdown", "reason 0x200",
    ]  # fmt: skip
    assert Watch(command=["tilepipe-no-such-program"]).finish() is None
    watch = Watch(command=["printf", calm])
    watch._reader.join()
    assert watch.finish() == parse(calm)
