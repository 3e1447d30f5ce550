"""Names in the anonymous namespaces of a folder differ, and those of all small folders of a top folder:
their sources are compiled together, and whether two names clash must not depend on which sources are
joined (cmake/Compiler.cmake).

Reads definitions at the left margin, where clang-format has those of a namespace."""
import re
from collections import Counter
from pathlib import Path

from support.process import ROOT

TOPS = ("bench", "examples", "kernels", "reports", "scenarios", "tests")
SMALL = 4  # C++ sources; cmake/Compiler.cmake joins folders with fewer
ANONYMOUS = re.compile(r"^namespace \{\n(.*?)^\}  // namespace$", re.MULTILINE | re.DOTALL)
COMMENT = re.compile(r"//.*")
TYPE = re.compile(r"^(?:struct|class|enum(?: class)?|union|using) (\w+)(?= [{:=]| final|;)", re.MULTILINE)
# From the margin to a name, in what is no type, no template's first line and no end of a scope.
BEGIN = r"^(?![\s})#]|using|namespace|template|struct|class|enum|union)[^=;{}()]*?(?<!::)\b(\w+)"
VARIABLE = re.compile(BEGIN + r"(?:\[[^\]]*\])?(?:\{| = |;)", re.MULTILINE)
FUNCTION = re.compile(BEGIN + r"(\([^;{]*?\))[^;{)]*\{", re.MULTILINE)


def names_of(text):
    """The types and variables in a source's anonymous namespaces, and functions with parameters."""
    for namespace in ANONYMOUS.findall(text):
        body = COMMENT.sub("", namespace)
        yield from TYPE.findall(body)
        yield from VARIABLE.findall(body)
        for name, parameters in FUNCTION.findall(body):
            yield name + " ".join(parameters.split())


def clashes(sources):
    """Names that several sources of a group define, with these; `sources`: paths and texts."""
    counts = Counter((path.parent, path.suffix) for path, _ in sources)
    users = {}
    for path, text in sources:
        is_small = path.suffix == ".cpp" and counts[path.parent, path.suffix] < SMALL
        group = f"small folders of {path.parts[0]}" if is_small else str(path.parent)
        for name in set(names_of(text)):
            users.setdefault((group, path.suffix, name), []).append(path.name)
    return [f"{group}: {name} in {', '.join(files)}"
            for (group, _, name), files in users.items() if len(files) > 1]


def test_names_differ_in_a_folder_and_among_small_folders():
    paths = [path for top in TOPS for path in sorted((ROOT / top).rglob("*"))
             if path.suffix in (".cpp", ".cu")]
    assert clashes([(path.relative_to(ROOT), path.read_text("utf-8")) for path in paths]) == []


def test_which_names_are_found():
    source = """namespace {
struct Point {};
constexpr int width = 100;  // not height = 3
using Words = std::vector<int>;
using std::string;
void append(int to,
            int from) {
  int local = 0;
}
void Point::move(int by) { x += by; }
}  // namespace
int visible = 0;
"""
    assert sorted(names_of(source)) == ["Point", "Words", "append(int to, int from)", "width"]


def test_which_sources_are_compared():
    text = "namespace {\nconstexpr int width = 1;\n}  // namespace\n"
    large = [(Path(f"bench/a/{i}.cpp"), "") for i in range(SMALL - 1)]
    assert clashes([(Path("bench/a/x.cpp"), text), (Path("bench/b/y.cpp"), text), *large]) == []
    assert clashes([(Path("bench/c/x.cpp"), text), (Path("bench/b/y.cpp"), text)]) == [
        "small folders of bench: width in x.cpp, y.cpp"]
    assert clashes([(Path("bench/c/x.cpp"), text), (Path("kernels/b/y.cpp"), text)]) == []
