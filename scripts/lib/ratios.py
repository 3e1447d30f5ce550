# Ratios of pairs of times, as reports/statistics/statistics.h defines them.
import json

from processes import Failure, json_of


def ratio_fields(ratio):
    if ratio is None:
        raise Failure("there are no pairs to compare, or a side took no time")
    interval = ratio.get("interval") or {"low": None, "high": None, "confidence": None}
    return {"value": ratio["value"], **interval}


def paired_ratio(setting, peer, ours):
    """Returns the median of peer/ours over pairs, with its interval."""
    pairs = json.dumps({"peer": peer, "ours": ours})
    return ratio_fields(json_of([setting.peers, "ratio"], pairs))


def ratio_of_rounds(setting, case, reference):
    """Returns case/reference over the rounds in which both were sampled."""
    by_round = [
        {sample["round"]: sample["seconds"] for sample in c["samples"]} for c in (case, reference)
    ]
    both = sorted(by_round[0].keys() & by_round[1].keys())
    first, second = ([seconds[number] for number in both] for seconds in by_round)
    return paired_ratio(setting, first, second)
