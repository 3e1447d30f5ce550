"""Node tests of ONNX itself, which the package onnx carries: what general operations compute of a node is
what the standard says, or the node is refused with a reason."""
import collections
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy
import pytest

from support.process import ROOT, run

sys.path.append(str(ROOT / "build/onnx-wheels"))
try:
    import onnx
    from onnx import numpy_helper
except ImportError as missing:
    pytest.skip(f"NOT CHECKED: node tests of ONNX, as {missing.name} is missing; scripts/test fetches onnx into "
                "build/onnx-wheels where there are pip and a network", allow_module_level=True)

NODES = Path(onnx.__file__).parent / "backend/test/data/node"
REFUSED = 2  # exit code

# What differs from the standard on purpose: normalisations as in training, no dropout, numbers that are
# rounded to no small type, quantisation to 8 bits, antialiasing (not exact yet), and corners of scaled images
# whose extents are no whole numbers, which the data leaves fractional and onnxruntime does not.
DIFFERENT = ("batchnorm", "dropout", "cast", "quantize", "antialias", "dilations_large_count_include_pad",
             "downsample_scales_cubic_align_corners", "downsample_scales_linear_align_corners")


def values_of(path):
    tensor = onnx.TensorProto()
    tensor.ParseFromString(path.read_bytes())
    return numpy_helper.to_array(tensor)


def type_of(array):
    if array.dtype == bool:
        return "boolean"
    return "floating" if array.dtype.kind == "f" else "integer"


def has_numbers(model):
    values = [*model.graph.input, *model.graph.output]
    return all(one.type.HasField("tensor_type") and one.type.tensor_type.elem_type != onnx.TensorProto.STRING
               for one in values)


def is_setting(model, index):
    """Scales and regions, which files have as constants."""
    return index > 0 and model.graph.node[0].op_type in ("Resize", "Upsample")


def outcome(program, folder, out):
    """ "same", "refused" with its reason, or what is wrong."""
    model = onnx.load(folder / "model.onnx")
    if not has_numbers(model):
        return "no numbers"
    data = folder / "test_data_set_0"
    lines = []
    for index, value in enumerate(model.graph.input):
        array = values_of(data / f"input_{index}.pb")
        kind = type_of(array)
        is_known = int(kind != "floating" or array.size == 1 or is_setting(model, index))
        path = out / f"{folder.name}.{index}"
        numpy.ascontiguousarray(array, numpy.float64).tofile(path)
        lines.append(" ".join([value.name, kind, str(is_known), str(path), *map(str, array.shape)]))
    results = out / folder.name
    results.mkdir()
    done = run([program, folder / "model.onnx", results], code=None, text="\n".join(lines) + "\n")
    if done.returncode == REFUSED:
        return f"refused: {done.err.strip().splitlines()[-1]}"
    if done.returncode != 0:
        return f"exit code {done.returncode}: {done.err}"
    for index, line in enumerate(done.out.splitlines()):
        if line == "missing":
            continue  # an output that no operation has, as the mean of a normalisation
        wanted = values_of(data / f"output_{index}.pb")
        got = numpy.fromfile(results / f"output_{index}").reshape([int(one) for one in line.split()])
        if got.shape != wanted.shape or not numpy.allclose(got, wanted.astype(float), 1e-3, 1e-3, equal_nan=True):
            return f"output {index} is {got}, not {wanted}"
    return "same"


def test_nodes_compute_what_the_standard_says(build, tmp_path):
    program = build.program("onnx-forward")
    folders = sorted(NODES.iterdir())
    with ThreadPoolExecutor() as pool:
        outcomes = dict(zip(folders, pool.map(lambda one: outcome(program, one, tmp_path), folders)))
    wrong = {folder.name: found for folder, found in outcomes.items()
             if not found.startswith(("same", "refused", "no numbers"))
             and not any(word in folder.name for word in DIFFERENT)}
    assert wrong == {}
    kinds = collections.Counter(found.split(":")[0] for found in outcomes.values())
    assert kinds["same"] >= 990, kinds
