// The gradient of a convolution's weights as one matrix product over all output positions of the
// batch, for small images: what the kernels of oneDNN lose there is a pass over all weights for
// each image.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "kernels/cpu/onednn/layout.h"
#include "kernels/cpu/ops/parallel.h"
#include "kernels/cpu/ops/plans.h"

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
      : CpuOp(desc),
        shape_(desc.shape),
        positions_(desc.shape.batch * desc.shape.out_height() * desc.shape.out_width()),
        window_(desc.shape.kernel * desc.shape.kernel * desc.shape.in_channels) {
    add_tensor(channels_last(shape_.source()));
    add_tensor(channels_last(shape_.destination()));
    // Output channels, kernel rows, kernel columns, input channels.
    add_tensor(describe({shape_.weights(), memory::data_type::f32, memory::format_tag::acdb}));
    plan_slices(desc.accumulate);
    set_kernel(slices_.front().product->implementation());
    set_implementation(implementation() + " over gathered patches");
  }

  void execute(const Execution& execution, std::span<std::byte* const> arguments) override {
    const auto* source = reinterpret_cast<const float*>(arguments[0]);
    const auto row = static_cast<std::size_t>(shape_.out_channels) * sizeof(float);
    for (const Slice& slice : slices_) {
      gather(slice, source, execution);
      const std::array<std::byte*, 3> factors{
          arguments[1] + static_cast<std::size_t>(slice.first) * row, execution.scratch + patches_,
          arguments[2]};
      slice.product->execute(execution, factors);
    }
  }

 private:
  // Positions whose patches are in memory together; all slices but the first add to the gradient.
  struct Slice {
    std::int64_t first;
    std::int64_t count;
    Planned product;
  };

  void plan_slices(bool accumulate) {
    constexpr std::int64_t max_floats = std::int64_t{8} << 20;  // 32 MiB
    const std::int64_t max_positions = std::max<std::int64_t>(1, max_floats / window_);
    const std::int64_t slices = (positions_ + max_positions - 1) / max_positions;
    const std::int64_t even = (positions_ + slices - 1) / slices;
    for (std::int64_t first = 0; first < positions_; first += even) {
      const std::int64_t count = std::min(even, positions_ - first);
      slices_.push_back({first, count,
                         plan(Gemm{.m = shape_.out_channels,
                                   .n = window_,
                                   .k = count,
                                   .transpose_a = true,
                                   .accumulate = accumulate || first > 0})});
    }
    std::size_t scratch = 0;
    for (const Slice& slice : slices_) scratch = std::max(scratch, slice.product->scratch_bytes());
    add_scratch(scratch);
    patches_ = add_scratch(static_cast<std::size_t>(even * window_) * sizeof(float));
  }

  void gather(const Slice& slice, const float* source, const Execution& execution) const {
    auto* patches = reinterpret_cast<float*>(execution.scratch + patches_);
    const auto window = static_cast<std::size_t>(window_);
    parallel_ranges(static_cast<std::size_t>(slice.count) * window, window, execution.threads,
                    [&](std::size_t begin, std::size_t end) {
                      for (std::size_t i = begin; i < end; i += window) {
                        const auto position = static_cast<std::int64_t>(i / window);
                        gather(patches + i, source, slice.first + position);
                      }
                    });
  }

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
  std::vector<Slice> slices_;
  std::size_t patches_ = 0;  // where they begin in the scratch memory
};

}  // namespace

Planned plan_as_product(const ConvolutionBackwardWeights& desc) {
  return std::make_unique<GatheredProduct>(desc);
}

}  // namespace parbench::cpu
