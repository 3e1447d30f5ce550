# Reads a trace as a viewer does and says what such a viewer would draw wrong or drop. With a report,
# computes its profiles anew from the slices of the trace, by sweeping over their ends, and says where
# the two differ.
#   trace.py TRACE.json [REPORT.json]
# Ends with 1 after a line for each thing that is wrong; with 0 after a line of counts.
import collections
import json
import sys

KINDS = ("compute", "copy", "communication")
TOLERANCE = 2e-9  # seconds: times are given to the nanosecond

problems = []


def wrong(text):
    problems.append(text)


def nanoseconds(microseconds):
    return round(microseconds * 1000)


class Slice:
    def __init__(self, event):
        self.event = event
        self.begin = nanoseconds(event["ts"])
        self.end = nanoseconds(event["ts"] + event["dur"])
        self.kind = event["cat"]
        self.args = event["args"]


def tracks_of(events):
    tracks = collections.defaultdict(list)
    for event in events:
        if event["ph"] == "X":
            tracks[event["pid"], event["tid"]].append(Slice(event))
    return tracks


def check_nesting(tracks):
    for track, slices in tracks.items():
        open_ends = []
        for one in sorted(slices, key=lambda s: (s.begin, -s.end)):
            while open_ends and open_ends[-1] <= one.begin:
                open_ends.pop()
            if open_ends and one.end > open_ends[-1]:
                wrong(f"track {track}: {one.event['name']} at {one.begin} ns crosses the end of another slice")
            open_ends.append(one.end)


def check_names(events, tracks):
    named = collections.defaultdict(dict)
    for event in events:
        if event["ph"] == "M":
            key = (event["pid"], event.get("tid"))
            named[key][event["name"]] = next(iter(event["args"].values()))
    for process, thread in tracks:
        for key, kind in (((process, None), "process"), ((process, thread), "thread")):
            for what in (f"{kind}_name", f"{kind}_sort_index"):
                if what not in named[key]:
                    wrong(f"{key} has no {what}")
    names = [values["process_name"] for key, values in named.items() if key[1] is None]
    if len(set(names)) != len(names):
        wrong("two processes have one name")
    return {key: values.get(f"{'process' if key[1] is None else 'thread'}_name") for key, values in named.items()}


def encloses(slices, time):
    return any(one.begin <= time and time <= one.end for one in slices)


def check_arrows(events, tracks):
    ends = collections.defaultdict(list)
    for event in events:
        if event["ph"] in "sf":
            ends[event["id"]].append(event)
    for number, pair in ends.items():
        if [event["ph"] for event in pair] != ["s", "f"]:
            wrong(f"arrow {number} is no pair of a start and a finish")
            continue
        if pair[1].get("bp") != "e":
            wrong(f"arrow {number} does not bind to the slice that encloses its finish")
        if nanoseconds(pair[1]["ts"]) < nanoseconds(pair[0]["ts"]):
            wrong(f"arrow {number} ends before it starts")
        for event in pair:
            if not encloses(tracks[event["pid"], event["tid"]], nanoseconds(event["ts"])):
                wrong(f"arrow {number} begins or ends outside all slices")
    return len(ends)


def check_counters(events):
    count = 0
    latest = {}
    for event in events:
        if event["ph"] != "C":
            continue
        count += 1
        key = event["pid"], event["name"]
        if event["ts"] < latest.get(key, 0):
            wrong(f"counter {key} goes back in time")
        latest[key] = event["ts"]
    return count


# ------------------------------------------------------------------------------ profiles recomputed


def length(slices):
    """Of the union of their intervals."""
    total, until = 0, None
    for one in sorted(slices, key=lambda s: s.begin):
        begin = one.begin if until is None else max(one.begin, until)
        if one.end > begin:
            total += one.end - begin
        until = one.end if until is None else max(until, one.end)
    return total


def overlap_length(first, second):
    """|A ∩ B| = |A| + |B| − |A ∪ B|."""
    return length(first) + length(second) - length(first + second)


