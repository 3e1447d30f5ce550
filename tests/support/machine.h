// The machine of all tests that need no machine of their own.
#pragma once

#include "kernels/machine/machine.h"

namespace parbench::test {

/// Looking for devices and loading libraries takes longer than most tests, so it is done once. The
/// machine outlives every test and is never destroyed: devices of static duration may refer to it.
inline const Machine& machine() {
  static const Machine& one = *new Machine();  // NOLINT(cppcoreguidelines-owning-memory)
  return one;
}

}  // namespace parbench::test
