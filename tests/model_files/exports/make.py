"""Writes ONNX files of small networks by both of PyTorch's exporters:
    make.py FOLDER [NAME…]
Files are FOLDER/NAME.EXPORTER.onnx; what an exporter fails on is printed."""
import logging
import sys
import warnings
from pathlib import Path

import torch

sys.path.append(str(Path(__file__).parent))
import torch_models  # noqa: E402


def models():
    try:
        import transformers_models
    except ImportError as missing:
        print(f"left out: networks of transformers, as {missing.name} is missing")
        return torch_models.MODELS
    return torch_models.MODELS | transformers_models.MODELS


def exported(module, sample, path, exporter):
    """In evaluation. "old" and "new" leave the number of samples open; "fixed" is what the newer exporter writes
    unless an argument says otherwise."""
    given = tuple(sample.values())
    if exporter == "old":
        torch.onnx.export(module.eval(), given, path, dynamo=False, opset_version=17, input_names=list(sample),
                          dynamic_axes={name: {0: "batch"} for name in sample})
        return
    batch = torch.export.Dim("batch", min=1, max=4096)
    open_samples = tuple({0: batch} for _ in given)
    torch.onnx.export(module.eval(), given, path, dynamo=True, verbose=False, input_names=list(sample),
                      dynamic_shapes=(open_samples,) if takes_any(module) and exporter == "new" else
                      open_samples if exporter == "new" else None, external_data=False)


def takes_any(module):
    """Whether its inputs are *values."""
    return "values" in module.forward.__code__.co_varnames and module.forward.__code__.co_argcount == 1


def with_distinct_values(module):
    """No tensor like another, as in trained files: exporters merge equal ones."""
    with torch.no_grad():
        for values in module.state_dict(keep_vars=True).values():
            if values.is_floating_point():
                values.add_(torch.rand_like(values) / 20)
    return module


def write(name, exporter, path):
    """Throws what exporters throw. The same values each time."""
    torch.manual_seed(1)
    module, sample = models()[name]()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        exported(with_distinct_values(module), sample, str(path), exporter)


def main(folder, names):
    logging.disable(logging.ERROR)
    for name in names or models():
        for exporter in ("old", "new", "fixed"):
            try:
                write(name, exporter, Path(folder) / f"{name}.{exporter}.onnx")
            except Exception as failure:  # whatever exporters throw
                print(f"{name}.{exporter}: {type(failure).__name__}: {str(failure).splitlines()[0][:160]}")


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
