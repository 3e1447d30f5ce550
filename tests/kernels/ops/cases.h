// The table of operation cases that every backend answers to: one row per case.
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "tests/kernels/harness.h"

namespace parbench::test {

struct OperationCase {
  std::string name;
  OpDesc desc;
  double relative = 0;  // tolerance, see expect_close; 0: exact
  InPlace in_place = {};
};

[[nodiscard]] const std::vector<OperationCase>& operation_cases();
/// Parts of them.
[[nodiscard]] std::vector<OperationCase> image_cases();
[[nodiscard]] std::vector<OperationCase> lstm_cases();

/// Those of them that other kernels compute than the small shapes do. They would take minutes on
/// emulated GPUs, whose kernels are the same for all sizes: there are none.
[[nodiscard]] std::vector<OperationCase> kernel_size_cases();

inline void PrintTo(const OperationCase& one, std::ostream* out) { *out << one.name; }

}  // namespace parbench::test
