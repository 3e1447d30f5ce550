// Splits the name of a Google Benchmark into a strategy and parameters.
#pragma once

#include <string>

#include "reports/model/value.h"

namespace parbench::report {

struct BenchmarkName {
  std::string family;  // "Fixture/Method"
  /// In the order of the name: arguments by name ("n:1024") or by index ("arg0"), "threads",
  /// "iterations" and similar ones, and "time" for the chosen clock ("real_time").
  NamedValues parameters;
};

/// Splits "BM_copy/n:1024/8/threads:2/real_time". A name of another form becomes a family without
/// parameters.
[[nodiscard]] BenchmarkName benchmark_name(const std::string& name);

}  // namespace parbench::report
