// The gradient of a convolution's weights as one matrix product over all output positions of the
// batch, for small images: what the kernels of oneDNN lose there is a pass over all weights for
// each image.
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>

#include "kernels/cpu/layout.h"
#include "kernels/cpu/parallel.h"
#include "kernels/cpu/plans.h"

namespace parbench::cpu {
namespace {

using dnnl::memory;

TensorDesc channels_last(const Shape& shape) {
  return describe({shape, memory::data_type::f32, memory::format_tag::nhwc});
}

// diff_weights (out × window) = diff_destinationᵀ (out × positions) · patches (positions × window),
// where a row of `patches` is what the window sees of the source at one output position: kernel
// rows, kernel columns, channels.
class GatheredProduct final : public CpuOp {
 public:
  explicit GatheredProduct(const ConvolutionBackwardWeights& desc)
      : CpuOp(name_of(desc)),
        shape_(desc.shape),
        positions_(desc.shape.batch * desc.shape.out_height() * desc.shape.out_width()),
        window_(desc.shape.kernel * desc.shape.kernel * desc.shape.in_channels),
        product_(plan(Gemm{.m = desc.shape.out_channels,
                           .n = window_,
                           .k = positions_,
                           .transpose_a = true,
                           .accumulate = desc.accumulate})) {
    add_argument("source", Access::read, channels_last(shape_.source()));
    add_argument("diff_destination", Access::read, channels_last(shape_.destination()));
    // Output channels, kernel rows, kernel columns, input channels.
    add_argument("diff_weights", desc.accumulate ? Access::read_write : Access::write,
                 describe({shape_.weights(), memory::data_type::f32, memory::format_tag::acdb}));
    add_scratch(product_->scratch_bytes());
    patches_ = add_scratch(static_cast<std::size_t>(positions_ * window_) * sizeof(float));
    set_kernel(product_->implementation());
    set_implementation(implementation() + " over gathered patches");
  }

  void execute(const Execution& execution, std::span<std::byte* const> arguments) override {
    auto* patches = reinterpret_cast<float*>(execution.scratch + patches_);
    const auto* source = reinterpret_cast<const float*>(arguments[0]);
    const auto window = static_cast<std::size_t>(window_);
    parallel_ranges(static_cast<std::size_t>(positions_) * window, window, execution.threads,
                    [&](std::size_t begin, std::size_t end) {
                      for (std::size_t i = begin; i < end; i += window) {
                        gather(patches + i, source, static_cast<std::int64_t>(i / window));
                      }
                    });
    const std::array<std::byte*, 3> factors{arguments[1], execution.scratch + patches_,
                                            arguments[2]};
    product_->execute(execution, factors);
  }

 private:
  void gather(float* patch, const float* source, std::int64_t position) const {
    const std::int64_t column = position % shape_.out_width() * shape_.stride - shape_.padding;
    const std::int64_t line = position / shape_.out_width();
    const std::int64_t row = line % shape_.out_height() * shape_.stride - shape_.padding;
    const std::int64_t image = line / shape_.out_height();
    const auto bytes = static_cast<std::size_t>(shape_.in_channels) * sizeof(float);
    for (std::int64_t y = row; y < row + shape_.kernel; ++y) {
      for (std::int64_t x = column; x < column + shape_.kernel; ++x) {
        if (y < 0 || y >= shape_.height || x < 0 || x >= shape_.width) {
          std::memset(patch, 0, bytes);
        } else {
          const std::int64_t pixel = (image * shape_.height + y) * shape_.width + x;
          std::memcpy(patch, source + pixel * shape_.in_channels, bytes);
        }
        patch += shape_.in_channels;
      }
    }
  }

  ConvolutionShape shape_;
  std::int64_t positions_;
  std::int64_t window_;
  Planned product_;
  std::size_t patches_ = 0;  // where they begin in the scratch memory
};

}  // namespace

Planned plan_as_product(const ConvolutionBackwardWeights& desc) {
  return std::make_unique<GatheredProduct>(desc);
}

}  // namespace parbench::cpu
