"""Tiny cases on more ranks than there are cores: what is exchanged and computed is verified, and what a
hybrid of ranks reports."""
import json

import pytest

from mpi import ENVIRONMENT, MPIRUN, TINY, devices, measured, parbench  # one is a fixture
from support.process import run

# Ranks without cores of their own wait for each other most of the time: few executions suffice.
ONCE = [*TINY, "--benchmark_min_time=0.0001"]


def verified(parbench, tmp_path, ranks, *words):
    """The cases of a run on so many ranks, all of them measured and verified."""
    _, report = measured(parbench, tmp_path / "r.json", ranks, *words, *ONCE)
    assert len(devices(report)) == ranks
    for case in report["cases"]:
        assert case["status"] == "measured", f"{case['name']}: {case.get('error')}"
        assert case["verification"]["passed"]
    return report["cases"]


@pytest.mark.parametrize("ranks", [4, 8, 16])
def test_collectives_of_many_ranks(parbench, tmp_path, ranks):
    cases = verified(parbench, tmp_path, ranks, "--scenario", "collectives", "--strategy",
                     "tree,mpi,shared-memory", "--collective", "all-reduce,broadcast", "--size", "1KiB")
    assert {case["strategy"] for case in cases} == {"tree", "mpi", "shared-memory"}


@pytest.mark.parametrize("ranks", [4, 8, 16])
def test_training_of_many_ranks(parbench, tmp_path, ranks):
    model = ["--model", "mlp", "--hidden", "16"]
    verified(parbench, tmp_path, ranks, "--scenario", "data-parallel", "--strategy", "all-reduce", *model,
             "--layers", "2", "--batch", ranks)
    verified(parbench, tmp_path, ranks, "--scenario", "pipeline", "--strategy", "pipeline", *model,
             "--layers", ranks, "--batch", "4", "--split", "2")


def test_an_all_reduce_of_sixty_four_ranks(parbench, tmp_path):
    verified(parbench, tmp_path, 64, "--scenario", "collectives", "--strategy", "mpi,doubling",
             "--collective", "all-reduce", "--size", "1KiB")


@pytest.mark.parametrize("ranks", [2, 3])
@pytest.mark.parametrize("settings", [[], ["--mca", "btl", "tcp,self"]], ids=["any", "no shared memory"])
def test_collectives_in_a_row(parbench, tmp_path, ranks, settings):
    report = tmp_path / "r.json"
    run([*MPIRUN, *settings, "-n", ranks, parbench, "--scenario", "collectives", "--strategy", "rank-ring,mpi",
         "--collective", "all-reduce", "--size", "1200,48KiB", "--calls", "5", *ONCE, "--report", report],
        env=ENVIRONMENT)
    cases = json.loads(report.read_text(encoding="utf-8"))["parbench"]["cases"]
    assert len(cases) == 4
    for case in cases:
        assert case["status"] == "measured" and case["verification"]["passed"]
        assert case["amount"] == 5 * (1200 if case["parameters"]["size"] == "1200" else 48 << 10)


def test_blocks_of_which_one_has_a_chunk_more(parbench, tmp_path):
    verified(parbench, tmp_path, 3, "--scenario", "collectives", "--strategy", "rank-ring",
             "--collective", "all-reduce", "--size", 4 * (3 * 65536 + 1), "--calls", "2")


@pytest.mark.parametrize("ranks, layouts", [(2, ["dp2", "pp2", "tp2"]),
                                            (4, ["dp2xpp2", "dp2xtp2", "pp2xtp2"]),
                                            (6, ["dp3xpp2"])])
def test_hybrids_of_ranks_are_verified(parbench, tmp_path, ranks, layouts):
    cases = verified(parbench, tmp_path, ranks, "--scenario", "hybrid", "--model", "gpt-tiny",
                     "--batch", "6", "--layout", ",".join(layouts))
    assert {case["parameters"].get("layout") for case in cases} == {None, *layouts}
    for case in cases:
        used = [one["bytes"] > 0 for one in case["memory"]]
        assert used == [case["strategy"] == "divided" or rank == 0 for rank in range(ranks)]


def test_a_hybrid_reports_what_each_rank_does(parbench, tmp_path):
    _, report = measured(parbench, tmp_path / "r.json", 2, "--scenario", "hybrid", "--model", "gpt-tiny",
                         "--batch", "4", "--layout", "dp2", "--quiet", "--benchmark_repetitions=1")
    (case,) = (one for one in report["cases"] if one["strategy"] == "divided")
    by_device = {one["device"]: one for one in case["profile"]["metrics"]["devices"]}
    assert list(by_device) == devices(report)
    for one in by_device.values():
        assert one["busy"] > 0 and one["compute"] > 0
        assert one["communication"] >= one["exposed_communication"] > 0
