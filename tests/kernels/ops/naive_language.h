// The expected values of operations of language models.
#pragma once

#include "tests/kernels/ops/naive.h"

namespace parbench::test {

[[nodiscard]] Tensors compute(const EmbeddingForward& desc, const Tensors& inputs);
[[nodiscard]] Tensors compute(const EmbeddingBackward& desc, const Tensors& inputs);
[[nodiscard]] Tensors compute(const SoftmaxCrossEntropy& desc, const Tensors& inputs);
[[nodiscard]] Tensors compute(const AttentionForward& desc, const Tensors& inputs);
/// Takes nothing from the forward pass but its projections.
[[nodiscard]] Tensors compute(const AttentionBackward& desc, const Tensors& inputs);

}  // namespace parbench::test
