"""Which folder may include which: the arrows of docs/architecture.md, read from the includes."""
import re

import pytest

from support.process import ROOT

PRODUCT = ("bench", "examples", "kernels", "reports", "scenarios")
INCLUDE = re.compile(r'^\s*#\s*include\s+"([^"]+)"', re.MULTILINE)

# Each folder with the folders that its files may include beside their own. A folder stands after
# all that it may include, so that there is no way back: the floors are kernels, scenarios, reports
# and bench, from the bottom up. Within kernels/cuda there is no order: its devices own what its
# operations use.
ARROWS = {
    "kernels/base": "",
    "kernels/ops": "kernels/base",
    "kernels/core": "kernels/base kernels/ops",
    "kernels/cpu/host": "kernels/base kernels/core",
    "kernels/cpu/runtime": "kernels/base kernels/core kernels/cpu/host",
    "kernels/cpu/onednn": "kernels/base kernels/core kernels/cpu/runtime kernels/ops",
    "kernels/cpu/ops": "kernels/base kernels/core kernels/cpu/onednn kernels/cpu/runtime kernels/ops",
    "kernels/cpu/device": "kernels/base kernels/core kernels/cpu/host kernels/cpu/ops kernels/cpu/runtime",
    "kernels/cuda": "kernels/base kernels/core kernels/ops",
    "kernels/mpi": "kernels/base kernels/core",
    "kernels/machine": "kernels/base kernels/core kernels/cpu/device kernels/cpu/runtime kernels/cuda",
    "scenarios/plan": "kernels/base",
    "scenarios/recommendation": "kernels/base",
    "scenarios/framework": "kernels/base kernels/core kernels/ops scenarios/plan scenarios/recommendation",
    "scenarios/answers": "kernels/base scenarios/framework scenarios/recommendation",
    "scenarios/models": "kernels/base kernels/ops scenarios/framework scenarios/plan",
    "scenarios/training": "kernels/base kernels/core kernels/ops scenarios/answers scenarios/framework "
    "scenarios/models scenarios/plan",
    "scenarios/inference": "kernels/base kernels/core kernels/ops scenarios/framework scenarios/models "
    "scenarios/training",
    "scenarios/branch": "kernels/base kernels/ops scenarios/answers scenarios/framework",
    "scenarios/collectives": "kernels/base kernels/core scenarios/answers scenarios/framework",
    "scenarios/matmul": "kernels/base kernels/ops scenarios/answers scenarios/framework",
    "scenarios/overlap": "kernels/base scenarios/answers scenarios/framework",
    "scenarios/pipeline": "kernels/base scenarios/answers scenarios/framework scenarios/models "
    "scenarios/plan scenarios/training",
    "scenarios/data_parallel": "kernels/base scenarios/answers scenarios/framework scenarios/models "
    "scenarios/plan scenarios/training",
    "scenarios/hybrid": "kernels/base scenarios/answers scenarios/framework scenarios/models scenarios/plan "
    "scenarios/training",
    "scenarios/tensor_parallel": "kernels/base scenarios/answers scenarios/framework scenarios/models "
    "scenarios/plan scenarios/training",
    "scenarios/launch": "scenarios/framework scenarios/models scenarios/training",
    "scenarios/graph": "kernels/base kernels/ops scenarios/answers scenarios/framework scenarios/inference "
    "scenarios/models scenarios/plan",
    "scenarios/inter_op": "scenarios/answers scenarios/framework scenarios/inference scenarios/models "
    "scenarios/plan scenarios/training",
    "scenarios/selftest": "kernels/base scenarios/framework",
    "scenarios": "scenarios/framework",
    "reports/text": "kernels/base",
    "reports/model": "kernels/base reports/text scenarios/plan scenarios/recommendation",
    "reports/statistics": "kernels/base reports/model",
    "reports/findings": "kernels/base reports/model reports/statistics scenarios/plan "
    "scenarios/recommendation",
    "reports/io/foreign": "kernels/base reports/model reports/text",
    "reports/io": "kernels/base reports/io/foreign reports/model reports/statistics reports/text "
    "scenarios/plan",
    "reports/views": "kernels/base reports/findings reports/model reports/statistics reports/text "
    "scenarios/plan scenarios/recommendation",
    "reports/views/html": "kernels/base reports/findings reports/io reports/model reports/text reports/views",
    "reports/io/formats": "reports/io reports/model reports/text reports/views",
    "reports/compare": "kernels/base reports/io reports/model reports/statistics reports/text reports/views",
    "reports/compare/render": "kernels/base reports/compare reports/io reports/text reports/views "
    "reports/views/html",
    "reports/dashboard": "kernels/base reports/io reports/model reports/statistics reports/text "
    "reports/views reports/views/html",
    "bench/execution": "kernels/base kernels/core reports/model reports/statistics scenarios/framework "
    "scenarios/plan",
    "bench/output": "bench/execution kernels/base reports/text",
    "bench/sampling": "bench/execution bench/output kernels/base kernels/core reports/model "
    "reports/statistics scenarios/framework scenarios/plan",
    "bench/cli": "bench/output bench/sampling kernels/base kernels/machine reports/io reports/model "
    "reports/text reports/views scenarios/framework",
    "bench/ranks": "bench/cli bench/execution bench/output bench/sampling kernels/base kernels/core "
    "kernels/machine reports/model reports/statistics scenarios/framework scenarios/plan",
    "bench/estimates": "bench/cli bench/execution bench/sampling kernels/base kernels/core reports/model "
    "reports/statistics reports/text scenarios/framework scenarios/matmul scenarios/plan",
    "bench/run": "bench/cli bench/execution bench/output bench/ranks bench/sampling kernels/base "
    "kernels/core kernels/machine reports/findings reports/io reports/model reports/statistics reports/text "
    "reports/views scenarios/framework scenarios/plan",
    "bench/commands": "bench/cli bench/estimates bench/execution bench/output bench/ranks bench/run "
    "bench/sampling kernels/base kernels/machine reports/compare reports/compare/render reports/dashboard "
    "reports/io reports/io/formats reports/model reports/statistics reports/text reports/views "
    "reports/views/html scenarios/framework scenarios/models scenarios/training",
    "bench/peers": "bench/execution bench/ranks kernels/base kernels/core kernels/cpu/host kernels/cpu/ops "
    "kernels/cpu/runtime kernels/machine kernels/ops reports/io reports/model reports/statistics "
    "scenarios/framework scenarios/models scenarios/training",
    "bench": "bench/cli bench/commands bench/output bench/ranks bench/run kernels/base kernels/machine "
    "scenarios/framework",
    "examples": "bench kernels/base kernels/core kernels/machine kernels/ops scenarios/answers "
    "scenarios/framework scenarios/models scenarios/plan scenarios/training",
}

