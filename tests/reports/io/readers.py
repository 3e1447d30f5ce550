"""What other programs read of an exported file, as JSON: `readers.py FORMAT FILE`.

github-action-benchmark and Bencher cannot be installed here; their readers are written again from
their sources, with what they refuse. The others are real: Python's csv module, Prometheus' client
library, GitHub's renderer of Markdown.
"""

import csv
import html.parser
import json
import subprocess
import sys


def refuse(why: str) -> None:
    sys.exit(f"refused: {why}")


def strict_json(path: str):
    """As JSON.parse and serde_json read it: NaN and Infinity are no JSON."""
    with open(path, encoding="utf-8") as file:
        return json.load(file, parse_constant=lambda word: refuse(f"bare {word}"))


def github_action_benchmark(path: str):
    """extractGoogleCppResult in src/extract.ts of benchmark-action/github-action-benchmark. Results
    of two runs are then paired by name, so that two of one name are a mistake."""
    rows = []
    for row in strict_json(path)["benchmarks"]:
        if not isinstance(row["real_time"], (int, float)):
            refuse(f"{row['name']} has no number")
        rows.append({"name": row["name"], "value": row["real_time"], "unit": row["time_unit"] + "/iter"})
    if len({row["name"] for row in rows}) != len(rows) or not rows:
        refuse("names are not unique, or there are none")
    return rows


def bencher(path: str):
    """The adapter cpp_google, lib/bencher_adapter/src/adapters/cpp/google.rs of bencherdev/bencher:
    what serde wants of the structs there. Later rows of a name replace earlier ones."""
    file = strict_json(path)
    caches = file["context"]["caches"]
    if not isinstance(caches, list) or not all(isinstance(cache, dict) for cache in caches):
        refuse("context.caches is no list of objects")
    nanoseconds = {"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}
    results = {}
    for row in file["benchmarks"]:
        if not isinstance(row["real_time"], (int, float)) or not row["name"]:
            refuse("a row without name or real_time")
        results[row["name"]] = row["real_time"] * nanoseconds[row["time_unit"]]
    return results


def csv_rows(path: str):
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.reader(file, strict=True))


def prometheus(path: str):
    from prometheus_client.parser import text_string_to_metric_families

    with open(path, encoding="utf-8", newline="") as file:
        families = list(text_string_to_metric_families(file.read()))
    return {
        family.name: {
            "type": family.type,
            "help": family.documentation,
            "samples": [{"labels": s.labels, "value": s.value} for s in family.samples],
        }
        for family in families
    }


class Page(html.parser.HTMLParser):
    """Headings and paragraphs as text, tables as rows of cells, and every tag that there is."""

    def __init__(self):
        super().__init__()
        self.tags, self.tables, self.texts = [], [], []
        self.text = ""

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        if tag == "table":
            self.tables.append([])
        if tag == "tr":
            self.tables[-1].append([])
        if tag in ("td", "th", "p", "h3"):
            self.text = ""

    def handle_endtag(self, tag):
        if tag in ("td", "th"):
            self.tables[-1][-1].append(self.text)
        if tag in ("p", "h3"):
            self.texts.append(self.text)

    def handle_data(self, data):
        self.text += data


def markdown(path: str):
    command = ["cmark-gfm", "-e", "table", "-e", "strikethrough", "-e", "autolink", path]
    page = Page()
    page.feed(subprocess.run(command, check=True, capture_output=True, encoding="utf-8").stdout)
    return {"tags": sorted(set(page.tags)), "tables": page.tables, "texts": page.texts}


READERS = {
    "github-action-benchmark": github_action_benchmark,
    "bencher": bencher,
    "csv": csv_rows,
    "csv-calls": csv_rows,
    "prometheus": prometheus,
    "markdown": markdown,
}

if __name__ == "__main__":
    json.dump(READERS[sys.argv[1]](sys.argv[2]), sys.stdout)
