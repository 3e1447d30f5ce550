#include "kernels/error.h"

#include <fmt/format.h>

namespace parbench {
namespace {

double mebibytes(std::size_t bytes) { return static_cast<double>(bytes) / (1024.0 * 1024.0); }

}  // namespace

OutOfMemory::OutOfMemory(const std::string& where, std::size_t asked_bytes,
                         std::size_t available_bytes)
    : Error(
          fmt::format("out of memory on {}: {:.1f} MiB asked, {:.1f} MiB available; use a smaller "
                      "batch, image or matrix",
                      where, mebibytes(asked_bytes), mebibytes(available_bytes))),
      asked_(asked_bytes),
      available_(available_bytes) {}

}  // namespace parbench
