// The name of a benchmark of Google Benchmark as a strategy with parameters.
#pragma once

#include <string>

#include "reports/model/value.h"

namespace parbench::report {

struct BenchmarkName {
  std::string family;  // "Fixture/Method"
  /// In the order of the name: arguments under their names ("n:1024"), or by their place ("arg0"),
  /// "threads", "iterations" and the like, and "time" for the clock that was chosen ("real_time").
  NamedValues parameters;
};

/// Divides "BM_copy/n:1024/8/threads:2/real_time". A name of another form is a family without
/// parameters.
[[nodiscard]] BenchmarkName benchmark_name(const std::string& name);

}  // namespace parbench::report
