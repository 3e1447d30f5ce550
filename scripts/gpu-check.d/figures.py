# Results of a step: figures by the name of their target, and reports reduced to the parts worth
# keeping in a repository.
DIGITS = 6  # of stored numbers; no measurement is more precise


def figure(name, ours, peer, ratio, details):
    """A ratio as ratios.ratio_fields gives it, with both sides as texts."""
    return {"name": name, "ours": ours, "peer": peer, "details": details, **ratio}


def missing(name, reason):
    return {"name": name, "not_run": reason}


def rounded(value):
    """The same JSON with its numbers cut to DIGITS digits."""
    if isinstance(value, float):
        return float(f"{value:.{DIGITS}g}")
    if isinstance(value, dict):
        return {key: rounded(one) for key, one in value.items()}
    if isinstance(value, list):
        return [rounded(one) for one in value]
    return value


def slim_profile(profile):
    """Without the timeline, which is most of it. None stays so."""
    return profile and {key: value for key, value in profile.items() if key != "timeline"}


def slim_case(case):
    """Without samples and timeline, which are most of it; how many samples there were is kept."""
    kept = {key: value for key, value in case.items() if key not in ("samples", "scenario")}
    if "profile" in kept:
        kept["profile"] = slim_profile(kept["profile"])
    return {**kept, "sample_count": len(case.get("samples", []))}


def slim(report):
    """The `parbench` object of a report without what is repeated or large."""
    kept = ["version", "command_line", "devices", "answers", "complete", "duration_seconds"]
    return {
        **{key: report[key] for key in kept if key in report},
        "machine": report["machine"].get("libraries"),
        "cases": [slim_case(case) for case in report["cases"]],
    }


def brief(report):
    """Of a report whose figures do not matter: the devices, and the medians of the cases."""
    medians = {case["name"]: case.get("statistics", {}).get("median") for case in report["cases"]}
    return {"devices": [device["name"] for device in report["devices"]], "medians": medians}
