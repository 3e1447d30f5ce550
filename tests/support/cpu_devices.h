// The CPU devices of a test, whatever this machine's default backend is.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "kernels/machine/machine.h"

namespace parbench::test {

/// cpu:0 to cpu:<count − 1>.
inline std::vector<std::unique_ptr<Device>> cpu_devices(int count, const Machine& machine = {},
                                                        bool spare_for_copies = false) {
  std::string names;
  for (int i = 0; i < count; ++i) names += (i == 0 ? "cpu:" : ",cpu:") + std::to_string(i);
  return machine.open(names, {.spare_for_copies = spare_for_copies});
}

}  // namespace parbench::test
