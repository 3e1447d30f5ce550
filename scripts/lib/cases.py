# Cases of a report: selection by parameters, and their times as text.
from processes import Failure
from rows import duration


def cases_of(report, strategy, **parameters):
    """Returns the measured cases of a strategy with these parameters."""
    return [
        case
        for case in report["cases"]
        if case["strategy"] == strategy
        and case["status"] == "measured"
        and all(case["parameters"].get(key) == value for key, value in parameters.items())
    ]


def fastest(cases):
    if not cases:
        raise Failure("parbench measured no such case")
    return min(cases, key=lambda case: case["statistics"]["median"])


def case_text(case):
    return duration(case["statistics"]["median"])
