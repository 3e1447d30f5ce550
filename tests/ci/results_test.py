"""scripts/test.d/results.py on what ctest, GoogleTest and pytest write."""
import pytest

from support.process import PYTHON, ROOT, run


@pytest.fixture
def count(tmp_path):
    """Counts ctest's results, given its <testcase> elements, with those of processes by name."""

    def counted(processes, code=0, **tests):
        (tmp_path / "ctest.xml").write_text(f"<testsuite>{processes}</testsuite>", encoding="utf-8")
        for name, cases in tests.items():
            text = f"<testsuites><testsuite>{cases}</testsuite></testsuites>"
            (tmp_path / f"{name}.xml").write_text(text, encoding="utf-8")
        script = ROOT / "scripts/test.d/results.py"
        return run([PYTHON, script, tmp_path / "ctest.xml", tmp_path], code=code)

    return counted


ONE = '<testcase name="One" classname="S" status="run"/>'
TWO = '<testcase name="Two" classname="S" status="run"/>'


def test_counts_tests_inside_of_processes(count):
    out = count(
        '<testcase name="a" status="run"/><testcase name="web" status="run"/>'
        '<testcase name="page" status="notrun"><skipped message="SKIP_RETURN_CODE=77"/></testcase>',
        a=f'{ONE}{TWO}<testcase name="Gpu" classname="S" status="run">'
        '<skipped message="/x/y.cpp:12&#x0A;no GPU&#x0A;"/></testcase>',
    ).out
    assert "skipped: S.Gpu: no GPU\n" in out
    assert "skipped: page: " in out
    assert out.endswith("\n3 passed, 0 failed, 2 skipped\n")


def test_a_process_that_is_skipped_says_why_last(count):
    out = count('<testcase name="k.avx.1" status="notrun"><skipped message="SKIP_RETURN_CODE=77"/>'
                "<system-out>Running main()\nskipped: no AVX here\n</system-out></testcase>").out
    assert out == "skipped: k.avx.1: no AVX here\n0 passed, 0 failed, 1 skipped\n"


def test_counts_the_tests_of_pytest(count):
    out = count(
        '<testcase name="a" status="fail"/>',
        code=1,
        a='<testcase name="test_one" classname="a_test"/>'
        '<testcase name="test_two" classname="a_test"><skipped type="pytest.skip" message="no GPU">'
        'a_test.py:3: no GPU</skipped></testcase>'
        '<testcase name="test_three" classname="a_test"><error message="a fixture"/></testcase>',
    ).out
    assert out == (
        "skipped: a_test.test_two: no GPU\nFAILED: a_test.test_three\n1 passed, 1 failed, 1 skipped\n"
    )


def test_names_the_reason_of_a_file_that_is_skipped(count):
    out = count(
        '<testcase name="torch" status="notrun"/><testcase name="a" status="run"/>',
        torch='<testcase classname="" name="torch"><skipped message="collection skipped">'
        "('/x/torch_test.py', 14, 'Skipped: PyTorch is missing')</skipped></testcase>",
        a=ONE,
    ).out
    assert out == "skipped: .torch: PyTorch is missing\n1 passed, 0 failed, 1 skipped\n"


def test_says_what_is_not_checked_beside_the_counts(count):
    out = count(
        '<testcase name="reference" status="notrun"/><testcase name="a" status="fail"/>',
        code=1,
        reference='<testcase classname="" name="reference"><skipped message="collection skipped">'
        "('/x/reference_test.py', 14, 'Skipped: NOT CHECKED: models, as onnx is missing')</skipped></testcase>",
        a='<testcase name="One" classname="S" status="run"><failure message="x"/></testcase>',
    ).out
    assert out == "FAILED: S.One\nNOT CHECKED: models, as onnx is missing\n0 passed, 1 failed, 1 skipped\n"



def test_names_tests_that_failed(count):
    failed = '<testcase name="One" classname="S" status="run"><failure message="x"/></testcase>'
    out = count('<testcase name="a" status="fail"/>', code=1, a=failed + TWO).out
    assert out == "FAILED: S.One\n1 passed, 1 failed, 0 skipped\n"


@pytest.mark.parametrize(
    "output, name",
    [
        ("[ RUN      ] S.One\n[       OK ] S.One (0 ms)\n[ RUN      ] S.Two\n", "S.Two"),
        ("a_test.py::test_one PASSED [ 33%]\na_test.py::test_two[a b] ", "a_test.py::test_two[a b]"),
    ],
    ids=["GoogleTest", "pytest"],
)
def test_names_the_test_that_ended_its_process(count, output, name):
    process = f'<testcase name="a" status="fail"><system-out>{output}</system-out></testcase>'
    out = count(process, code=1).out
    assert out.startswith(f"FAILED: {name} ended a ")
    assert out.endswith("\n0 passed, 1 failed, 0 skipped\n")


def test_counts_a_process_that_failed_after_its_tests(count):
    out = count('<testcase name="a" status="fail"/>', code=1, a=ONE).out
    assert "FAILED: a " in out
    assert out.endswith("1 passed, 1 failed, 0 skipped\n")


def test_fails_where_no_test_ran(count):
    assert "no test ran" in count('<testcase name="a" status="run"/>', code=1, a="").err
