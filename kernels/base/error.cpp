#include "kernels/base/error.h"

#include <fmt/format.h>

namespace parbench {
namespace {

std::string in_words(std::size_t bytes) {
  const double mebibytes = static_cast<double>(bytes) / (1U << 20U);
  return mebibytes < 1024 ? fmt::format("{:.1f} MiB", mebibytes)
                          : fmt::format("{:.1f} GiB", mebibytes / 1024);
}

}  // namespace

OutOfMemory::OutOfMemory(const std::string& where, std::size_t asked_bytes,
                         std::size_t available_bytes)
    : Error(fmt::format(
          "out of memory on {}: {} requested, {} available; use a smaller batch, image or matrix",
          where, in_words(asked_bytes), in_words(available_bytes))),
      asked_(asked_bytes),
      available_(available_bytes) {}

}  // namespace parbench
