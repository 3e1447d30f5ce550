# Results of a step: figures by the name of their target, and reports reduced to the parts worth
# keeping in a repository.
DIGITS = 6  # number of digits of stored numbers; no measurement is more precise


def figure(name, ours, peer, ratio, details):
    """Returns a figure from a ratio of ratios.ratio_fields, with both sides as texts."""
    return {"name": name, "ours": ours, "peer": peer, "details": details, **ratio}


def missing(name, reason):
    return {"name": name, "not_run": reason}


def rounded(value):
    """Returns the same JSON with numbers rounded to DIGITS digits."""
    if isinstance(value, float):
        return float(f"{value:.{DIGITS}g}")
    if isinstance(value, dict):
        return {key: rounded(one) for key, one in value.items()}
    if isinstance(value, list):
        return [rounded(one) for one in value]
    return value


def without(content, *keys):
    return {key: value for key, value in content.items() if key not in keys}


def table_of(rows):
    """Returns objects as a table, which names their keys once."""
    columns = list(dict.fromkeys(key for row in rows for key in row))
    return {"columns": columns, "rows": [[row.get(column) for column in columns] for row in rows]}


def slim_profile(profile):
    """Returns the profile without its timeline, which is most of it, and with its calls as a table."""
    kept = without(profile, "timeline")
    metrics = kept.get("metrics", {})
    if "calls" in metrics:
        kept["metrics"] = {**metrics, "calls": table_of(metrics["calls"])}
    return kept


def slim_case(case):
    """Returns the case without samples, timeline and calls, which are most of it, but with the number of
    samples."""
    kept = without(case, "samples", "scenario")
    if kept.get("profile"):
        profile = without(kept["profile"], "timeline")
        kept["profile"] = {**profile, "metrics": without(profile.get("metrics", {}), "calls")}
    return {**kept, "sample_count": len(case.get("samples", []))}


def slim(report):
    """Returns the `parbench` object of a report without repeated or large parts."""
    kept = ["version", "command_line", "devices", "answers", "complete", "duration_seconds"]
    return {
        **{key: report[key] for key in kept if key in report},
        "machine": report["machine"].get("libraries"),
        "cases": [slim_case(case) for case in report["cases"]],
    }


def brief(report):
    """Returns the devices and the cases' medians of a report whose figures do not matter."""
    medians = {case["name"]: case.get("statistics", {}).get("median") for case in report["cases"]}
    return {"devices": [device["name"] for device in report["devices"]], "medians": medians}
