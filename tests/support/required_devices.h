// Tests whose devices this machine does not have: skipped where that may be, failed where it must
// not.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <string_view>

namespace parbench::test {

/// Whether the environment says that these devices must be there (PARBENCH_REQUIRE_CUDA=1): those
/// of a GPU, whole or in parts. `devices` as in `--devices`.
inline bool is_required(std::string_view devices) {
  const char* wanted = std::getenv("PARBENCH_REQUIRE_CUDA");
  return wanted != nullptr && std::string_view(wanted) == "1" &&
         devices.find("cuda:") != std::string_view::npos;
}

/// Ends a test that the machine has no such devices for, as it stands in `why`. Several GPUs, and
/// libraries that a GPU can be used without, are never required: tests of those skip by themselves.
// NOLINTBEGIN(bugprone-macro-parentheses): `why` may be parts joined by <<
#define SKIP_WITHOUT_DEVICES(devices, why)                     \
  do {                                                         \
    if (::parbench::test::is_required(devices)) FAIL() << why; \
    GTEST_SKIP() << why;                                       \
  } while (false)
// NOLINTEND(bugprone-macro-parentheses)

}  // namespace parbench::test
