#include "kernels/base/error.h"

#include <fmt/format.h>

#include "kernels/base/units/units.h"

namespace parbench {

OutOfMemory::OutOfMemory(const std::string& where, std::size_t asked_bytes,
                         std::size_t available_bytes)
    : Error(fmt::format(
          "out of memory on {}: {} requested, {} available; use a smaller batch, image or matrix",
          where, format_bytes(static_cast<double>(asked_bytes)),
          format_bytes(static_cast<double>(available_bytes)))),
      asked_(asked_bytes),
      available_(available_bytes) {}

}  // namespace parbench
