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

// Functions that write are synchronous. Tensors may have any layout and floating-point type, unless
// a comment restricts them.

/// Writes the random or constant numbers that an f32 Fill generates; `numbers.count` must be the
/// tensor's number of elements.
void draw(Stream& stream, const TensorDesc& tensor, BufferView view, const Fill& numbers);
/// Writes the numbers of several f32 Fills, one after the other; their counts must add up to the
/// tensor's number of elements.
void draw_parts(Stream& stream, const TensorDesc& tensor, BufferView view,
                const std::vector<Fill>& parts);
/// Returns the numbers of an f32 Fill on the host.
[[nodiscard]] std::vector<float> drawn_on_host(const Fill& numbers);
/// Multiplies each f32 value by 1 + `change` or 1 − `change`. The signs are random, differ for each
/// n = |`perturbation`| (Context::perturbation, not 0), and are opposite for n and −n.
void perturb(Stream& stream, BufferView values, int perturbation, double change);
/// Writes random integers from 0 to `end` − 1; the tensor must be canonical and of type i32.
void draw_integers(Stream& stream, const TensorDesc& tensor, BufferView view, std::int64_t end,
                   RandomStream numbers);

/// Returns a function that writes the input of the whole batch: tokens, padded if their number
/// varies between samples, or standard normal numbers. The function keeps a reference to the
/// stream, not to the range.
[[nodiscard]] std::function<void(BufferView)> writer_of_inputs(Stream& stream,
                                                               const StageRange& range,
                                                               std::uint64_t seed);

/// Like `writer_of_inputs`, for the target of the whole batch: class numbers (negative for
/// padding), one-hot rows or standard normal numbers.
[[nodiscard]] std::function<void(BufferView)> writer_of_target(Stream& stream,
                                                               const StageRange& range,
                                                               std::uint64_t seed);

/// Returns the Fill that draws the initial values of a parameter in canonical order. Each parameter
/// of the network has its own subsequence.
[[nodiscard]] Fill initial_fill(const Network& network, const ParameterSpec& spec,
                                std::uint64_t seed);

/// Copies f32 values from the host to `view`.
void copy_values(Stream& stream, std::vector<float> values, BufferView view);

}  // namespace parbench