def profile_of_device(calls, span):
    by_kind = {kind: [call for call in calls if call.kind == kind] for kind in KINDS}
    moving = by_kind["copy"] + by_kind["communication"]
    busy = length(calls)
    stretch = max(call.end for call in calls) - min(call.begin for call in calls) if calls else 0
    result = {
        "busy": busy,
        "idle": span - busy,
        "bubble": stretch - busy,
        "overlapped": overlap_length(moving, by_kind["compute"]),
    }
    for kind in KINDS:
        result[kind] = length(by_kind[kind])
    for kind in ("copy", "communication"):
        result[f"exposed_{kind}"] = result[kind] - overlap_length(by_kind[kind], by_kind["compute"])
    return result


def streams_busy(lanes, begin, span):
    """[k]: for how long exactly k lanes are busy."""
    changes = collections.Counter()
    for calls in lanes:
        for call in calls:
            changes[call.begin] += 1
            changes[call.end] -= 1
    times = [0] * (len(lanes) + 1)
    busy, since = 0, begin
    for time in sorted(changes):
        times[busy] += time - since
        busy, since = busy + changes[time], time
    times[busy] += begin + span - since
    return times


def compare(case, what, got, want):
    if abs(got * 1e-9 - want) > TOLERANCE:
        wrong(f"{case}: {what} is {want} s in the report and {got} ns in the trace")


def compare_case(case, devices, lanes, begin):
    profile = case["profile"]["metrics"]
    span = max((call.end for calls in lanes for call in calls), default=begin) - begin
    compare(case["name"], "span", span, profile["span"])
    if [device["device"] for device in profile["devices"]] != list(devices):
        wrong(f"{case['name']}: the trace has the devices {list(devices)}")
        return
    idle = busy = 0
    for reported in profile["devices"]:
        own = profile_of_device(devices[reported["device"]], span)
        idle, busy = idle + own["idle"], busy + own["busy"]
        for what, time in own.items():
            compare(case["name"], f"{reported['device']}: {what}", time, reported[what])
    ratio = profile["bubble_ratio"]
    for what, whole in (("of_total", span * len(devices)), ("of_busy", busy)):
        if whole and abs(ratio[what] - idle / whole) > 1e-9:
            wrong(f"{case['name']}: bubble ratio {what} is {ratio[what]}, not {idle / whole}")
    for count, time in enumerate(streams_busy(lanes, begin, span)):
        compare(case["name"], f"{count} streams busy", time, profile["streams_busy"][count])


def beginnings_of(events):
    """When the measured time of each case begins, by the process of its host."""
    return {event["pid"]: nanoseconds(event["ts"]) for event in events if event["ph"] == "i"}


def compare_report(report, tracks, names, beginnings):
    for case in report["parbench"]["cases"]:
        devices, lanes, begin = {}, [], None
        for (process, thread), name in names.items():
            if thread is None and name == case["name"] + " · host":
                begin = beginnings.get(process)
            elif thread is None and name.startswith(case["name"] + " · "):
                device = name.rsplit(" · ", 1)[1]
                own = [track for track in sorted(names, key=str) if track[0] == process and track[1] is not None]
                calls = [[s for s in tracks[track] if s.kind in KINDS] for track in own]
                devices[device] = [call for lane in calls for call in lane]
                lanes += calls
        if "profile" in case:
            if begin is None:
                wrong(f"{case['name']}: the trace does not say when its measured time begins")
                continue
            compare_case(case, devices, lanes, begin)
        elif devices:
            wrong(f"{case['name']} is in the trace and has no profile")


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        events = json.load(file)["traceEvents"]
    tracks = tracks_of(events)
    check_nesting(tracks)
    names = check_names(events, tracks)
    arrows = check_arrows(events, tracks)
    counters = check_counters(events)
    if len(sys.argv) > 2:
        with open(sys.argv[2], encoding="utf-8") as file:
            compare_report(json.load(file), tracks, names, beginnings_of(events))
    for problem in problems[:20]:
        print(problem)
    slices = sum(map(len, tracks.values()))
    print(f"{len(tracks)} tracks, {slices} slices, {arrows} arrows, {counters} counter values")
    sys.exit(1 if problems else 0)


main()
