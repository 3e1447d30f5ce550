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


FLOATING = {onnx.TensorProto.FLOAT, onnx.TensorProto.DOUBLE, onnx.TensorProto.FLOAT16, onnx.TensorProto.BFLOAT16}

# Shapes that depend on values, and random numbers: nothing to compare.
OUT_OF_SCOPE = ("Unique", "Bernoulli", "RandomUniformLike", "TfIdfVectorizer")


def values_of(path, described):
    """The tensor of a file; those of bf16 have their bits as whole numbers."""
    tensor = onnx.TensorProto()
    tensor.ParseFromString(path.read_bytes())
    array = numpy_helper.to_array(tensor)
    if described.type.tensor_type.elem_type == onnx.TensorProto.BFLOAT16 and array.dtype == numpy.uint16:
        return (array.astype(numpy.uint32) << 16).view(numpy.float32)
    return array


def type_of(array):
    if array.dtype == bool:
        return "boolean"
    return "floating" if array.dtype.kind == "f" else "integer"


def has_numbers(model):
    values = [*model.graph.input, *model.graph.output]
    return all(one.type.HasField("tensor_type") and one.type.tensor_type.elem_type != onnx.TensorProto.STRING
               for one in values)


def is_floating(model):
    """Whether a node of ONNX itself computes numbers with a point, in a shape that is known on reading."""
    types = {one.type.tensor_type.elem_type for one in model.graph.output}
    return (bool(types & FLOATING) and model.graph.node[0].op_type not in OUT_OF_SCOPE
            and not any(one.domain.startswith("ai.onnx.") for one in model.opset_import)
            and not model.graph.name.startswith("test_training_dropout"))


def tolerance_of(model, index):
    """Of a value relative to its size: bf16 has 8 bits."""
    is_short = model.graph.output[index].type.tensor_type.elem_type == onnx.TensorProto.BFLOAT16
    return 1 / 256 if is_short else 1e-3


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
        array = values_of(data / f"input_{index}.pb", value)
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
        wanted = values_of(data / f"output_{index}.pb", model.graph.output[index])
        got = numpy.fromfile(results / f"output_{index}").reshape([int(one) for one in line.split()])
        if got.shape != wanted.shape or not numpy.allclose(got, wanted.astype(float), tolerance_of(model, index), 1e-3, equal_nan=True):
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
    floating = [found for folder, found in outcomes.items()
                if found != "no numbers" and is_floating(onnx.load(folder / "model.onnx"))]
    same = floating.count("same")
    assert same >= 0.9 * len(floating), f"{same} of {len(floating)}"
    print(f"{kinds['same']} equal; with floating-point results in static shapes {same} of {len(floating)}")
