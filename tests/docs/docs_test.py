"""The documents: links resolve, pages stay short, and every page of a folder is in its index.

Standard library and pytest only: `python3 -m pytest tests/docs`."""
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
GUIDE = ROOT / "docs/guide"
DECISIONS = ROOT / "docs/decisions"
CURRENT = [ROOT / "README.md", ROOT / "docs/architecture.md", *GUIDE.rglob("*.md"), *DECISIONS.glob("*.md")]

README_WORDS = 1500
GUIDE_LINES = 250
LINE_CHARACTERS = 100

FENCE = re.compile(r"^\s*(```|~~~)")
CODE_SPAN = re.compile(r"(`+)(?:.|\n)*?\1")
LINK = re.compile(r"!?\[[^\]]*\]\(\s*<?([^)\s>]+)>?(?:\s+\"[^\"]*\")?\s*\)")
HEADING = re.compile(r"^#{1,6}\s+(.*?)\s*#*$")


def documents():
    return [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]


def prose_lines(text):
    """The lines outside fenced and indented code, with their numbers."""
    fenced = False
    for number, line in enumerate(text.splitlines(), 1):
        if FENCE.match(line):
            fenced = not fenced
        elif not fenced and not line.startswith("    "):
            yield number, line


def anchors_of(path):
    """The anchors of a page's headings, as GitHub makes them."""
    anchors = set()
    for _, line in prose_lines(path.read_text(encoding="utf-8")):
        heading = HEADING.match(line)
        if heading is None:
            continue
        text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading.group(1))
        slug = re.sub(r"[^\w\- ]", "", text.replace("`", "").lower()).replace(" ", "-")
        anchor, repeat = slug, 0
        while anchor in anchors:
            repeat += 1
            anchor = f"{slug}-{repeat}"
        anchors.add(anchor)
    return anchors


def links_of(path):
    """The targets of a page's links that lead into the repository."""
    text = "\n".join(line for _, line in prose_lines(path.read_text(encoding="utf-8")))
    for target in LINK.findall(CODE_SPAN.sub("", text)):
        if not re.match(r"[a-z]+:", target):
            yield target


def broken_links(path):
    for target in links_of(path):
        name, _, anchor = target.partition("#")
        file = (path.parent / name).resolve() if name else path
        if not file.is_relative_to(ROOT) or not file.exists():
            yield f"{path.relative_to(ROOT)}: {target} does not exist"
        elif anchor and file.suffix == ".md" and anchor not in anchors_of(file):
            yield f"{path.relative_to(ROOT)}: {target}: the page has no such heading"


def test_links_resolve():
    assert [text for path in documents() for text in broken_links(path)] == []


def test_named_files_exist():
    """What pages name in code spans as a path of the repository is there."""
    folders = ("bench/", "cmake/", "docs/", "examples/", "kernels/", "scenarios/", "scripts/", "tests/", ".ci/")
    missing = {f"{page.relative_to(ROOT)}: {name}"
               for page in CURRENT
               for name in re.findall(r"`([^`\s]+)`", page.read_text(encoding="utf-8"))
               if name.startswith(folders) and not set("<*…") & set(name)
               and not (ROOT / name).exists()}
    assert missing == set()


def test_readme_is_short():
    words = len((ROOT / "README.md").read_text(encoding="utf-8").split())
    assert words <= README_WORDS, f"README.md has {words} words; move details to docs/guide"


def test_guide_pages_are_short():
    lengths = {page.name: len(page.read_text(encoding="utf-8").splitlines())
               for page in GUIDE.rglob("*.md")}
    assert {name: lines for name, lines in lengths.items() if lines > GUIDE_LINES} == {}


def test_lines_are_short():
    """Tables, links on a line of their own and code may be longer."""
    long_lines = [f"{page.relative_to(ROOT)}:{number}"
                  for page in CURRENT
                  for number, line in prose_lines(page.read_text(encoding="utf-8"))
                  if len(line) > LINE_CHARACTERS and not line.startswith(("|", "[", "!["))]
    assert long_lines == []


@pytest.mark.parametrize("folder", [GUIDE, DECISIONS], ids=lambda folder: folder.name)
def test_index_lists_every_page(folder):
    listed = set(links_of(folder / "README.md"))
    pages = {str(page.relative_to(folder)) for page in folder.rglob("*.md")} - {"README.md"}
    assert pages - listed == set()


def test_documents_name_no_folder_of_a_machine():
    """Examples use relative paths: what a page names must exist for every reader."""
    private = re.compile(r"(?<![\w.])/(?:home|root|tmp|work|Users)/")
    found = [f"{path.relative_to(ROOT)}:{number}"
             for path in documents()
             for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1)
             if private.search(line)]
    assert found == []
