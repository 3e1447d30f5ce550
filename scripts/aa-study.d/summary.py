# Counts verdicts and compares the counts with targets.
import json
import math
import os

SCHEMA_VERSION = 1
# Claims about each method: the share of verdicts that ...
TARGETS = [
    ("ab", "unchanged", "call a change", "at most", 0.02),
    ("reports", "unchanged", "call a change", "at most", 0.05),
    ("ab", "5 percent slower", "say regressed", "at least", 0.95),
    ("ab", "2.5 percent slower", "say improved", "at most", 0.0),
    ("reports", "2.5 percent slower", "say improved", "at most", 0.0),
]
VERDICTS = ("regressed", "improved", "same", "undecided")


def wilson(count, total, z=1.96):
    """Returns the 95% interval of a share (Wilson, "Probable inference, the law of succession, and
    statistical inference", 1927)."""
    if total == 0:
        return [0.0, 1.0]
    share = count / total
    centre = (share + z * z / (2 * total)) / (1 + z * z / total)
    half = z / (1 + z * z / total) * math.sqrt(share * (1 - share) / total + z * z / (4 * total**2))
    return [max(0.0, centre - half), min(1.0, centre + half)]


def median(values):
    ordered = sorted(values)
    middle = len(ordered) // 2
    if not ordered:
        return None
    return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2


def counts_of(verdict_lists):
    verdicts = [verdict for one in verdict_lists for _, verdict, _ in one]
    return {"verdicts": len(verdicts), **{name: verdicts.count(name) for name in VERDICTS}}


def change_of(experiment):
    return "unchanged" if experiment.is_unchanged else f"{experiment.slowdown:g} percent slower"


def calls_a_change(verdicts):
    return any(verdict in ("regressed", "improved") for _, verdict, _ in verdicts)


def row_of(experiment, method, comparisons, key, **more):
    counts = counts_of(one[key] for one in comparisons)
    return {
        "scenario": experiment.scenario,
        "change": change_of(experiment),
        "method": method,
        "comparisons": len(comparisons),
        "comparisons_with_calls": sum(calls_a_change(one[key]) for one in comparisons),
        **counts,
        "called_changed_95": wilson(counts["regressed"] + counts["improved"], counts["verdicts"]),
        **more,
    }


def rows_of(made):
    rows = []
    for experiment, comparisons in made.items():
        seconds = median([one["seconds"] for one in comparisons])
        more = {"median_seconds": seconds}
        if experiment.method == "ab":
            more["median_pairs"] = median([one["pairs"] for one in comparisons])
        rows.append(row_of(experiment, experiment.method, comparisons, "verdicts", **more))
        if experiment.method == "reports":
            rows.append(row_of(experiment, "compare.py", comparisons, "compare_py"))
    return rows


def counted(row, what):
    if what == "call a change":
        return row["regressed"] + row["improved"]
    return row["regressed"] if what == "say regressed" else row["improved"]


def target_of(rows, method, change, what, relation, wanted):
    chosen = [row for row in rows if row["method"] == method and row["change"] == change]
    total = sum(row["verdicts"] for row in chosen)
    count = sum(counted(row, what) for row in chosen)
    share = count / total if total else None
    met = None
    if share is not None:
        met = share <= wanted if relation == "at most" else share >= wanted
    return {
        "method": method,
        "change": change,
        "what": what,
        "relation": relation,
        "wanted": wanted,
        "count": count,
        "verdicts": total,
        "share": share,
        "share_95": wilson(count, total),
        "met": met,
    }


def machine_of(made):
    machines = [one["machine"] for comparisons in made.values() for one in comparisons if "machine" in one]
    keys = ("cpu_model", "cores_allowed", "memory_bytes", "operating_system", "kernel", "compiler")
    return {key: machines[-1].get(key) for key in keys} if machines else {}


def results_of(made, known, failures):
    rows = rows_of(made)
    return {
        "schema_version": SCHEMA_VERSION,
        "quick": known.quick,
        "comparisons_wanted": known.comparisons,
        "commit": os.environ.get("PARBENCH_COMMIT"),
        "dirty": os.environ.get("PARBENCH_DIRTY", "0") != "0",
        "machine": machine_of(made),
        "targets": [target_of(rows, *target) for target in TARGETS],
        "rows": rows,
        "failures": failures,
        "verdicts": {
            experiment.name: [
                {key: one[key] for key in ("seconds", "pairs", "verdicts", "compare_py") if key in one}
                for one in comparisons
            ]
            for experiment, comparisons in made.items()
        },
    }


def text_of(value, depth=3):
    """Returns JSON with a line for each member down to a depth, and for each item of a list."""
    if depth == 0 or not isinstance(value, (dict, list)) or not value:
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, dict):
        lines = [f"{json.dumps(name)}: {text_of(member, depth - 1)}" for name, member in value.items()]
    else:
        lines = [json.dumps(member, ensure_ascii=False) for member in value]
    opening, closing = "{}" if isinstance(value, dict) else "[]"
    return opening + "\n" + ",\n".join(lines) + "\n" + closing
