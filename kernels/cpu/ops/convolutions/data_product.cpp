// The gradient of the source of a 1×1 convolution as one matrix product over all output positions
// of the batch, with channels last.
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>

#include "kernels/cpu/onednn/layout.h"
#include "kernels/cpu/onednn/matrix_product.h"
#include "kernels/cpu/ops/parallel.h"
#include "kernels/cpu/ops/plans.h"

namespace parbench::cpu {
namespace {

using dnnl::memory;

dnnl::matmul::primitive_desc plan_product(const ConvolutionBackwardData& desc) {
  const ConvolutionShape& shape = desc.shape;
  const std::int64_t positions = shape.batch * shape.out_height() * shape.out_width();
  return plan_matrix_product(matrix_desc(positions, shape.out_channels, false, desc.dtype),
                             matrix_desc(shape.out_channels, shape.in_channels, false, desc.dtype),
                             matrix_desc(positions, shape.in_channels, false, desc.dtype), false);
}

// diff_source (positions × in) = diff_destination (positions × out) · weights (out × in). With a
// stride, the product is written to scratch memory first; its rows are then copied to the pixels
// that the window reads, and the other pixels are set to zero.
class DataProduct final : public CpuOp {
 public:
  explicit DataProduct(const ConvolutionBackwardData& desc)
      : CpuOp(desc),
        shape_(desc.shape),
        pixel_bytes_(static_cast<std::size_t>(desc.shape.in_channels) * size_of(desc.dtype)),
        spreads_(!is_pointwise(desc.shape)),
        product_(plan_product(desc)) {
    const memory::data_type type = data_type_of(desc.dtype);
    add_tensor(describe({shape_.destination(), type, memory::format_tag::nhwc}));
    add_tensor(canonical(shape_.weights(), desc.dtype));
    add_tensor(describe({shape_.source(), type, memory::format_tag::nhwc}));
    add_scratch(product_.scratch_bytes());
    set_kernel(product_.kernel());
    if (!spreads_) return;
    const std::int64_t positions = shape_.batch * shape_.out_height() * shape_.out_width();
    rows_ = add_scratch(static_cast<std::size_t>(positions) * pixel_bytes_);
    set_implementation(implementation() + ", spread over the source");
  }

  void execute(const Execution& execution, std::span<std::byte* const> arguments) override {
    std::byte* rows = spreads_ ? execution.scratch + rows_ : arguments[2];
    product_.run(execution, {arguments[0], arguments[1], rows}, execution.scratch);
    if (spreads_) spread(arguments[2], rows, execution);
  }

 private:
  void spread(std::byte* image, const std::byte* rows, const Execution& execution) const {
    const std::size_t line = static_cast<std::size_t>(shape_.width) * pixel_bytes_;
    const auto lines = static_cast<std::size_t>(shape_.batch * shape_.height);
    parallel_ranges(lines * line, line, execution.threads, [&](std::size_t begin, std::size_t end) {
      for (std::size_t i = begin; i < end; i += line) {
        spread_line(image + i, rows, static_cast<std::int64_t>(i / line));
      }
    });
  }

  // `number`: index of the line among the lines of all images.
  void spread_line(std::byte* line, const std::byte* rows, std::int64_t number) const {
    std::memset(line, 0, static_cast<std::size_t>(shape_.width) * pixel_bytes_);
    const std::int64_t y = number % shape_.height;
    if (y % shape_.stride != 0) return;
    const std::int64_t image = number / shape_.height;
    const std::int64_t first =
        (image * shape_.out_height() + y / shape_.stride) * shape_.out_width();
    for (std::int64_t x = 0; x < shape_.out_width(); ++x) {
      std::memcpy(line + static_cast<std::size_t>(x * shape_.stride) * pixel_bytes_,
                  rows + static_cast<std::size_t>(first + x) * pixel_bytes_, pixel_bytes_);
    }
  }

  ConvolutionShape shape_;
  std::size_t pixel_bytes_;
  bool spreads_;
  MatrixProduct product_;
  std::size_t rows_ = 0;  // offset of the product in scratch memory, with a stride
};

}  // namespace

Planned plan_as_product(const ConvolutionBackwardData& desc) {
  return std::make_unique<DataProduct>(desc);
}

}  // namespace parbench::cpu
