// Data of a batch and initial parameters: random inputs and targets, the same on every device.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "kernels/base/random.h"
#include "kernels/base/tensor.h"
#include "kernels/core/buffer.h"
#include "kernels/core/stream.h"
#include "kernels/ops/ops.h"
#include "scenarios/training/program/stage_program.h"

namespace parbench {

// All functions write synchronously to a tensor of any layout and type, whose memory outlives the
// case.

/// Writes the numbers of a Fill; its count and type are ignored in favour of the tensor's.
void draw(Stream& stream, const TensorDesc& tensor, BufferView view, const Fill& numbers);
/// Writes the numbers of several Fills, one after the other; their counts must add up to the
/// tensor's.
void draw_parts(Stream& stream, const TensorDesc& tensor, BufferView view,
                const std::vector<Fill>& parts);
/// Writes standard normal numbers. `part`: selects positions of a canonical tensor with all
/// positions.
void draw_normal(Stream& stream, const TensorDesc& tensor, BufferView view, RandomStream numbers,
                 PositionPart part = {});
/// Returns the numbers of an f32 Fill.
[[nodiscard]] std::vector<float> drawn_on_host(const Fill& numbers);
/// Multiplies each f32 value by 1 + `change` or 1 − `change`, selected by `perturbation`
/// (Context::perturbation), which must not be 0.
void perturb(Stream& stream, BufferView values, int perturbation, double change);
/// Writes {samples, classes}: one class per sample is 1, the others 0.
void draw_one_hot(Stream& stream, const TensorDesc& tensor, BufferView view, RandomStream numbers);

/// Samples of different lengths, padded with `value`.
struct PaddedSamples {
  std::vector<std::int64_t> lengths;  // length of each sample; empty: no padding
  std::int32_t value = 0;
};

/// Writes integers from 0 to `end` − 1; the tensor must be canonical and of type i32.
void draw_integers(Stream& stream, const TensorDesc& tensor, BufferView view, std::int64_t end,
                   RandomStream numbers, const PaddedSamples& padding = {});

/// Returns the lengths of the samples of a batch, with `value` as padding.
[[nodiscard]] PaddedSamples padding_of(const StageRange& range, std::int32_t value);

/// Subsequence of the generator for targets.
inline constexpr std::uint64_t target_subsequence = 2;

/// Returns a function that writes the input of the whole batch: padded tokens, or standard normal
/// numbers. It refers only to the stream.
[[nodiscard]] std::function<void(BufferView)> writer_of_inputs(Stream& stream,
                                                               const StageRange& range,
                                                               std::uint64_t seed);

/// Returns the initial values of a parameter in canonical order; each parameter of the network has
/// its own subsequence.
[[nodiscard]] Fill initial_fill(const Network& network, const ParameterSpec& spec,
                                std::uint64_t seed);

/// Copies f32 values from the host.
void copy_values(Stream& stream, std::vector<float> values, BufferView view);

}  // namespace parbench
