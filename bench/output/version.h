// The version in `--version` and reports, set by CMake's project().
#pragma once

#include <string_view>

namespace parbench {

extern const std::string_view version;

}  // namespace parbench
