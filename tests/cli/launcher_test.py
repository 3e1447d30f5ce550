"""The launcher before anything is installed or built: in a folder with its scripts alone."""
import pytest

from support.process import SYSTEM_PATH, missing, run, start, text_of, write_program

PRESETS = """{"version": 3, "configurePresets": [
    {"name": "release", "generator": "Ninja", "binaryDir": "${sourceDir}/build/release"}]}"""
NO_INSTALL = {"PARBENCH_NO_INSTALL": 1, "PARBENCH_LOCK_SECONDS": 1}
ANSWERS = """cmake_minimum_required(VERSION 3.20)
project(stand_in LANGUAGES NONE)
set(word none)
if(EXISTS ${PROJECT_SOURCE_DIR}/@FOLDER@)
  set(word found)
endif()
file(WRITE ${PROJECT_BINARY_DIR}/bin/parbench "#!/bin/sh\\necho ${word}\\n")
file(CHMOD ${PROJECT_BINARY_DIR}/bin/parbench PERMISSIONS OWNER_READ OWNER_EXECUTE)
add_custom_target(parbench)
"""


def launch(clone, *words, program="parbench", code=0, **env):
    return run([clone / program, *words], code=code, cwd="/", env={**NO_INSTALL, **env})


def require(clone, *packages):
    (clone / "scripts/packages/packages.txt").write_text("\n".join(packages) + "\n", encoding="utf-8")


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def write_project(clone, folder):
    """Writes a project whose program says whether this folder was there when it was configured."""
    write(clone / "CMakePresets.json", PRESETS)
    write(clone / "CMakeLists.txt", ANSWERS.replace("@FOLDER@", folder))


def test_names_missing_packages_instead_of_installing_them(clone):
    require(clone, "# comment", "", "libc6", "no-such-package-a", "no-such-package-b")
    for _ in range(2):  # a failure is not remembered as a success
        ended = launch(clone, code=2)
        assert ended.out == ""
        named = "no-such-package-a no-such-package-b"
        assert not missing(ended.err, "parbench: error:", named, "apt-get install")
        assert "libc6" not in ended.err
    assert not (clone / "build/release").exists()


def test_reports_that_it_cannot_configure(clone):
    require(clone, "libc6")
    err = launch(clone, code=2).err  # there is no CMakePresets.json
    assert not missing(err, "could not configure", "CMake Error")
    assert not list((clone / "build").glob(".packages*")), "the next start checks the packages again"


def test_builds_and_runs_on_a_path_with_spaces(clone):
    clone = clone.rename(clone.parent / "my clone")
    require(clone, "libc6")
    write(clone / "CMakePresets.json", PRESETS)
    write(clone / "CMakeLists.txt", """cmake_minimum_required(VERSION 3.20)
        project(stand_in LANGUAGES NONE)
        file(COPY program.sh DESTINATION bin)
        add_custom_target(parbench COMMAND ${CMAKE_COMMAND} -E rename bin/program.sh bin/parbench)""")
    write_program(clone / "program.sh", "printf '%s|' \"$PARBENCH_HOME\" \"$@\"\n")
    assert launch(clone, "--split", "a b").out == f"{clone}|--split|a b|"


def test_configures_again_once_after_cuda_libraries_were_fetched(clone):
    require(clone, "libc6")
    write_project(clone, "build/cuda-wheels")
    assert launch(clone).out == "none\n"
    write(clone / "build/cuda-wheels/.wheels", "fetched")
    assert launch(clone).out == "found\n"
    assert "configuring" not in launch(clone).err


