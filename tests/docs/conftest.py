"""A folder like that of a reader, and parbench in it."""
import json
import shutil

import pytest

from support.process import ROOT, run

MPIRUN = ["mpirun", "--oversubscribe", "--bind-to", "none"]
AS_ROOT = {"OMPI_ALLOW_RUN_AS_ROOT": 1, "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": 1}
MODEL = ROOT / "tests/fuzz/corpus/onnx/residual.onnx"


@pytest.fixture(scope="session")
def folder(build, tmp_path_factory):
    """Models and reports by the names that pages use."""
    made = tmp_path_factory.mktemp("reader")
    for name in ("my.onnx", "my-model.onnx", "my-inception.onnx"):
        shutil.copy(MODEL, made / name)
    run([build.program("parbench"), "--scenario", "selftest", "--duration", "10us", "--max-time", "0.05",
         "--quiet", "--report", made / "before.json"])
    report = json.loads((made / "before.json").read_text(encoding="utf-8"))
    (made / "reports/runs").mkdir(parents=True)
    names = ["after.json", "REPORT.json", "report.json"]
    names += [f"reports/runs/{name}.json" for name in ("before", "after", "REPORT")]
    names += [f"{side}{i}.json" for side in ("old", "new") for i in range(1, 7)]
    for minute, name in enumerate(names):  # runs of their own, not copies
        report["parbench"]["started_utc"] = f"2026-01-01T00:{minute:02}:00Z"
        for case in report["parbench"]["cases"]:
            for sample in case["samples"]:
                sample["seconds"] *= 1 + 1e-4 * minute
        (made / name).write_text(json.dumps(report), encoding="utf-8")
    return made


@pytest.fixture
def parbench(build, folder):
    """Runs parbench in the folder and returns its standard output. Several ranks need MPI: without it the
    words are those of a single process."""
    has_mpi = build.cached("PARBENCH_HAS_MPI") == "ON" and shutil.which("mpirun") is not None

    def call(words, environment=None, codes=(0,), ranks=1):
        words = [name for word in words for name in files_of(folder, word)]
        launcher = [*MPIRUN, "-n", ranks] if ranks > 1 and has_mpi else []
        ended = run([*launcher, build.program("parbench"), *words], code=None, cwd=folder,
                    env={**AS_ROOT, "PARBENCH_CACHE": folder / "cache", **(environment or {})})
        assert ended.returncode in codes, f"{' '.join(words)}\n{ended.out}{ended.err}"
        return ended.out

    return call


def files_of(folder, word):
    """The files that a pattern of a shell stands for; another word itself."""
    found = sorted(path.name for path in folder.glob(word)) if "?" in word and "/" not in word else []
    return found or [word]
