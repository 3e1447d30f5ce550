# Kernels of a compared case that make the comparison say little: fallbacks of our own where cuDNN has
# no engine, and engines that nobody has measured although that was asked for.
import re

FALLBACK = re.compile(r"\b(direct|widened|im2col)\b")
BY_HEURISTICS = "heuristics"


def doubts(case, autotune):
    """Texts, one for each kind of doubt about the kernels of a case of parbench's report."""
    fallbacks, untuned = {}, 0
    for kernel in case.get("kernels", []):
        count = kernel.get("count", 1)
        for word in set(FALLBACK.findall(kernel["implementation"])):
            name = f"{kernel['operation']}: {kernel['implementation']}"
            fallbacks.setdefault(word, []).append(f"{count}× {name}")
        if autotune and kernel.get("chosen_by") == BY_HEURISTICS:
            untuned += count
    texts = [f"{word} kernels: {'; '.join(names[:3])}" for word, names in fallbacks.items()]
    if untuned:
        texts.append(f"{untuned} operations have kernels that were not measured (no time or memory)")
    return [f"{case['name']}: {text}" for text in texts]
