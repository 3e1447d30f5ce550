"""The program in control groups with a CPU quota, as containers have them. They are made with the version
that this system mounts, which takes root and a part of the hierarchy that can be written to."""
import contextlib
import json
import os
import pathlib
import shutil

import pytest

from support.process import missing, run

PERIOD = 100000  # microseconds
# Eight products that take more processor time than a tenth of a core has in several periods: any process that
# measures them under that quota is throttled meanwhile.
PRODUCTS = ["--scenario", "matmul", "--strategy", "alone", "--device", "0", "--n", "700", "--no-timeline",
            "--benchmark_repetitions=8"]
WARNING = "Careful: a CPU quota withheld"


def mounted(file_system, option=""):
    """Where a hierarchy is mounted, or None."""
    for line in pathlib.Path("/proc/self/mountinfo").read_text(encoding="utf-8").splitlines():
        fields, _, source = line.partition(" - ")
        kind, _, options = source.split()[:3]
        if kind == file_system and (not option or option in options.split(",")):
            return pathlib.Path(fields.split()[4])
    return None


class Group:
    """A control group below that of the tests, or below another one."""

    def __init__(self, folder, version):
        self.folder, self.version = folder, version
        folder.mkdir()

    def limit(self, cores):
        if self.version == 2:
            (self.folder / "cpu.max").write_text(f"{int(cores * PERIOD)} {PERIOD}")
        else:
            (self.folder / "cpu.cfs_period_us").write_text(str(PERIOD))
            (self.folder / "cpu.cfs_quota_us").write_text(str(int(cores * PERIOD)))

    def run(self, *words, **options):
        """Runs a program in the group."""
        enter = f'echo $$ > "{self.folder}/cgroup.procs" && exec "$@"'
        return run(["bash", "-c", enter, "bash", *words], **options)

    def throttled(self):
        """How often it was."""
        lines = (self.folder / "cpu.stat").read_text(encoding="utf-8").splitlines()
        return int(dict(line.split() for line in lines)["nr_throttled"])


@pytest.fixture
def make_group():
    """Makes groups, which are removed at the end."""
    made = []

    def make(cores=None, below=None):
        version, folder = (below.version, below.folder) if below else quota_folder()
        if below and version == 2:
            (folder / "cgroup.subtree_control").write_text("+cpu")
        made.append(Group(folder / f"parbench-test-{os.getpid()}-{len(made)}", version))
        if cores:
            made[-1].limit(cores)
        return made[-1]

    try:
        yield make
    finally:
        for group in reversed(made):
            with contextlib.suppress(OSError):
                group.folder.rmdir()


def quota_folder():
    """The version and the folder in which groups with a quota can be made. Skips the test if there is none."""
    folder = mounted("cgroup", "cpu")
    version = 1
    if folder is None:
        folder, version = mounted("cgroup2"), 2
        enabled = folder / "cgroup.subtree_control" if folder else None
        if enabled is None or "cpu" not in enabled.read_text(encoding="utf-8").split():
            pytest.skip("the controller cpu is not enabled for groups of this system")
    if not os.access(folder, os.W_OK) or os.geteuid() != 0:
        pytest.skip(f"making a control group in {folder} takes root")
    probe = folder / f"parbench-test-{os.getpid()}-probe"
    try:
        probe.mkdir()
        probe.rmdir()
    except OSError as error:
        pytest.skip(f"no control group can be made in {folder}: {error}")
    return version, folder


@pytest.fixture
def parbench(build):
    return build.program("parbench")


def report_of(path):
    return json.loads(path.read_text(encoding="utf-8"))["parbench"]


def test_devices_names_the_quota_of_the_tightest_group(parbench, make_group):
    outer = make_group(0.5)
    inner = make_group(below=outer)
    assert "with a CPU quota of 0.5 cores" in inner.run(parbench, "devices").out
    inner.limit(0.4)
    assert "with a CPU quota of 0.4 cores" in inner.run(parbench, "devices").out


