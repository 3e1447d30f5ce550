// The gradient of a convolution's weights as one matrix product over all output positions of the
// batch. oneDNN's kernels read all weights for each image, which is slow for small images and for
// many weights. With channels last, a 1×1 window without stride needs no gathering.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "kernels/cpu/onednn/layout.h"
#include "kernels/cpu/onednn/matrix_product.h"
#include "kernels/cpu/ops/parallel.h"
#include "kernels/cpu/ops/plans.h"

namespace parbench::cpu {
namespace {

using dnnl::memory;

// diff_weights (out × window) = diff_destinationᵀ (out × positions) · patches (positions × window).
// A row of `patches` contains the source elements inside the window at one output position: kernel
// rows, kernel columns, channels. With a 1×1 window and stride 1, `patches` is the source itself.
class WeightsProduct final : public CpuOp {
 public:
  explicit WeightsProduct(const ConvolutionBackwardWeights& desc)
      : CpuOp(desc),
        shape_(desc.shape),
        dtype_(desc.dtype),
        element_(size_of(desc.dtype)),
        positions_(desc.shape.batch * desc.shape.out_height() * desc.shape.out_width()),
        window_(desc.shape.kernel * desc.shape.kernel * desc.shape.in_channels),
        gathers_(!is_pointwise(desc.shape)) {
    const memory::data_type type = data_type_of(dtype_);
    add_tensor(describe({shape_.source(), type, memory::format_tag::nhwc}));
    add_tensor(describe({shape_.destination(), type, memory::format_tag::nhwc}));
    // Dimensions: output channels, kernel rows, kernel columns, input channels.
    add_tensor(describe({shape_.weights(), memory::data_type::f32, memory::format_tag::acdb}));
    plan_slices(desc.accumulate);
    set_kernel(slices_.front().product.kernel());
    set_implementation(implementation() + (gathers_ ? " over gathered patches" : " over pixels"));
  }

  void execute(const Execution& execution, std::span<std::byte* const> arguments) override {
    const std::size_t row = static_cast<std::size_t>(shape_.out_channels) * element_;
    for (Slice& slice : slices_) {
      std::byte* patches = arguments[0];
      if (gathers_) {
        patches = execution.scratch + patches_;
        gather(slice, arguments[0], execution);
      }
      slice.product.run(
          execution,
          {arguments[1] + static_cast<std::size_t>(slice.first) * row, patches, arguments[2]},
          execution.scratch);
    }
  }

 private:
  // Output positions whose patches are in memory at the same time. The first slice overwrites the
  // gradient unless `accumulate` is set; the other slices add to it.
  struct Slice {
    std::int64_t first;
    std::int64_t count;
    MatrixProduct product;
  };

  void plan_slices(bool accumulate) {
    constexpr std::int64_t max_bytes = std::int64_t{32} << 20;
    const std::int64_t row = window_ * static_cast<std::int64_t>(element_);
    const std::int64_t max_positions =
        gathers_ ? std::max<std::int64_t>(1, max_bytes / row) : positions_;
    const std::int64_t slices = (positions_ + max_positions - 1) / max_positions;
    const std::int64_t even = (positions_ + slices - 1) / slices;
    for (std::int64_t first = 0; first < positions_; first += even) {
      const std::int64_t count = std::min(even, positions_ - first);
      slices_.push_back({first, count,
                         MatrixProduct(plan_matrix_product(
                             matrix_desc(shape_.out_channels, count, true, dtype_),
                             matrix_desc(count, window_, false, dtype_),
                             matrix_desc(shape_.out_channels, window_, false, DType::f32),
                             accumulate || first > 0))});
    }
    std::size_t scratch = 0;
    for (const Slice& slice : slices_) scratch = std::max(scratch, slice.product.scratch_bytes());
    add_scratch(scratch);
    if (gathers_) patches_ = add_scratch(static_cast<std::size_t>(even * row));
  }

  void gather(const Slice& slice, const std::byte* source, const Execution& execution) const {
    std::byte* patches = execution.scratch + patches_;
    const std::size_t window = static_cast<std::size_t>(window_) * element_;
    parallel_ranges(static_cast<std::size_t>(slice.count) * window, window, execution.threads,
                    [&](std::size_t begin, std::size_t end) {
                      for (std::size_t i = begin; i < end; i += window) {
                        const auto position = static_cast<std::int64_t>(i / window);
                        gather(patches + i, source, slice.first + position);
                      }
                    });
  }

  void gather(std::byte* patch, const std::byte* source, std::int64_t position) const {
    const std::int64_t column = position % shape_.out_width() * shape_.stride - shape_.padding;
    const std::int64_t line = position / shape_.out_width();
    const std::int64_t row = line % shape_.out_height() * shape_.stride - shape_.padding;
    const std::int64_t image = line / shape_.out_height();
    const std::size_t pixel_bytes = static_cast<std::size_t>(shape_.in_channels) * element_;
    for (std::int64_t y = row; y < row + shape_.kernel; ++y) {
      for (std::int64_t x = column; x < column + shape_.kernel; ++x) {
        if (y < 0 || y >= shape_.height || x < 0 || x >= shape_.width) {
          std::memset(patch, 0, pixel_bytes);
        } else {
          const std::int64_t pixel = (image * shape_.height + y) * shape_.width + x;
          std::memcpy(patch, source + static_cast<std::size_t>(pixel) * pixel_bytes, pixel_bytes);
        }
        patch += pixel_bytes;
      }
    }
  }

  ConvolutionShape shape_;
  DType dtype_;
  std::size_t element_;  // bytes of an element
  std::int64_t positions_;
  std::int64_t window_;
  bool gathers_;
  std::vector<Slice> slices_;
  std::size_t patches_ = 0;  // offset of the gathered patches in scratch memory
};

}  // namespace

Planned plan_as_product(const ConvolutionBackwardWeights& desc) {
  return std::make_unique<WeightsProduct>(desc);
}

}  // namespace parbench::cpu
