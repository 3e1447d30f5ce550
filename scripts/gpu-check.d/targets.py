# What parbench is to reach on a GPU, and how figures and targets come together.
from rows import Row

DTYPES = ["f32", "tf32", "bf16"]
# E1: the published size, and those of the quick preset.
CONVOLUTIONS = {
    "seed-128": "128 images of 128×128",
    "quick-8": "4 images of 8×8",
    "quick-32": "4 images of 32×32",
    "quick-128": "4 images of 128×128",
}


def rows_by_step():
    """The rows wanted of each step."""
    return {
        "matmul": [
            Row(f"matmul/{dtype}", f"product n = 8192, {dtype}: torch.mm / parbench", at_least=0.97)
            for dtype in DTYPES
        ],
        "convolution": [
            Row(
                f"convolution/{dtype}/{kind}",
                f"20 convolutions, {text}, {dtype}: PyTorch / parbench",
                at_least=1.0,
            )
            for kind, text in CONVOLUTIONS.items()
            for dtype in DTYPES
        ],
        "training": [
            Row(
                f"training/{dtype}/eager",
                f"ResNet-50 step, 120 images of 128×128, {dtype}: PyTorch / parbench",
                at_least=1.0,
            )
            for dtype in DTYPES
        ],
        "training-compiled": [
            Row(
                f"training/{dtype}/compiled",
                f"ResNet-50 step, 120 images of 128×128, {dtype}: torch.compile / parbench",
            )
            for dtype in DTYPES
        ],
        "copy": [Row("copy/d2h/pinned", "copy d2h pinned, 1 GiB: link / parbench", at_least=0.97)],
        "schedules": [
            Row(
                "overlap/d2h/pinned",
                "overlapped / the longer of compute and copy, d2h pinned",
                at_most=1.05,
            ),
            Row("partitions/two", "two SM partitions at once / one of them", at_least=1.9),
        ],
    }


FIGURE_FIELDS = ["ours", "peer", "value", "low", "high", "confidence", "details", "not_run"]


def complete(row, figures, reason, is_trial):
    """The row with its figure, or with the reason why there is none. A trial reaches no target."""
    found = next((figure for figure in figures if figure["name"] == row.name), None)
    for key in FIGURE_FIELDS:
        if found and key in found:
            setattr(row, key, found[key])
    if row.value is None and not row.not_run:
        row.not_run = reason
    if is_trial:
        row.at_least = row.at_most = None
    return row


def rows_of(results, setting):
    """The rows of all steps that were to run. `results`: of each its content and how it ended."""
    rows = []
    for step, wanted in rows_by_step().items():
        if step not in results:
            continue
        content, status = results[step]
        for row in wanted:
            dtype = next((word for word in row.name.split("/") if word in DTYPES), None)
            reason = status if status != "done" else "it gave no figure"
            if dtype and dtype not in setting.dtypes:
                reason = f"parbench has no --dtype {dtype}"
            rows.append(complete(row, content.get("figures", []), reason, not setting.on_gpu))
    return rows
