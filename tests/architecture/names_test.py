"""Names in the anonymous namespaces of a folder differ: its sources are compiled together, and
whether two names clash must not depend on which sources are joined (cmake/Compiler.cmake).

Reads definitions at the left margin, where clang-format has those of a namespace."""
import re

from support.process import ROOT

TOPS = ("bench", "examples", "kernels", "reports", "scenarios", "tests")
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
    """Names that several sources of a folder define, with these; `sources`: paths and texts."""
    users = {}
    for path, text in sources:
        for name in set(names_of(text)):
            users.setdefault((path.parent, path.suffix, name), []).append(path.name)
    return [f"{folder}: {name} in {', '.join(files)}"
            for (folder, _, name), files in users.items() if len(files) > 1]


def test_names_differ_in_a_folder():
    paths = [path for top in TOPS for path in sorted((ROOT / top).rglob("*"))
             if path.suffix in (".cpp", ".cu")]
    assert clashes((path.relative_to(ROOT), path.read_text("utf-8")) for path in paths) == []


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
