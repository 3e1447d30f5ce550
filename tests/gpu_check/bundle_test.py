"""scripts/bundle: what the archive contains, and that it works where nothing is installed."""
import tarfile

import pytest

from support.process import ROOT, SYSTEM_PATH, missing, run, write_program

# Libraries that every machine has, or that come with CUDA.
SYSTEM_LIBRARIES = (
    "linux-vdso", "/ld-linux", "libc.so", "libm.so", "libdl.so", "libpthread.so", "librt.so", "libcu",
    "libstdc++", "libgcc_s",
)
CONTENT = """bin/parbench commit lib/libdnnl.so.2 lib/libgomp.so.1 libexec/parbench libexec/parbench-peers
    libexec/parbench-smoke libexec/tests/cpu_cases_test libexec/tests/kernels_test
    libexec/tests/measurement_tests libexec/tests/runtime_test libexec/tests/scenario_tests scripts/gpu-check
    scripts/gpu-check.d/check.py scripts/lib.sh scripts/lib/resnet50.py""".split()


def bundle(*words, code=0, script=ROOT / "scripts/bundle", **env):
    return run([script, *words], code=code, env=env)


@pytest.fixture(scope="module")
def archive(build, tmp_path_factory):
    """The bundle of this build."""
    for name in "cpu_cases_test", "kernels_test", "measurement_tests", "runtime_test", "scenario_tests":
        build.program(name)
    build.program("parbench-smoke")
    path = tmp_path_factory.mktemp("archive") / "b.tar.xz"
    made = bundle("-o", path, "--build", build.folder, "--allow-cpu-only")
    assert not missing(made.err, str(path), "MiB")
    return path


@pytest.fixture
def unpacked(archive, tmp_path):
    """The bundle, unpacked as a machine does that has Python and nothing else."""
    with tarfile.open(archive) as content:
        content.extractall(tmp_path)
    return tmp_path / "parbench-bundle"


@pytest.fixture
def cuda_path(build):
    """The folders of CUDA's libraries, for the loader. Empty in a build without them."""
    libraries = ["PARBENCH_CUDNN_LIBRARY", "PARBENCH_CUBLAS_LIBRARY"] if build.has_cuda else []
    return ":".join(build.cached(library).rpartition("/")[0] for library in libraries)


def test_contains_what_gpu_check_needs_and_is_small(archive, unpacked):
    assert archive.stat().st_size <= 56 << 20
    assert [name for name in CONTENT if not (unpacked / name).exists()] == []
    assert "parbench-bundle/commit" in run(["tar", "tf", archive]).out


@pytest.mark.parametrize("program", ["parbench", "tests/kernels_test", "parbench-smoke"])
def test_programs_find_their_libraries_in_it(unpacked, cuda_path, program):
    path = f"LD_LIBRARY_PATH={unpacked / 'lib'}:{cuda_path}"
    traced = run(["env", "-i", path, "/usr/bin/ldd", unpacked / "libexec" / program])
    own = [line for line in traced.out.splitlines() if not any(one in line for one in SYSTEM_LIBRARIES)]
    assert [line for line in own if f"=> {unpacked / 'lib'}" not in line] == []
    assert own


def test_parbench_runs_where_nothing_is_installed(unpacked, cuda_path):
    command = ["env", "-i", f"LD_LIBRARY_PATH={cuda_path}", unpacked / "bin/parbench", "devices"]
    assert "cpu:0" in run(command).out


@pytest.fixture
def elsewhere(build):
    """Words before a command that hide the build folder from it, as on another machine: in a mount
    namespace of its own, as root or as root of a user namespace."""
    for flags in "-m", "-rm":
        hide = f"mount -t tmpfs none '{build.folder}' && exec \"$@\""
        words = ["unshare", flags, "bash", "-c", hide, "bash"]
        hidden = run([*words, "test", "!", "-e", build.folder / "CMakeCache.txt"], code=None)
        if hidden.returncode == 0:
            return words
    return pytest.skip("this system allows no mount namespace, so the build is in reach")


