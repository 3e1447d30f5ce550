// Padding and cropping of images: copies of rows, in any element type.
#include <algorithm>
#include <cstddef>
#include <cstring>
#include <memory>

#include "kernels/cpu/ops/images/planes.h"
#include "kernels/cpu/ops/parallel.h"
#include "kernels/cpu/ops/plans.h"
#include "kernels/cpu/ops/prepare.h"

namespace parbench::cpu {
namespace {

/// One dimension of an image with its edges.
struct Side {
  std::size_t source;  // extents of the source and of the destination
  std::size_t destination;
  std::size_t skipped;  // positions of the source before the first position of the destination
  std::size_t zeros;    // zeros in the destination before the first position of the source
  std::size_t copied;

  Side(std::int64_t from, std::int64_t before, std::int64_t behind)
      : source(static_cast<std::size_t>(from)),
        destination(static_cast<std::size_t>(from + before + behind)),
        skipped(static_cast<std::size_t>(std::max<std::int64_t>(-before, 0))),
        zeros(static_cast<std::size_t>(std::max<std::int64_t>(before, 0))),
        copied(std::min(source - skipped, destination - zeros)) {}
};

class PadImageOp final : public CpuOp {
 public:
  explicit PadImageOp(const PadImage& desc)
      : CpuOp(desc),
        rows_(desc.source[2], desc.edges.top, desc.edges.bottom),
        columns_(desc.source[3], desc.edges.left, desc.edges.right) {
    const Planes planes(desc.source, desc.dtype);
    pixel_bytes_ = planes.block * size_of(desc.dtype);
    planes_ = static_cast<std::size_t>(desc.source[0]) * planes.blocks();
    add_tensors(*this);
    set_implementation("copies of rows");
  }

  void execute(const Execution& execution, std::span<std::byte* const> arguments) override {
    const std::size_t row_bytes = columns_.destination * pixel_bytes_;
    parallel_ranges(planes_ * rows_.destination * row_bytes, row_bytes, execution.threads,
                    [&](std::size_t begin, std::size_t end) {
                      for (std::size_t i = begin; i < end; i += row_bytes) {
                        write_row(arguments[1] + i, arguments[0], i / row_bytes);
                      }
                    });
  }

 private:
  /// `number`: index of the row of the destination over all planes.
  void write_row(std::byte* row, const std::byte* source, std::size_t number) const {
    const std::size_t plane = number / rows_.destination;
    const std::size_t y = number % rows_.destination;
    if (y < rows_.zeros || y - rows_.zeros >= rows_.copied) {
      std::memset(row, 0, columns_.destination * pixel_bytes_);
      return;
    }
    const std::size_t from =
        (plane * rows_.source + y - rows_.zeros + rows_.skipped) * columns_.source +
        columns_.skipped;
    const std::size_t end = columns_.zeros + columns_.copied;
    std::memset(row, 0, columns_.zeros * pixel_bytes_);
    std::memcpy(row + columns_.zeros * pixel_bytes_, source + from * pixel_bytes_,
                columns_.copied * pixel_bytes_);
    std::memset(row + end * pixel_bytes_, 0, (columns_.destination - end) * pixel_bytes_);
  }

  Side rows_;
  Side columns_;
  std::size_t pixel_bytes_ = 0;  // bytes of a pixel of a block
  std::size_t planes_ = 0;       // planes of all samples
};

}  // namespace

Planned plan(const PadImage& desc) { return std::make_unique<PadImageOp>(desc); }

}  // namespace parbench::cpu
