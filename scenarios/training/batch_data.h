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
/// The numbers of an f32 Fill on the host.
[[nodiscard]] std::vector<float> drawn_on_host(const Fill& numbers);
/// Multiplies each f32 value by 1 + `change` or 1 − `change`, selected by `perturbation`
/// (Context::perturbation), which must not be 0.
void perturb(Stream& stream, BufferView values, int perturbation, double change);
/// Integers from 0 to below `end`; the tensor is canonical and of i32.
void draw_integers(Stream& stream, const TensorDesc& tensor, BufferView view, std::int64_t end,
                   RandomStream numbers);

/// Returns a function that writes the input of the whole batch: padded tokens, or standard normal
/// numbers. It refers only to the stream.
[[nodiscard]] std::function<void(BufferView)> writer_of_inputs(Stream& stream,
                                                               const StageRange& range,
                                                               std::uint64_t seed);

/// Writes what the predictions of the whole batch are held to. Refers to the stream alone.
[[nodiscard]] std::function<void(BufferView)> writer_of_target(Stream& stream,
                                                               const StageRange& range,
                                                               std::uint64_t seed);

/// What a parameter holds before training, in canonical order: a subsequence for each place in the
/// network.
[[nodiscard]] Fill initial_fill(const Network& network, const ParameterSpec& spec,
                                std::uint64_t seed);

/// Copies f32 values from the host.
void copy_values(Stream& stream, std::vector<float> values, BufferView view);

}  // namespace parbench
