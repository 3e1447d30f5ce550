"""The program as several ranks under mpirun: one run, one report. What loses a rank: faults_test.py."""
import json
import os
import shutil

import pytest

from mpi import ENVIRONMENT, MPIRUN, TINY, devices, measured, parbench, statuses  # one is a fixture
from support.process import run


@pytest.mark.parametrize("ranks", [2, 3])
@pytest.mark.parametrize("strategies, sizes", [("direct,ring,tree", "20,4KiB,1MiB"), ("mpi", "24,12KiB,3MiB")])
def test_collectives_are_verified_over_ranks(parbench, tmp_path, ranks, strategies, sizes):
    done, report = measured(parbench, tmp_path / "r.json", ranks, "--scenario", "collectives",
                            "--strategy", strategies, "--size", sizes, *TINY)
    assert set(statuses(report).values()) == {"measured"}
    assert {case["strategy"] for case in report["cases"]} == set(strategies.split(","))
    assert all(case["verification"]["passed"] for case in report["cases"])
    host = devices(report)[0].split("/")[0]
    assert devices(report) == [f"{host}/{rank}/cpu:0" for rank in range(ranks)]
    libraries = dict(report["machine"]["libraries"])
    assert libraries["ranks"] == str(ranks) and "MPI" in libraries["MPI"]
    assert done.out.count("How fast do my devices exchange data") == 1, "one rank reports"
    for sample in (sample for case in report["cases"] for sample in case["samples"]):
        assert len(sample["rank_waits"]) == ranks and sample.get("start_skew", 0) >= 0
        assert all(0 <= wait <= 1.1 * sample["seconds"] + 1e-4 for wait in sample["rank_waits"])


ALL_REDUCE = ["--scenario", "collectives", "--collective", "all-reduce"]


@pytest.mark.parametrize("ranks", [2, 3, 4])
def test_all_reduces_beside_that_of_the_library_are_verified(parbench, tmp_path, ranks):
    _, report = measured(parbench, tmp_path / "r.json", ranks, *ALL_REDUCE, "--strategy",
                         "mpi,shared-memory,doubling,rank-ring", "--size", "24,8KiB,65548,3MiB", *TINY)
    assert set(statuses(report).values()) == {"measured"}
    assert all(case["verification"]["passed"] for case in report["cases"])
    sizes = {}
    for case in report["cases"]:
        sizes.setdefault(case["strategy"], []).append(case["parameters"]["size"])
        (kernel,) = case["kernels"]
        assert kernel["operation"] == "all-reduce"
        assert case["strategy"] == "mpi" or kernel["implementation"].startswith(case["strategy"])
    every = ["24", "8KiB", "65548", "3MiB"]
    assert sizes == {"mpi": every, "shared-memory": every[:2], "rank-ring": every,
                     **({} if ranks == 3 else {"doubling": every})}


def test_all_reduces_are_verified_without_shared_memory(parbench, tmp_path):
    """In the short messages that go over a network."""
    path = tmp_path / "r.json"
    done = run([*MPIRUN, "--mca", "btl", "tcp,self", "-n", 3, parbench, *ALL_REDUCE, "--strategy",
                "rank-ring,shared-memory", "--size", "24,12KiB,65548,7MiB", *TINY, "--report", path],
               env=ENVIRONMENT)
    cases = json.loads(path.read_text(encoding="utf-8"))["parbench"]["cases"]
    assert [case["strategy"] for case in cases] == 4 * ["rank-ring"]
    assert all(case["verification"]["passed"] for case in cases)
    left_out = " ".join(done.out.split())
    assert "needs at most 16 ranks on one machine, which share memory; use mpi" in left_out


def test_shared_memory_is_measured_unless_other_strategies_are_asked_for(parbench, tmp_path):
    _, report = measured(parbench, tmp_path / "r.json", 2, *ALL_REDUCE, "--size", "4KiB,16KiB", *TINY)
    sizes = {}
    for case in report["cases"]:
        sizes.setdefault(case["strategy"], []).append(case["parameters"]["size"])
    both = ["4KiB", "16KiB"]
    assert sizes == {"direct": both, "ring": both, "tree": both, "mpi": both, "shared-memory": both[:1],
                     "doubling": both, "rank-ring": both}


@pytest.fixture
def listened(build, parbench, tmp_path):
    """A run on two ranks: its report, and the lengths of the all-reduces that the MPI library did."""
    # LD_PRELOAD takes no path with a space, which the build's may have.
    listener = shutil.copy(build.program("libmpi_listener.so"), tmp_path)

    def listen(*words, settings=()):
        calls, report = tmp_path / "calls", tmp_path / "r.json"
        calls.write_text("")
        run([*MPIRUN, *settings, "-x", f"LD_PRELOAD={listener}",
             "-x", f"MPI_LISTENER={calls}", "-n", 2, parbench, *words, *TINY, "--report", report],
            env=ENVIRONMENT)
        lengths = {int(line) for line in calls.read_text().split()}
        return json.loads(report.read_text(encoding="utf-8"))["parbench"], lengths
    return listen