def test_needs_nothing_of_the_build_folder(elsewhere, unpacked, cuda_path, tmp_path):
    env = {"LD_LIBRARY_PATH": f"{unpacked / 'lib'}:{cuda_path}", "PARBENCH_REQUIRE_CUDA": 0}
    host_tests = unpacked / "libexec/tests/cuda_host_test"
    if host_tests.exists():
        out = run([*elsewhere, host_tests], cwd=tmp_path, env=env).out
        assert "CuptiTest.WorkReachesTheLogOfItsStream" in out
    words = ["--devices", "cpu", "--output", "out", "--time-limit", "120"]
    command = [unpacked / "scripts/gpu-check", *words, "--only", "smoke,facts,tests,schedules"]
    run([*elsewhere, *command], cwd=tmp_path, env=env)
    assert (tmp_path / "out/summary.json").exists()


class PretendedBuild:
    """A folder that passes for a build, and a cmake that fills the bundle with random bytes."""

    def __init__(self, folder):
        self.folder, self.archive = folder, folder / "b.tar.xz"
        self.env = {"PATH": f"{folder / 'tools'}:{SYSTEM_PATH}"}
        (folder / "build").mkdir()
        self.set_cuda("ON")

    def set_cuda(self, value):
        cache = f"PARBENCH_HAS_CUDA:INTERNAL={value}\n"
        (self.folder / "build/CMakeCache.txt").write_text(cache, encoding="utf-8")

    def bundle(self, *words, size=1, **options):
        write_program(
            self.folder / "tools/cmake",
            'while [[ $1 != --prefix ]]; do shift; done\nmkdir -p "$2/lib"\n'
            f'head -c {size} /dev/urandom >"$2/lib/large.so"\n',
        )
        return bundle(*words, "--build", self.folder / "build", **self.env, **options)


@pytest.fixture
def pretended(tmp_path):
    return PretendedBuild(tmp_path)


def test_refuses_to_exceed_its_limit(pretended):
    words, size = ["-o", pretended.archive], 2 << 20
    err = pretended.bundle(*words, size=size, code=2, PARBENCH_BUNDLE_MIB=1).err
    assert not missing(err, "2 MiB, more than 1", "2097152 parbench-bundle/lib/large.so")
    assert not pretended.archive.exists()
    pretended.bundle(*words, size=size)
    assert pretended.archive.exists()


def test_is_written_to_the_build_folder_of_a_fresh_clone_or_to_a_named_folder(pretended, clone):
    script = clone / "scripts/bundle"
    pretended.bundle(script=script)
    assert (clone / "build/parbench-bundle.tar.xz").is_file()
    (pretended.folder / "there").mkdir()
    archive = pretended.folder / "there/parbench-bundle.tar.xz"
    assert f"{archive}: " in pretended.bundle("-o", f"{archive.parent}/", script=script).err
    assert archive.is_file()


def test_needs_the_cuda_backend_unless_allowed_otherwise(pretended):
    pretended.set_cuda("OFF")
    words = ["-o", pretended.archive]
    err = pretended.bundle(*words, code=2).err
    assert not missing(err, "no CUDA backend", "scripts/cuda-libraries")
    assert not pretended.archive.exists()
    pretended.bundle(*words, "--allow-cpu-only")
    assert pretended.archive.exists()


@pytest.mark.parametrize(
    "words, message",
    [
        (["--arch"], "unknown word '--arch'"),
        (["-o"], "-o needs a value"),
        (["-o", "/no/such/folder/x"], "/no/such/folder/x"),
        (["--build", "/no/build"], "'/no/build' is not a build folder"),
    ],
)
def test_refuses_bad_usage(tmp_path, words, message):
    output = [] if "-o" in words else ["-o", tmp_path / "b"]
    assert message in bundle(*output, *words, code=2).err
