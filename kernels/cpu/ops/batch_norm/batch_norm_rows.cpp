// Batch normalisation in training, and its backward pass, for channels last. The loops include the
// addition and the clamp (docs/decisions/cpu-kernels.md).
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "kernels/base/element.h"
#include "kernels/cpu/ops/batch_norm/batch_norm_loops.h"
#include "kernels/cpu/ops/batch_norm/batch_norm_slots.h"
#include "kernels/cpu/ops/flat_loops.h"
#include "kernels/cpu/ops/plans.h"
#include "kernels/cpu/ops/prepare.h"

namespace parbench::cpu {
namespace {

PixelRows rows_of(const Shape& shape) {
  return {static_cast<std::size_t>(shape[0] * shape[2] * shape[3]),
          static_cast<std::size_t>(shape[1])};
}

std::size_t mask_bytes_of(const Shape& shape) {
  return mask_bytes(static_cast<std::size_t>(element_count(shape)));
}

class ForwardOp final : public CpuOp {
 public:
  explicit ForwardOp(const BatchNormForward& desc)
      : CpuOp(desc), desc_(desc), pixels_(rows_of(desc.shape)) {
    add_tensors(*this, mask_bytes_of(desc.shape));
    add_scratch(sums_bytes(pixels_));
    factor_ = add_scratch(pixels_.channels * sizeof(float));
    set_implementation("vector loops over pixels");
  }

  void execute(const Execution& execution, std::span<std::byte* const> arguments) override {
    with_element(desc_.dtype,
                 [&]<class Element>(Element /*unused*/) { run<Element>(execution, arguments); });
  }

 private:
  template <class Element>
  void run(const Execution& execution, std::span<std::byte* const> arguments) const {
    const auto* source = reinterpret_cast<const Element*>(arguments[forward_slot::source]);
    float* mean = floats(arguments[forward_slot::mean]);
    float* variance = floats(arguments[forward_slot::variance]);
    float* factor = floats(execution.scratch + factor_);
    moments(mean, variance, source, pixels_, execution.scratch, execution.threads);
    for (std::size_t c = 0; c < pixels_.channels; ++c) {
      factor[c] =
          floats(arguments[forward_slot::scale])[c] / std::sqrt(variance[c] + desc_.epsilon);
    }
    normalise<Element>(
        {.destination = reinterpret_cast<Element*>(arguments[forward_slot::destination]),
         .mask =
             desc_.relu ? reinterpret_cast<std::uint8_t*>(arguments[forward_slot::mask]) : nullptr,
         .source = source,
         .addend = desc_.add ? reinterpret_cast<const Element*>(arguments[forward_slot::addend])
                             : nullptr,
         .mean = mean,
         .factor = factor,
         .shift = floats(arguments[forward_slot::shift])},
        pixels_, execution.threads);
    move_running(desc_, arguments);
  }

  BatchNormForward desc_;
  PixelRows pixels_;
  std::size_t factor_;  // offset of Normalisation::factor in scratch memory
};

class BackwardOp final : public CpuOp {
 public:
  explicit BackwardOp(const BatchNormBackward& desc)
      : CpuOp(desc), desc_(desc), pixels_(rows_of(desc.shape)) {
    add_tensors(*this, mask_bytes_of(desc.shape));
    add_scratch(sums_bytes(pixels_));
    factors_ = add_scratch(3 * pixels_.channels * sizeof(float));
    set_implementation("vector loops over pixels");
  }

  void execute(const Execution& execution, std::span<std::byte* const> arguments) override {
    with_element(desc_.dtype,
                 [&]<class Element>(Element /*unused*/) { run<Element>(execution, arguments); });
  }

 private:
  template <class Element>
  void run(const Execution& execution, std::span<std::byte* const> arguments) const {
    const NormGradient<Element> tensors{
        .gradient = reinterpret_cast<const Element*>(arguments[1]),
        .mask = desc_.relu ? reinterpret_cast<const std::uint8_t*>(arguments[6]) : nullptr,
        .source = reinterpret_cast<const Element*>(arguments[0]),
        .mean = floats(arguments[2])};
    const std::span outputs = arguments.subspan(desc_.relu ? 7 : 6);
    float* factor = floats(execution.scratch + factors_);
    float* sums = factor + pixels_.channels;
    float* products = sums + pixels_.channels;
    gradient_sums(sums, products, tensors, pixels_, execution.scratch, execution.threads);
    set_factors(factor, sums, products, arguments, outputs);
    source_gradient(reinterpret_cast<Element*>(outputs[0]), tensors,
                    {.gradient = factor, .distance = products, .offset = sums}, pixels_,
                    execution.threads);
  }

  // With n pixels, r = 1/sqrt(variance + epsilon), s = Σ gradient, p = Σ gradient·(source − mean):
  // diff_shift = s, diff_scale = r·p, and diff_source = scale·r·(gradient − s/n −
  // (source − mean)·r²·p/n). Ioffe, Szegedy 2015: "Batch Normalization", section 3.
  // On return, `sums` and `products` are GradientFactors::offset and GradientFactors::distance.
  void set_factors(float* factor, float* sums, float* products,
                   std::span<std::byte* const> arguments,
                   std::span<std::byte* const> outputs) const {
    const float* variance = floats(arguments[3]);
    const float* scale = floats(arguments[4]);
    const auto count = static_cast<float>(pixels_.rows);
    for (std::size_t c = 0; c < pixels_.channels; ++c) {
      const float deviation = 1.0F / std::sqrt(variance[c] + desc_.epsilon);
      set_gradient(floats(outputs[1])[c], deviation * products[c]);
      set_gradient(floats(outputs[2])[c], sums[c]);
      factor[c] = scale[c] * deviation;
      products[c] *= -factor[c] * deviation * deviation / count;
      sums[c] *= -factor[c] / count;
    }
  }

  void set_gradient(float& gradient, float value) const {
    gradient = desc_.accumulate ? gradient + value : value;
  }

  BatchNormBackward desc_;
  PixelRows pixels_;
  std::size_t factors_;  // offset of the arrays of GradientFactors in scratch memory
};

}  // namespace

Planned plan_over_pixels(const BatchNormForward& desc) { return std::make_unique<ForwardOp>(desc); }

Planned plan_over_pixels(const BatchNormBackward& desc) {
  return std::make_unique<BackwardOp>(desc);
}

}  // namespace parbench::cpu