def test_strategy_mpi_is_always_that_of_the_library(listened):
    sizes = ["--size", "24,12KiB,3MiB"]
    _, lengths = listened(*ALL_REDUCE, "--strategy", "mpi", *sizes)
    assert lengths == {6, 3 << 10, 3 << 18}
    _, lengths = listened(*ALL_REDUCE, "--strategy", "shared-memory,doubling,rank-ring", *sizes)
    assert lengths == set()


@pytest.mark.parametrize("settings", [[], ["--mca", "btl", "tcp,self"]], ids=["any", "no shared memory"])
def test_other_scenarios_measure_the_ways_and_say_which_they_use(listened, settings):
    report, lengths = listened("--scenario", "data-parallel", "--model", "linear", "--strategy", "all-reduce",
                               settings=settings)
    (case,) = report["cases"]
    measured_lengths = {length for length in lengths if length & (length - 1) == 0}
    assert measured_lengths, "choices are those of powers of two"
    (used,) = (one["implementation"] for one in case["kernels"] if one["operation"] == "all-reduce")
    assert dict(case["notes"])["all-reduce"] == used
    ways = {"shared-memory": used == "shared-memory", "doubling": used.startswith("doubling over "),
            "rank-ring": used.startswith("rank-ring over "), "mpi": used == dict(report["machine"]["libraries"])["MPI"]}
    assert sum(ways.values()) == 1, used
    assert (lengths != measured_lengths) == ways["mpi"], "gradients are no power of two"
    assert not (settings and ways["shared-memory"])


SCENARIOS = [
    ("data-parallel", ["--model", "linear", "--optimizer", "sgd,adam"],
     {"single", "all-reduce", "all-reduce-buckets", "tower", "replicate"}),
    ("pipeline", ["--model", "mlp", "--batch", "8", "--split", "2,4"], {"pipeline", "single", "model-parallel"}),
    ("matmul", ["--n", "70", "--count", "3"], {"column-sharded", "row-sharded"}),
    ("graph", ["--dag", "mlp,layered", "--features", "32", "--batch", "16", "--nodes", "12"],
     {"sequential", "per-device", "by-dependency"}),
]


@pytest.mark.parametrize("ranks", [2, 3])
@pytest.mark.parametrize("scenario, words, strategies", SCENARIOS, ids=[one[0] for one in SCENARIOS])
def test_scenarios_are_verified_over_ranks(parbench, tmp_path, ranks, scenario, words, strategies):
    _, report = measured(parbench, tmp_path / "r.json", ranks, "--scenario", scenario, *words, *TINY)
    cases = [case for case in report["cases"] if "it has the same plan as" not in case.get("error", "")]
    assert {case["status"] for case in cases} == {"measured"}
    assert all(case["verification"]["passed"] for case in cases)
    assert strategies <= {case["strategy"] for case in report["cases"]}


@pytest.mark.parametrize("scenario, words, strategies", SCENARIOS, ids=[one[0] for one in SCENARIOS])
def test_graphs_hold_messages_between_ranks(parbench, tmp_path, scenario, words, strategies):
    _, report = measured(parbench, tmp_path / "r.json", 2, "--scenario", scenario, *words, "--graph", *TINY)
    cases = [case for case in report["cases"] if case["status"] == "measured"]
    assert {case["status"] for case in report["cases"]} <= {"measured", "not_run"}
    assert all(case["verification"]["passed"] and case["graph"] for case in cases)
    exchanging = strategies - {"single", "sequential"}
    assert exchanging & {case["strategy"] for case in cases}


def test_layers_are_divided_over_ranks(parbench, tmp_path):
    _, report = measured(parbench, tmp_path / "r.json", 2, "--scenario", "tensor-parallel", "--hidden", "128",
                         *TINY)
    assert set(statuses(report).values()) == {"measured"}
    assert {"tensor-parallel", "sequence-parallel"} <= {case["strategy"] for case in report["cases"]}


def test_a_timeline_has_the_calls_of_all_ranks(parbench, tmp_path):
    _, report = measured(parbench, tmp_path / "r.json", 2, "--scenario", "data-parallel", "--model", "linear",
                         "--strategy", "all-reduce", "--quiet", "--benchmark_repetitions=1",
                         "--trace", tmp_path / "trace.json")
    timeline = report["cases"][0]["profile"]["timeline"]
    lanes = timeline["graph"]["lanes"]
    used = {lanes[call["lane"]]["device"] for call in timeline["calls"]}
    assert used == set(devices(report))
    assert min(call["ran"]["begin_ns"] for call in timeline["calls"]) >= timeline["begin_ns"]
    assert timeline["clock_error_ns"] > 0, "clocks of two processes are compared"
    assert (tmp_path / "trace.json").stat().st_size > 0