def test_devices_names_the_quota_in_a_namespace(parbench, make_group):
    """As in a container: its own group is the root that it sees, and its hierarchy is mounted anew."""
    if run(["unshare", "--cgroup", "--mount", "true"], code=None).returncode != 0:
        pytest.skip("no namespaces can be made here")
    group = make_group(0.5)
    point = quota_folder()[1]
    kind = "cgroup2" if group.version == 2 else "cgroup -o cpu"
    enter = f'umount "{point}" && mount -t {kind} none "{point}" && cat /proc/self/cgroup && exec "$@"'
    done = group.run("unshare", "--cgroup", "--mount", "bash", "-c", enter, "bash", parbench, "devices")
    assert group.folder.name not in done.out
    assert "with a CPU quota of 0.5 cores" in done.out


def test_a_throttled_run_warns_and_marks_its_cases(parbench, make_group, tmp_path):
    group = make_group(0.1)
    done = group.run(parbench, *PRODUCTS, "--report", tmp_path / "limited.json")
    assert group.throttled() > 0
    report = report_of(tmp_path / "limited.json")
    assert report["machine"]["cpu_quota"] == 0.1
    assert report["quota_lost"] > 0.1
    (case,) = report["cases"]
    assert all(0 <= sample["quota_lost"] <= 1 for sample in case["samples"])
    assert case["quota_lost"] > 0.05
    assert WARNING in report["answers"][0]["warnings"][0]
    assert not missing(done.out, "CPU quota of 0.1 cores", "§ throttled by a CPU quota (up to", WARNING)

    run([parbench, *PRODUCTS, "--report", tmp_path / "free.json"])
    free, limited = tmp_path / "free.json", tmp_path / "limited.json"
    assert "cpu_quota" not in report_of(free)["machine"] and "quota_lost" not in report_of(free)
    first = "NEW was throttled more than BASE in 1 of 1 case, which may explain the change: CPU quota (up to"
    text = run([parbench, "compare", free, limited, "--width", "200"], code=None).out
    assert text.startswith(first)
    assert "NEW was throttled" not in run([parbench, "compare", limited, limited], code=None).out


def test_processes_of_a_run_share_the_quota(parbench, make_group, tmp_path):
    group = make_group(0.1)
    done = group.run(parbench, *PRODUCTS, "--processes", "2", "--report", tmp_path / "r.json")
    report = report_of(tmp_path / "r.json")
    (case,) = report["cases"]
    assert {sample.get("process", 0) for sample in case["samples"] if sample["quota_lost"] > 0} == {0, 1}
    assert case["quota_lost"] > 0.05 and report["quota_lost"] > 0.1
    assert WARNING in done.out


def test_a_quota_above_the_cores_changes_nothing(parbench, make_group, tmp_path):
    group = make_group(2 * os.cpu_count())
    assert "quota" not in group.run(parbench, "devices").out
    done = group.run(parbench, *PRODUCTS, "--report", tmp_path / "r.json")
    report = report_of(tmp_path / "r.json")
    assert "cpu_quota" not in report["machine"] and "quota_lost" not in report["cases"][0]
    assert "CPU quota" not in done.out + done.err


@pytest.mark.skipif(shutil.which("mpirun") is None, reason="there is no mpirun (openmpi-bin)")
def test_ranks_share_the_quota(build, parbench, make_group, tmp_path):
    if build.cached("PARBENCH_HAS_MPI") != "ON":
        pytest.skip("this build has no MPI (libopenmpi-dev)")
    allowed = {"OMPI_ALLOW_RUN_AS_ROOT": 1, "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": 1}
    make_group(0.2).run("mpirun", "--oversubscribe", "--bind-to", "none", "-n", "2", parbench, "--scenario",
                        "collectives", "--strategy", "ring", "--size", "4MiB", "--benchmark_repetitions=8",
                        "--no-timeline", "--report", tmp_path / "r.json", env=allowed)
    report = report_of(tmp_path / "r.json")
    assert report["machine"]["cpu_quota"] == 0.2
    assert max(case.get("quota_lost", 0) for case in report["cases"]) > 0.01
