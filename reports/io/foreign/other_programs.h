// Recognises files of programs that parbench does not read.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string_view>

namespace parbench::report {

/// Throws UsageError that names the program and what parbench reads, if a file has the keys of
/// hyperfine, pytest-benchmark, JMH, nvbench, Android's benchmark library, BenchmarkDotNet,
/// nanobench or Criterion.
void refuse_other_programs(const nlohmann::ordered_json& file);

/// Throws UsageError with the remedy for a text with the header of Google Benchmark's CSV.
void refuse_google_benchmark_csv(std::string_view text);

}  // namespace parbench::report