# At most so many sources in a folder.
LARGEST_FOLDER = 22
LARGER = {
}


def component(path):
    """The longest entry of ARROWS that the path lies under, without it None."""
    folder = path.rpartition("/")[0]
    while folder and folder not in ARROWS:
        folder = folder.rpartition("/")[0]
    return folder or None


def forbidden(path, text):
    """The includes of a file that its folder may not have."""
    own = component(path)
    allowed = {own, *ARROWS.get(own, "").split()}
    targets = [name for name in INCLUDE.findall(text) if name.startswith(tuple(p + "/" for p in PRODUCT))]
    return [name for name in targets if component(name) not in allowed]


def sources():
    for folder in PRODUCT:
        for path in sorted((ROOT / folder).rglob("*")):
            if path.suffix in (".cpp", ".h", ".cu", ".cuh"):
                yield path


def test_includes_follow_the_arrows():
    wrong = []
    for path in sources():
        name = str(path.relative_to(ROOT))
        assert component(name), f"{name}: its folder is not among ARROWS"
        wrong += [f"{name} includes {target}" for target in forbidden(name, path.read_text("utf-8"))]
    assert not wrong


def test_the_arrows_have_no_way_back():
    seen = set()
    for folder, allowed in ARROWS.items():
        later = set(allowed.split()) - seen - {"kernels/cuda"}
        assert not later, f"{folder} may include {later}, which come after it"
        seen.add(folder)


@pytest.mark.parametrize(
    "path, include, is_forbidden",
    [
        ("reports/views/a.cpp", "bench/cli/flag.h", True),
        ("reports/views/a.cpp", "reports/views/html/html.h", True),
        ("scenarios/plan/a.h", "kernels/core/device.h", True),
        ("scenarios/branch/a.cpp", "scenarios/overlap/overlap_plans.h", True),
        ("scenarios/branch/a.cpp", "scenarios/framework/plan.h", False),
        ("kernels/cuda/ops/a.cu", "kernels/cuda/runtime/launch.h", False),
        ("kernels/cuda/ops/a.cu", "kernels/cpu/ops/plans.h", True),
        ("kernels/ops/a.h", "fmt/format.h", False),
    ],
)
def test_what_is_forbidden(path, include, is_forbidden):
    assert bool(forbidden(path, f'#pragma once\n#include "{include}"\n')) == is_forbidden


def test_folders_stay_small():
    count = {}
    for path in sources():
        folder = str(path.parent.relative_to(ROOT))
        count[folder] = count.get(folder, 0) + 1
    for folder, files in count.items():
        assert files <= LARGER.get(folder, LARGEST_FOLDER), f"{folder} has {files} sources"