def test_a_collective_begins_on_all_ranks_together(parbench, tmp_path):
    """What the first rank waits for the second one is waiting and not communication."""
    _, report = measured(parbench, tmp_path / "r.json", 2, "--scenario", "collectives", "--strategy", "mpi",
                         "--collective", "all-reduce", "--size", "16MiB", "--quiet", "--benchmark_repetitions=1")
    calls = report["cases"][0]["profile"]["timeline"]["calls"]
    assert len(calls) == 2
    assert calls[0]["ran"]["begin_ns"] == calls[1]["ran"]["begin_ns"]


def test_several_devices_of_a_rank_exchange_by_messages(parbench, tmp_path):
    if len(os.sched_getaffinity(0)) < 4:
        pytest.skip("two ranks with two devices each need four cores")
    _, report = measured(parbench, tmp_path / "r.json", 2, "--scenario", "collectives", "--size", "4KiB",
                         "--devices", "cpu:0,cpu:1", *TINY)
    assert len(devices(report)) == 4
    assert set(statuses(report).values()) == {"measured"}


# --- differences ---


def different(parbench, tmp_path, first, second, code, env=()):
    return run([*MPIRUN, "-n", 1, parbench, *first, "--report", tmp_path / "r.json", ":",
                "-n", 1, *env, parbench, *second, "--report", tmp_path / "r.json"],
               code=code, env=ENVIRONMENT)


WORDS = ["--scenario", "collectives", "--collective", "all-reduce", "--size", "4KiB", *TINY]


def test_ranks_with_different_flags_are_refused(parbench, tmp_path):
    done = different(parbench, tmp_path, [*WORDS, "--seed", "1"], [*WORDS, "--seed", "2"], 2)
    assert "the ranks differ in flags" in done.err and "rank 1 (" in done.err
    assert not (tmp_path / "r.json").exists()


def test_ranks_with_different_instructions_are_refused_unless_allowed(parbench, tmp_path):
    other = ["-x", "DNNL_MAX_CPU_ISA=SSE41"]
    done = different(parbench, tmp_path, WORDS, WORDS, 2, other)
    assert "instruction set" in done.err and "--allow-different-ranks" in done.err
    words = [*WORDS, "--allow-different-ranks"]
    different(parbench, tmp_path, words, words, 0, other)
    report = json.loads((tmp_path / "r.json").read_text(encoding="utf-8"))["parbench"]
    assert "SSE4.1" in dict(report["machine"]["libraries"])["difference of ranks"]
    assert set(statuses(report).values()) == {"measured"}


def test_layouts_of_different_instructions_are_not_mixed(parbench, tmp_path):
    words = ["--scenario", "pipeline", "--model", "mlp", "--strategy", "model-parallel",
             "--allow-different-ranks", *TINY]
    different(parbench, tmp_path, words, words, None, ["-x", "DNNL_MAX_CPU_ISA=SSE41"])
    report = json.loads((tmp_path / "r.json").read_text(encoding="utf-8"))["parbench"]
    assert {case["status"] for case in report["cases"]} == {"skipped"}
    assert "DNNL_MAX_CPU_ISA" in report["cases"][0]["error"]


@pytest.mark.parametrize("words, text", [
    (["--scenario", "branch"], "does not run over several ranks"),
    (["--scenario", "matmul", "--processes", "2"], "--processes cannot be combined with several ranks"),
    (["--scenario", "collectives", "--strategy", "nccl"], "use --strategy mpi"),
    ([*ALL_REDUCE, "--strategy", "shared-memory", "--size", "8196"], "--size 8196 is above 8KiB; use rank-ring"),
    ([*ALL_REDUCE, "--strategy", "hierarchical"], "needs several machines with the same number of ranks"),
    (["--scenario", "collectives", "--strategy", "doubling", "--collective", "broadcast"],
     "it does not do broadcast; use mpi or direct"),
])
def test_what_ranks_cannot_do_is_refused_once(parbench, words, text):
    done = run([*MPIRUN, "-n", 2, parbench, *words], code=2, env=ENVIRONMENT)
    assert done.err.count(text) == 1


def test_one_process_is_no_rank(parbench, tmp_path):
    _, report = measured(parbench, tmp_path / "r.json", 1, "--scenario", "selftest", "--benchmark_repetitions=1",
                         "--quiet", "--no-timeline")
    assert devices(report)[0] == "cpu:0"
    done = run(["ldd", parbench])
    assert "libmpi" not in done.out
    done = run([parbench, "--scenario", "collectives", "--strategy", "mpi"], code=2)
    assert "start parbench with mpirun or srun" in done.err


def test_commands_that_measure_nothing_answer_once(parbench):
    done = run([*MPIRUN, "-n", 2, parbench, "version"], env=ENVIRONMENT)
    assert done.out.count("parbench") == run([parbench, "version"]).out.count("parbench")


def test_a_dry_run_plans_what_only_one_rank_can_measure(parbench):
    """The balanced partition of gpt is of times of its units, which one rank measures for all."""
    done = run([*MPIRUN, "-n", 2, parbench, "--scenario", "hybrid", "--model", "gpt", "--layout", "pp2",
                "--dry-run"], env=ENVIRONMENT, seconds=120)
    assert done.out.count("hybrid/divided") >= 1 and done.out.count("estimated time: ") == 1
