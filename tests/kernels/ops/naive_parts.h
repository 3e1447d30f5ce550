// What the sources of the naive loops share, and the loops that do not lie beside `naive` itself.
#pragma once

#include <cstddef>
#include <string_view>

#include "tests/kernels/ops/naive.h"

namespace parbench::test {

inline std::size_t size(std::int64_t count) { return static_cast<std::size_t>(count); }
inline std::size_t size(const Shape& shape) { return size(element_count(shape)); }

inline const Values& in(const Tensors& inputs, std::string_view role) {
  return inputs.find(role)->second;
}

/// Starts an output: zero, or what it held before.
inline Values start(const Tensors& inputs, std::string_view role, std::size_t count,
                    bool accumulate) {
  return accumulate ? in(inputs, role) : Values(count, 0.0);
}

// Of naive_layers.cpp: activation functions, normalisation, dropout and scaling.
[[nodiscard]] Tensors compute(const ActivationForward& desc, const Tensors& inputs);
[[nodiscard]] Tensors compute(const ActivationBackward& desc, const Tensors& inputs);
[[nodiscard]] Tensors compute(const LayerNormForward& desc, const Tensors& inputs);
[[nodiscard]] Tensors compute(const LayerNormBackward& desc, const Tensors& inputs);
[[nodiscard]] Tensors compute(const Dropout& desc, const Tensors& inputs);
[[nodiscard]] Tensors compute(const Scale& desc, const Tensors& inputs);

// Of naive_lstm.cpp.
[[nodiscard]] Tensors compute(const LstmForward& desc, const Tensors& inputs);
[[nodiscard]] Tensors compute(const LstmBackwardData& desc, const Tensors& inputs);
[[nodiscard]] Tensors compute(const LstmBackwardWeights& desc, const Tensors& inputs);

// Of naive_optimisers.cpp.
[[nodiscard]] Tensors compute(const Sgd& desc, const Tensors& inputs);
[[nodiscard]] Tensors compute(const Adam& desc, const Tensors& inputs);
[[nodiscard]] Tensors compute(const SquaredNorm& desc, const Tensors& inputs);
[[nodiscard]] Tensors compute(const ClipFactor& desc, const Tensors& inputs);

// Of naive_images.cpp.
[[nodiscard]] Tensors compute(const AveragePoolForward& desc, const Tensors& inputs);
[[nodiscard]] Tensors compute(const AveragePoolBackward& desc, const Tensors& inputs);
[[nodiscard]] Tensors compute(const LocalResponseNormForward& desc, const Tensors& inputs);
[[nodiscard]] Tensors compute(const LocalResponseNormBackward& desc, const Tensors& inputs);
[[nodiscard]] Tensors compute(const SliceChannels& desc, const Tensors& inputs);
[[nodiscard]] Tensors compute(const InsertChannels& desc, const Tensors& inputs);
[[nodiscard]] Tensors compute(const ShuffleChannels& desc, const Tensors& inputs);
[[nodiscard]] Tensors compute(const AddChannelBias& desc, const Tensors& inputs);
[[nodiscard]] Tensors compute(const SumChannels& desc, const Tensors& inputs);
[[nodiscard]] Tensors compute(const PadImage& desc, const Tensors& inputs);

// Of naive_map.cpp.
[[nodiscard]] Tensors compute(const Map& desc, const Tensors& inputs);

}  // namespace parbench::test
