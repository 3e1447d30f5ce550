# Kernels that limit what a comparison shows: slow substitutes for a library's kernels, kernels used because
# cuDNN failed, and engines that were not measured although this was requested. Names: see
# docs/decisions/cuda.md.
import re

# Patterns in kernel names, by the text for problems.
FALLBACKS = {
    "direct kernels": re.compile(r"\bdirect\b"),
    "widened kernels": re.compile(r"\bwidened\b"),
    "kernels where cuDNN failed": re.compile(r"; cuDNN failed: "),
}
# Products by cuBLASLt, used by design if cuDNN has no engine or a slower one: listed, but not a problem.
PRODUCT = re.compile(r" on (patches|the source)\b")
BY_HEURISTICS = "heuristics"


def counted(kernel):
    return f"{kernel.get('count', 1)}× {kernel['operation']}: {kernel['implementation']}"


def products(case):
    """Returns the kernels of a case in parbench's report that are products instead of convolutions."""
    return [counted(kernel) for kernel in case.get("kernels", []) if PRODUCT.search(kernel["implementation"])]


def doubts(case, autotune):
    """Returns a text for each kind of doubt about the kernels of a case in parbench's report."""
    fallbacks, untuned = {}, 0
    for kernel in case.get("kernels", []):
        for what, name in FALLBACKS.items():
            if name.search(kernel["implementation"]):
                fallbacks.setdefault(what, []).append(counted(kernel))
        if autotune and kernel.get("chosen_by") == BY_HEURISTICS:
            untuned += kernel.get("count", 1)
    texts = [f"{what}: {'; '.join(names[:3])}" for what, names in fallbacks.items()]
    if untuned:
        texts.append(f"{untuned} operations have kernels that were not measured (no time or memory)")
    return [f"{case['name']}: {text}" for text in texts]
