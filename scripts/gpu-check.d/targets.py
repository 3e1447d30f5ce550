# Targets of parbench on a GPU, and their figures.
from rows import Row
from setting import DTYPE_WEIGHTS
from sizes import bytes_text, images_text, sizes_for

DTYPES = list(DTYPE_WEIGHTS)


def convolutions(sizes):
    """Returns the convolutions of experiment E1 in all sizes: the end of each name, with a description."""
    return {
        f"{preset}-{name}": images_text(one.batch, side)
        for preset, one in sizes.convolutions.items()
        for name, side in one.images.items()
    }


def rows_by_step(setting):
    """Returns the expected rows of each step."""
    sizes = sizes_for(setting)
    pair = "two SM partitions" if setting.on_gpu else "two CPU devices"
    step = f"ResNet-50 step, {images_text(sizes.batch, sizes.image)}"
    return {
        "matmul": [
            Row(
                f"matmul/{dtype}",
                f"product n = {sizes.n}, {dtype}: torch.mm / parbench",
                at_least=0.97,
            )
            for dtype in DTYPES
        ],
        "convolution": [
            Row(
                f"convolution/{dtype}/{kind}",
                f"{sizes.branches} convolutions, {text}, {dtype}: PyTorch / parbench",
                at_least=1.0,
            )
            for kind, text in convolutions(sizes).items()
            for dtype in DTYPES
        ],
        "training": [
            Row(
                f"training/{dtype}/eager",
                f"{step}, {dtype}: PyTorch / parbench",
                at_least=1.0,
            )
            for dtype in DTYPES
        ],
        "training-compiled": [
            Row(
                f"training/{dtype}/compiled",
                f"{step}, {dtype}: torch.compile / parbench",
            )
            for dtype in DTYPES
        ],
        "copy": [
            Row(
                "copy/d2h/pinned",
                f"copy d2h pinned, {bytes_text(sizes.copied_bytes)}: link / parbench",
                at_least=0.97,
            )
        ],
        "schedules": [
            Row(
                "overlap/d2h/pinned",
                "overlapped / the longer of compute and copy, d2h pinned",
                at_most=1.05,
            ),
            Row("partitions/two", f"{pair} at once / one of them", at_least=1.9),
        ],
    }


FIGURE_FIELDS = ["ours", "peer", "value", "low", "high", "confidence", "details", "not_run"]


def complete(row, figures, reason, is_trial):
    """Returns the row with its figure, or with the reason for having none. A trial has no targets."""
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
    """Returns the rows of all steps to be run. `results`: content and end of each step."""
    rows = []
    for step, wanted in rows_by_step(setting).items():
        if step not in results:
            continue
        content, status = results[step]
        for row in wanted:
            dtype = next((word for word in row.name.split("/") if word in DTYPES), None)
            reason = status if status != "done" else "it gave no figure"
            if dtype and dtype not in setting.dtypes:
                if not setting.on_gpu:
                    continue  # not all processors support it
                reason = f"--dtype {dtype} is not supported here"
            rows.append(complete(row, content.get("figures", []), reason, setting.is_trial))
    return rows