@pytest.fixture
def nvtx(clone):
    """Starts parbench with a python3 whose pip writes NVTX's headers, or fails if it is not online."""
    require(clone, "libc6")
    write_project(clone, "build/nvtx/nvidia")
    write_program(
        clone / "tools/python3",
        '[[ $3 != --version ]] || exit 0\necho "$*" >>"$LOG"\n[[ $ONLINE == 1 ]] || exit 1\n'
        'while [[ $1 != --target ]]; do shift; done\nmkdir -p "$2/nvidia"\n'
        'while [[ $1 != -r ]]; do shift; done\ncat "$2" >>"$LOG"\n',
    )
    env = {"PATH": f"{clone / 'tools'}:{SYSTEM_PATH}", "LOG": clone / "log"}
    return lambda online, no_install=0: launch(
        clone, **env, ONLINE=online, PARBENCH_NO_INSTALL=no_install
    )


def test_fetches_pinned_nvtx_once_for_a_build_without_cuda(clone, nvtx):
    assert nvtx(online=1).out == "found\n"
    log = text_of(clone / "log")
    assert not missing(log, "--require-hashes", "nvidia-nvtx==", "--hash=sha256:")
    assert "nvidia-cublas" not in log
    write(clone / "CMakePresets.json", PRESETS + "\n")
    assert nvtx(online=1).out == "found\n"
    assert text_of(clone / "log") == log


def test_builds_without_nvtx_where_it_cannot_be_fetched(nvtx):
    ended = nvtx(online=0)
    assert ended.out == "none\n"
    assert "scripts/nvtx tries again" in ended.err


@pytest.mark.parametrize("no_install, with_cuda", [(1, False), (0, True)])
def test_does_not_fetch_nvtx_if_unwanted_or_beside_cuda(clone, nvtx, no_install, with_cuda):
    if with_cuda:
        write(clone / "build/cuda-wheels/.wheels", "fetched")
    assert nvtx(online=1, no_install=no_install).out == "none\n"
    assert text_of(clone / "log") == ""


def test_does_not_use_a_build_that_was_copied_from_another_folder(clone):
    require(clone, "libc6")
    build = clone / "build/release"
    write(build / "build.ninja", "# of the original\n")
    write(build / "CMakeCache.txt", "CMAKE_HOME_DIRECTORY:INTERNAL=/the/original\n")
    assert "belongs to another folder" in launch(clone, code=None).err
    assert not (build / "build.ninja").exists()


def test_waits_for_another_build_for_a_limited_time(clone):
    write(clone / "build/.lock", "")
    hold = ["flock", "--no-fork", clone / "build/.lock", "sh", "-c", "echo held; exec sleep 600"]
    with start(hold) as holder:
        holder.wait_until(lambda: holder.out)
        assert "did not end in time" in launch(clone, code=2).err


def test_help_and_unknown_words_fetch_nothing(clone):
    write(clone / "scripts/packages/packages-cuda.txt", "no-such-package\n")  # where the work would begin
    script = "scripts/cuda-libraries"
    assert "1.1 GB" in launch(clone, "--help", program=script).out
    assert "unknown word 'now'" in launch(clone, "now", program=script, code=2).err


def test_test_script_refuses_an_unknown_preset(clone):
    err = launch(clone, "--preset", "fast", program="scripts/test", code=2).err
    assert not missing(err, "'fast'", "asan-ubsan")


def test_names_the_commit_with_its_subject_and_author(clone):
    show = 'root=$1; . "$1/scripts/lib.sh"; export_commit; printenv "${@:2}" || :'
    names = ["PARBENCH_DIRTY", "PARBENCH_COMMIT_SUBJECT", "PARBENCH_COMMIT_AUTHOR"]
    words = ["bash", "-euo", "pipefail", "-c", show, "bash", clone, *names]
    assert run(words, env={"PARBENCH_COMMIT_SUBJECT": "of another"}).out == "", "there is no git"
    author = ["-c", "user.name=A. Author", "-c", "user.email=a@b"]
    run(["git", "-C", clone, "init", "--quiet"])
    run(["git", "-C", clone, "add", "."])
    subject = 'Say "more" & \\n $HOME'
    run(["git", "-C", clone, *author, "commit", "--quiet", "-m", subject, "-m", "And why."])
    assert run(words).out == f"0\n{subject}\nA. Author\n"
