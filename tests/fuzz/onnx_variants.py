#!/usr/bin/env python3
"""Writes variants of ONNX's node tests, which the package onnx carries, as seeds for the fuzzer: each has one
shape, constant or attribute changed to a value at the edge of what operators allow, or an input left out.

Usage: onnx_variants.py FOLDER SHARE, which writes each SHARE-th variant.
"""
import copy
import hashlib
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "build/onnx-wheels"))
import numpy  # noqa: E402
import onnx  # noqa: E402
from onnx import AttributeProto, numpy_helper  # noqa: E402

MAX_NODES = 12
MAX_BYTES = 20000
SHAPES = ([], [0], [1], [2], [2, 0], [0, 3], [1] * 8)
INTEGERS = (-1, 0, 1, 2, 7, -9, 2**31, 2**62, -2**63)
FLOATS = (0.0, -1.0, float("nan"), float("inf"))


def with_constants(model, folder):
    """The model with the test's data as constants in place of all inputs but the first."""
    changed = copy.deepcopy(model)
    for index, value in enumerate(model.graph.input[1:], start=1):
        path = folder / f"test_data_set_0/input_{index}.pb"
        if not value.type.HasField("tensor_type") or not path.exists():
            continue
        tensor = onnx.TensorProto()
        tensor.ParseFromString(path.read_bytes())
        tensor.name = value.name
        changed.graph.initializer.append(tensor)
    return changed


def changes_of_shapes(model):
    for index, value in enumerate(model.graph.input):
        if not value.type.HasField("tensor_type"):
            continue
        own = [dimension.dim_value for dimension in value.type.tensor_type.shape.dim]
        for shape in (*SHAPES, [0, *own[1:]], [*own[:-1], 0], own[:-1], [*own, 2]):
            changed = copy.deepcopy(model)
            dimensions = changed.graph.input[index].type.tensor_type.shape.dim
            del dimensions[:]
            for extent in shape:
                dimensions.add().dim_value = extent
            yield changed


def edges_of(array):
    """Arrays in place of one: none and one of its elements, other shapes, other values."""
    flat = array.reshape(-1)
    yield from (flat[:0], flat, flat[:-1], numpy.zeros_like(array))
    if flat.size:
        yield flat[:1].reshape([])
    if array.dtype.kind in "if":
        yield -numpy.ones_like(array)
    if array.dtype.kind in "iu":
        yield numpy.full_like(array, numpy.iinfo(array.dtype).max)


def changes_of_constants(model):
    for index, tensor in enumerate(model.graph.initializer):
        array = numpy_helper.to_array(tensor)
        if array.dtype.kind not in "iufb":
            continue
        for other in edges_of(array):
            changed = copy.deepcopy(model)
            changed.graph.initializer[index].CopyFrom(numpy_helper.from_array(other, tensor.name))
            yield changed


def values_for(attribute):
    """The field of an attribute that holds its value, and other values for it."""
    if attribute.type == AttributeProto.INT:
        return "i", INTEGERS
    if attribute.type == AttributeProto.FLOAT:
        return "f", FLOATS
    if attribute.type == AttributeProto.STRING:
        return "s", (b"", b"unknown")
    if attribute.type == AttributeProto.INTS:
        own = list(attribute.ints)
        return "ints", ([], own[:-1], [*own, 1], *([value] * len(own) for value in INTEGERS))
    return "", ()


def changes_of_nodes(model):
    for index, node in enumerate(model.graph.node):
        for position, attribute in enumerate(node.attribute):
            field, values = values_for(attribute)
            for value in values:
                changed = copy.deepcopy(model)
                target = changed.graph.node[index].attribute[position]
                if field == "ints":
                    target.ints[:] = value
                else:
                    setattr(target, field, value)
                yield changed
            changed = copy.deepcopy(model)
            del changed.graph.node[index].attribute[position]
            yield changed
        for position in range(len(node.input)):
            changed = copy.deepcopy(model)
            changed.graph.node[index].input[position] = ""
            yield changed


def models():
    """The models of the node tests, with their data as inputs and as constants."""
    for path in sorted((Path(onnx.__file__).parent / "backend/test/data/node").glob("*/model.onnx")):
        model = onnx.load(path)
        if len(model.graph.node) <= MAX_NODES:
            yield from (model, with_constants(model, path.parent))


def main(folder, share):
    folder.mkdir(parents=True, exist_ok=True)
    for model in models():
        for changes in (changes_of_shapes, changes_of_constants, changes_of_nodes):
            for changed in changes(model):
                content = changed.SerializeToString()
                name = hashlib.sha1(content).hexdigest()
                if len(content) <= MAX_BYTES and int(name, 16) % share == 0:
                    (folder / name).write_bytes(content)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]))
