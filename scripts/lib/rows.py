# Figures with their targets: a row for each, its JSON and a table for users.
from dataclasses import dataclass, field


@dataclass
class Row:
    """A figure, or the reason for having none. `low` and `high`: interval of its median with
    `confidence`, or None."""

    name: str
    what: str
    ours: str = "–"
    peer: str = "–"
    value: float = None
    low: float = None
    high: float = None
    confidence: float = None
    at_least: float = None
    at_most: float = None
    details: dict = field(default_factory=dict)
    not_run: str = None  # the reason

    def reached(self):
        """Returns whether the target is reached; None if there is no target or no figure."""
        if self.value is None:
            return None
        if self.at_least is not None:
            return self.value >= self.at_least
        if self.at_most is not None:
            return self.value <= self.at_most
        return None


def median(values):
    ordered = sorted(values)
    middle = len(ordered) // 2
    if len(ordered) % 2:
        return ordered[middle]
    return (ordered[middle - 1] + ordered[middle]) / 2


def duration(seconds):
    """Returns a text for users: "27.3 ms"."""
    for unit, scale in (("s", 1), ("ms", 1e3), ("µs", 1e6)):
        if seconds * scale >= 1 or unit == "µs":
            return f"{seconds * scale:.3g} {unit}"
    return None


def target_text(row):
    if row.at_least is not None:
        return f"≥ {row.at_least}"
    return f"≤ {row.at_most}" if row.at_most is not None else "–"


def verdict(row):
    return {True: "reached", False: "MISSED", None: "–"}[row.reached()]


def table(rows):
    """Returns a table with one line per row; columns are as wide as their longest text."""
    lines = [["what", "ours", "peer", "figure", "95% interval", "target", ""]]
    for row in rows:
        interval = f"{row.low:.3f}–{row.high:.3f}" if row.low is not None else "–"
        figure = f"{row.value:.3f}" if row.value is not None else "–"
        cells = [row.ours, row.peer, figure, interval, target_text(row), verdict(row)]
        lines.append([row.what, *cells])
    widths = [max(len(line[column]) for line in lines) for column in range(6)]
    aligned = []
    for line in lines:
        cells = [line[0].ljust(widths[0])]
        cells += [cell.rjust(width) for cell, width in zip(line[1:6], widths[1:])]
        aligned.append("  ".join([*cells, line[6]]).rstrip())
    return "\n".join([aligned[0], "─" * (sum(widths) + 19), *aligned[1:]])


def row_json(row):
    interval = None
    if row.low is not None:
        interval = {"low": row.low, "high": row.high, "confidence": row.confidence}
    return {
        "name": row.name,
        "what": row.what,
        "value": row.value,
        "interval": interval,
        "target": {"at_least": row.at_least, "at_most": row.at_most},
        "reached": row.reached(),
        "ours": row.ours,
        "peer": row.peer,
        "details": row.details,
        **({"not_run": row.not_run} if row.not_run else {}),
    }
