"""The ONNX files that packages of PyPI carry: a training step from their own weights has the prediction and the
loss of onnx's evaluator, and gradients that differences of such losses confirm."""
import json

import numpy
import pytest

from model_files.by_value import Gradients
from model_files.evaluation import Evaluated, array, numpy_helper, onnx
from support.process import ROOT, run

FILES = sorted((ROOT / "build/model-files").glob("*/*.onnx"))
if not FILES:
    pytest.skip("NOT CHECKED: files of packages, which scripts/model-files fetches into build/model-files",
                allow_module_level=True)

BATCH = 2
TOLERANCE = 5e-5  # by the largest value of a tensor
GRADIENT_TOLERANCE = 1e-3
REFUSED = {"silero_vad_16k_sequence": "LSTM: its input {N, 1, 128} must have the dimensions positions, samples and values"}
NOT_EVALUATED = ("320n", "ch_PP-OCRv4_det_infer")  # onnx's evaluator takes minutes for them
SIZES = {"melspectrogram": ("samples=8000", ""), "320n": ("", "32"), "ch_PP-OCRv4_det_infer": ("", "32"),
         "ch_PP-OCRv4_rec_infer": ("", "48"), "ch_ppocr_mobile_v2.0_cls_infer": ("", "48"),
         "openwakeword-silero_vad": ("sequence=512+sr=16000", ""), "silero_vad-silero_vad": ("input.1=576+sr=16000", ""),
         "silero_vad_half": ("sequence=576", ""), "silero_vad_16k_op15": ("sequence=576+sr=16000", ""),
         "silero_vad_op18_ifless": ("sequence=576+sr=16000", "")}


@pytest.mark.parametrize("path", FILES, ids=lambda path: f"{path.parent.name}-{path.stem}")
def test_a_step_is_the_evaluators(build, path):
    dimensions, image = SIZES.get(f"{path.parent.name}-{path.stem}") or SIZES.get(path.stem, ("", ""))
    done = run([build.program("onnx-training-step"), path, BATCH, "", dimensions, image], code=None)
    if path.stem in REFUSED:
        assert done.returncode == 1
        assert REFUSED[path.stem] in done.err
        return
    assert done.returncode == 0, done.err
    step = json.loads(done.out)
    prediction = array(step["prediction"])
    if path.stem in NOT_EVALUATED:
        assert numpy.isfinite(prediction).all() and numpy.isfinite(step["value"])
        assert all(numpy.isfinite(one["gradient"]).all() for one in step["parameters"].values())
        return
    given = {name: int(size) for name, size in (one.split("=") for one in dimensions.split("+") if one)}
    evaluated = Evaluated(onnx.load(path), step, given)
    want = evaluated.prediction()
    assert numpy.abs(prediction.ravel() - want.ravel()).max() < TOLERANCE * numpy.abs(want).max()
    assert step["value"] == pytest.approx(evaluated.loss(), rel=1e-4)

    gradients = Gradients([(array(one), array({**one, "values": one["gradient"]}))
                           for one in step["parameters"].values()])
    known = [(one, gradients.of_single(numpy_helper.to_array(one))) for one in evaluated.tensors()]
    known = [(one, gradient) for one, gradient in known if gradient is not None and gradient.any()]
    assert known
    known.sort(key=lambda pair: -numpy.abs(pair[1]).sum())
    for tensor, gradient in (known[0], known[len(known) // 2]):
        slope = evaluated.slope(tensor, numpy.sign(gradient))
        assert slope == pytest.approx(numpy.abs(gradient).sum(), rel=GRADIENT_TOLERANCE), tensor.name
