// What both fuzzers end with when something does not hold for an input.
#pragma once

#include <cstdlib>
#include <iostream>
#include <string_view>

/// Aborts, which libFuzzer reports with the input, unless the condition holds.
inline void require(bool condition, std::string_view what) {
  if (condition) return;
  std::cerr << "not fulfilled: " << what << '\n';
  std::abort();
}
