# Compares training steps with PyTorch: image networks, transformers and a recurrent language model.
import pathlib
from dataclasses import dataclass

from alternation import Program, alternate, check_equal
from processes import Failure, json_of, on_cores
from rows import Row, duration, median
from peer_setting import Peer, cores_text
from ratios import paired_ratio

HERE = pathlib.Path(__file__).resolve().parent
EAGER, COMPILED = "eager", "compiled"


@dataclass
class Training:
    """A model trained on both sides."""

    model: str  # name in both programs
    title: str
    options: list  # sizes, for both programs
    rounds: int
    targets: dict  # for PyTorch's time relative to parbench's
    dtype: str = "f32"

    @property
    def words(self):
        return ["--model", self.model, "--dtype", self.dtype, *self.options]


def programs_of(setting, cores, training, lengths):
    """Returns the programs by label: parbench, then every PyTorch, eager and compiled."""
    ours = on_cores(cores, [setting.peers, "train", *training.words])
    script = ["-B", HERE / "torch_step.py", "--threads", len(cores), *training.words]
    script += ["--lengths", ",".join(map(str, lengths))] if lengths else []
    found = {"parbench": Program(ours, Peer("").environment())}
    for number, torch in enumerate(setting.torches):
        for mode, flags in ((EAGER, []), (COMPILED, ["--compile"])):
            found[f"torch {torch.python} {mode}"] = Program(
                on_cores(cores, [torch.python, *script, *flags]),
                torch.environment(),
                training.targets.get(mode) if number == 0 else None,
            )
    return found


def check_same_loss(ready):
    """Checks that first losses differ by at most 2%, because each side draws its own numbers."""
    wanted = ready["parbench"]["loss"]
    for label, said in ready.items():
        loss = said.get("loss")
        if loss is not None and abs(loss - wanted) > 0.02 * wanted:
            raise Failure(f"the first loss of {label} is {loss:.4g}, parbench's {wanted:.4g}")


def rows_of(setting, name, training):
    """Yields rows of the step on one and two cores, compared with every PyTorch."""
    for cores in setting.core_sets():
        what = f"{training.title}, {training.dtype}, {cores_text(cores)}"
        setting.say(what)
        model = json_of([setting.peers, "model", *map(str, training.words)])
        programs = programs_of(setting, cores, training, model["lengths"])
        ready, seconds = alternate(setting, programs, training.rounds)
        check_equal(ready, "parameters", model["parameters"])
        check_equal(ready, "threads", len(cores))
        check_same_loss(ready)
        ours = seconds.pop("parbench")
        for label, theirs in seconds.items():
            peer = ready[label]["name"]
            yield Row(
                f"{name}/{peer.replace(' ', '-')}/cores:{len(cores)}",
                f"{what}: {peer} / parbench",
                duration(median(ours)),
                duration(median(theirs)),
                **paired_ratio(setting, theirs, ours),
                at_least=programs[label].at_least,
                details={"ours_seconds": ours, "peer_seconds": theirs, "peer": ready[label]},
            )


def image_model(setting, model, title, batch, image):
    """Measures in f32, and in bf16 if the processor supports it."""
    batch, image, rounds = (2, 32, 7) if setting.quick else (batch, image, 11)
    options = ["--batch", batch, "--image", image]
    for dtype, eager in [("f32", 1.3), ("bf16", 1.5)] if setting.has_bf16 else [("f32", 1.3)]:
        training = Training(
            model,
            f"{title} training step, batch {batch}, {image}×{image}",
            options,
            rounds,
            {EAGER: eager, COMPILED: 1.0},
            dtype,
        )
        yield from rows_of(setting, f"{model}/{dtype}", training)


def resnet50(setting):
    """Compares ResNet-50's training step."""
    yield from image_model(setting, "resnet50", "ResNet-50", 24, 128)


def unet(setting):
    """Compares U-Net's training step."""
    yield from image_model(setting, "unet", "U-Net", 4, 128)


def vit(setting):
    """Compares the training step of a vision transformer with 12 layers of 192."""
    yield from image_model(setting, "vit", "ViT", 24, 128)


def language_model(setting, model, title, batch):
    """Measures in f32, and in bf16 if the processor supports it."""
    batch, rounds = (1, 7) if setting.quick else (batch, 11)
    for dtype in ["f32", "bf16"] if setting.has_bf16 else ["f32"]:
        training = Training(
            model,
            f"{title}, batch {batch}",
            ["--batch", batch],
            rounds,
            {EAGER: 1.2},
            dtype,
        )
        yield from rows_of(setting, f"{model}/{dtype}", training)


def gpt(setting):
    """Compares the training step of a transformer with 4 layers of 256."""
    yield from language_model(setting, "gpt", "gpt training step, 4 layers of 256, 128 tokens", 8)


def llama(setting):
    """Compares the training step of a Llama with 4 layers of 256."""
    title = "llama training step, 4 layers of 256, 128 tokens"
    yield from language_model(setting, "llama", title, 8)


def rnn_lm(setting):
    """Compares the training step of two LSTMs of 650."""
    yield from language_model(
        setting, "rnn-lm", "rnn-lm training step, 2 layers of 650, 35 tokens", 20
    )
