// Recognises files of programs that parbench cannot read.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string_view>

namespace parbench::report {

/// Throws UsageError, which names the program and the formats that parbench reads, if a file has
/// the keys of hyperfine, pytest-benchmark, JMH, nvbench, Android's benchmark library,
/// BenchmarkDotNet, nanobench or Criterion.
void refuse_other_programs(const nlohmann::ordered_json& file);

/// Returns whether a text has the header of Google Benchmark's CSV.
[[nodiscard]] bool has_google_benchmark_csv(std::string_view text);

/// Throws UsageError with the remedy for Google Benchmark's CSV.
[[noreturn]] void refuse_google_benchmark_csv();

}  // namespace parbench::report
