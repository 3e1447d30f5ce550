// The version that `--version` and reports name; CMake's project() decides it.
#pragma once

#include <string_view>

namespace parbench {

extern const std::string_view version;

}  // namespace parbench
