// What a batch is made of before training: random inputs and targets, the same on every device.
#pragma once

#include <cstdint>
#include <vector>

#include "kernels/base/random.h"
#include "kernels/base/tensor.h"
#include "kernels/core/buffer.h"
#include "kernels/core/stream.h"
#include "kernels/ops/ops.h"

namespace parbench {

// All of them write synchronously, into a tensor of any layout and type, memory that outlives a
// case.

/// The numbers of a Fill, whose count and type are the tensor's in canonical f32.
void draw(Stream& stream, const TensorDesc& tensor, BufferView view, const Fill& numbers);
/// Standard normal numbers.
void draw_normal(Stream& stream, const TensorDesc& tensor, BufferView view, RandomStream numbers);
/// {samples, classes}: one class a sample is 1, the rest 0.
void draw_one_hot(Stream& stream, const TensorDesc& tensor, BufferView view, RandomStream numbers);

/// Samples of different lengths, with `value` behind each.
struct Padding {
  std::vector<std::int64_t> lengths;  // of each sample; empty: there is no padding
  std::int32_t value = 0;
};

/// Integers from 0 to below `end`; the tensor is canonical and of i32.
void draw_integers(Stream& stream, const TensorDesc& tensor, BufferView view, std::int64_t end,
                   RandomStream numbers, const Padding& padding = {});

/// Copies f32 values from the host.
void copy_values(Stream& stream, std::vector<float> values, BufferView view);

}  // namespace parbench
