# Formats the results as a Markdown page.

METHODS = {
    "ab": "`parbench ab`",
    "reports": "two reports, `parbench compare`",
    "compare.py": "the same reports, compare.py's U test at 0.05",
}


def percent(share):
    return "–" if share is None else f"{100 * share:.1f}%"


def interval(ends):
    return f"{100 * ends[0]:.1f}–{100 * ends[1]:.1f}%"


def seconds(value):
    return "–" if value is None else f"{value:.0f} s"


def line(cells):
    return "| " + " | ".join(str(cell) for cell in cells) + " |"


def targets_table(results):
    lines = [
        line(["wanted", "found", "95% interval", "verdicts", "met"]),
        line([":--", "--:", "--:", "--:", ":--"]),
    ]
    for target in results["targets"]:
        wanted = (
            f"{METHODS[target['method']]}, {target['change']}: {target['relation']} "
            f"{100 * target['wanted']:g}% {target['what']}"
        )
        met = {None: "not measured", True: "yes", False: "**no**"}[target["met"]]
        lines.append(
            line([wanted, percent(target["share"]), interval(target["share_95"]), target["verdicts"], met])
        )
    return "\n".join(lines)


def rows_table(results):
    titles = ["scenario", "change", "method", "verdicts", "regressed", "improved", "same", "undecided"]
    lines = [
        line([*titles, "called changed", "comparisons with a call", "time of a comparison", "pairs"]),
        line([":--", ":--", ":--", *["--:"] * 9]),
    ]
    for row in results["rows"]:
        called = row["regressed"] + row["improved"]
        share = called / row["verdicts"] if row["verdicts"] else None
        lines.append(
            line(
                [
                    *[row["scenario"], row["change"], METHODS[row["method"]]],
                    *[row[key] for key in ("verdicts", "regressed", "improved", "same", "undecided")],
                    f"{percent(share)} ({interval(row['called_changed_95'])})",
                    f"{row['comparisons_with_calls']} of {row['comparisons']}",
                    seconds(row.get("median_seconds")),
                    f"{row['median_pairs']:g}" if row.get("median_pairs") is not None else "–",
                ]
            )
        )
    return "\n".join(lines)


def machine_text(results):
    machine = results["machine"]
    if not machine:
        return "Nothing was measured."
    commit = (results["commit"] or "unknown")[:10] + (" with changes" if results["dirty"] else "")
    return (
        f"{machine['cpu_model']}, {len(machine['cores_allowed'])} cores, "
        f"{machine['memory_bytes'] / 2**30:.0f} GiB, {machine['operating_system']}, "
        f"kernel {machine['kernel']}; commit {commit}."
    )


def failures_text(results):
    if not results["failures"]:
        return ""
    return "\n## What went wrong\n\n" + "".join(f"- {failure}\n" for failure in results["failures"])


def page(results):
    return f"""# How often verdicts are right

Comparisons of programs with themselves, and with versions that are slower by a known part (selftest's
hidden parameter `slowdown`): {results['comparisons_wanted']} of each kind. Every comparison judges all
cases of its scenario. `ab` runs both sides in alternating pairs until every verdict is settled; the
reports have five processes each, one report after the other.

{machine_text(results)}

{targets_table(results)}

## All counts

{rows_table(results)}

Intervals are Wilson's, as if verdicts were independent; those of one comparison are not quite, which is
why comparisons with any call are counted as well. Times are medians: of both reports with their
comparison, or of `ab`. compare.py reads the reports of the row above and gives no verdict "undecided";
what its test does not call changed counts as the same. [results.json](results.json) has every verdict
with its change.
{failures_text(results)}
## How to repeat

    scripts/aa-study

on a machine that does nothing else; `scripts/aa-study --help` says how long it takes, how to stop it and
how to go on.
"""
