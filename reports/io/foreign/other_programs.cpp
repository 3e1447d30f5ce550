// Recognises programs by keys of their files.
#include "reports/io/foreign/other_programs.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

#include "kernels/base/error.h"

namespace parbench::report {
namespace {

using Json = nlohmann::ordered_json;

/// A program, and two JSON pointers that exist in each of its files.
struct KnownProgram {
  std::string_view name;
  std::array<const char*, 2> pointers;
};

constexpr std::array<KnownProgram, 8> known_programs{{
    {"hyperfine", {"/results/0/command", "/results/0/mean"}},
    {"pytest-benchmark", {"/machine_info", "/commit_info"}},
    {"JMH", {"/0/benchmark", "/0/primaryMetric"}},
    {"nvbench", {"/meta/argv", "/benchmarks"}},
    {"Android's benchmark library (androidx.benchmark)",
     {"/context/build/fingerprint", "/benchmarks"}},
    {"BenchmarkDotNet", {"/HostEnvironmentInfo", "/Benchmarks"}},
    {"nanobench", {"/results/0/median(elapsed)", "/results/0/name"}},
    {"Criterion", {"/mean/point_estimate", "/median/confidence_interval"}},
}};

constexpr std::string_view what_is_read =
    "parbench reads its own reports and the JSON files of programs with Google Benchmark "
    "(--benchmark_out=FILE)";

/// The start of the first line of Google Benchmark's CSV.
constexpr std::string_view csv_header = "name,iterations,real_time,cpu_time,time_unit";

}  // namespace

void refuse_other_programs(const Json& file) {
  for (const KnownProgram& program : known_programs) {
    const bool has_pointers = std::ranges::all_of(program.pointers, [&](const char* pointer) {
      return file.contains(Json::json_pointer(pointer));
    });
    if (has_pointers) {
      throw UsageError(fmt::format("is a file of {}; {}", program.name, what_is_read));
    }
  }
}

bool has_google_benchmark_csv(std::string_view text) { return text.find(csv_header) != text.npos; }

void refuse_google_benchmark_csv() {
  throw UsageError(
      "is a CSV file of Google Benchmark; parbench reads its JSON: run the program with "
      "--benchmark_out=FILE --benchmark_out_format=json");
}

}  // namespace parbench::report
