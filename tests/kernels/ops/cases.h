// The table of operation cases that every backend answers to: one row per case.
#pragma once

#include <cstdint>
#include <map>
#include <ostream>
#include <string>
#include <vector>

#include "tests/kernels/harness.h"

namespace parbench::test {

/// How the random values of an input, uniform in [-1, 1), are replaced: all results are exact in
/// bf16 but those of `offset`.
enum class Pattern {
  large,      // 128 times as large
  sharp,      // 8 times as large: what a softmax makes nearly one 1 of, and zeros
  rounded,    // -1, 0 or 1: what saturated functions return
  equal,      // all the same
  zero,       // all 0
  dominated,  // one of 61 elements is 128
  peaked,     // one of 61 elements is 16
  first_far,  // the first element is 1024
  offset,     // 128 is added: a mean far above the spread
};

struct OperationCase {
  std::string name;
  OpDesc desc;
  double relative = 0;  // tolerance, see expect_close; 0: exact
  InPlace in_place = {};
  std::map<std::string, Pattern> patterns = {};  // of inputs, by role

  /// Returns the inputs with which the case is run.
  [[nodiscard]] Tensors inputs(const Trial& trial, std::uint64_t seed) const;
};

[[nodiscard]] const std::vector<OperationCase>& operation_cases();
/// Parts of them.
[[nodiscard]] std::vector<OperationCase> image_cases();
[[nodiscard]] std::vector<OperationCase> lstm_cases();
[[nodiscard]] std::vector<OperationCase> map_cases();
/// Saturated, equal, zero and dominating values through exponentials, roots, quotients and sums.
[[nodiscard]] std::vector<OperationCase> extreme_cases();

/// Those of them that other kernels compute than the small shapes do. They would take minutes on
/// emulated GPUs, whose kernels are the same for all sizes: there are none.
[[nodiscard]] std::vector<OperationCase> kernel_size_cases();

inline void PrintTo(const OperationCase& one, std::ostream* out) { *out << one.name; }

}  // namespace parbench::test
