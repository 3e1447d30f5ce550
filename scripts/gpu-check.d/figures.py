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


def slim_profile(profile):
    """Returns the profile without its timeline, which is most of it; None for None."""
    return profile and {key: value for key, value in profile.items() if key != "timeline"}


def slim_case(case):
    """Returns the case without samples and timeline, which are most of it, but with the number of samples."""
    kept = {key: value for key, value in case.items() if key not in ("samples", "scenario")}
    if "profile" in kept:
        kept["profile"] = slim_profile(kept["profile"])
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
