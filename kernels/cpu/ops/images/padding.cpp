// Padding and cropping of images: copies of rows, in any element type.
#include <algorithm>
#include <cstddef>
#include <cstring>

#include "kernels/cpu/ops/images/planes.h"
#include "kernels/cpu/ops/loop_op.h"
#include "kernels/cpu/ops/parallel.h"

namespace parbench::cpu {
namespace {

/// One dimension of an image with its edges.
struct Side {
  std::size_t source;       // extent of the source
  std::size_t destination;  // extent of the destination
  std::size_t skipped;      // positions of the source before the first position of the destination
  std::size_t zeros;        // zeros in the destination before the first position of the source
  std::size_t copied;       // positions of the source in the destination

  Side(std::int64_t from, std::int64_t before, std::int64_t after)
      : source(static_cast<std::size_t>(from)),
        destination(static_cast<std::size_t>(from + before + after)),
        skipped(static_cast<std::size_t>(std::max<std::int64_t>(-before, 0))),
        zeros(static_cast<std::size_t>(std::max<std::int64_t>(before, 0))),
        copied(std::min(source - skipped, destination - zeros)) {}
};

/// Writes a row of a plane, whose pixels have `bytes` bytes. `number`: index of the row of the
/// destination over all planes.
void write_row(std::byte* row, const std::byte* source, std::size_t number, const Side& rows,
               const Side& columns, std::size_t bytes) {
  const std::size_t plane = number / rows.destination;
  const std::size_t y = number % rows.destination;
  if (y < rows.zeros || y - rows.zeros >= rows.copied) {
    std::memset(row, 0, columns.destination * bytes);
    return;
  }
  const std::size_t from =
      (plane * rows.source + y - rows.zeros + rows.skipped) * columns.source + columns.skipped;
  const std::size_t end = columns.zeros + columns.copied;
  std::memset(row, 0, columns.zeros * bytes);
  std::memcpy(row + columns.zeros * bytes, source + from * bytes, columns.copied * bytes);
  std::memset(row + end * bytes, 0, (columns.destination - end) * bytes);
}

}  // namespace

Planned plan(const PadImage& desc) {
  const Side rows(desc.source[2], desc.edges.top, desc.edges.bottom);
  const Side columns(desc.source[3], desc.edges.left, desc.edges.right);
  const Planes planes(desc.source, desc.dtype);
  const std::size_t pixel = planes.block * size_of(desc.dtype);  // bytes of a pixel in one block
  const std::size_t count = static_cast<std::size_t>(desc.source[0]) * planes.blocks();
  const LoopNeeds needs{.implementation = "copies of rows"};
  return loop_op(desc, needs, [=](const Execution& execution, Addresses at) {
    const std::size_t bytes = columns.destination * pixel;
    parallel_ranges(count * rows.destination * bytes, bytes, execution.threads,
                    [&](std::size_t begin, std::size_t end) {
                      for (std::size_t i = begin; i < end; i += bytes) {
                        write_row(at[1] + i, at[0], i / bytes, rows, columns, pixel);
                      }
                    });
  });
}

}  // namespace parbench::cpu
