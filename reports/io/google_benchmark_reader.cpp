// Converts rows to cases.
#include "reports/io/google_benchmark_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/base/error.h"
#include "reports/io/foreign/benchmark_name.h"
#include "reports/io/google_benchmark_context.h"
#include "reports/io/json.h"
#include "reports/statistics/statistics.h"
#include "reports/text/text.h"

namespace parbench::report {
namespace {

std::string quoted(const std::string& text) { return printable(shortened(text, 60)); }

// ------------------------------------------------------------------------------------------- rows

/// Fields of a row that are not counters.
constexpr std::array<std::string_view, 18> known_numbers{"family_index",
                                                         "per_family_instance_index",
                                                         "repetitions",
                                                         "repetition_index",
                                                         "threads",
                                                         "iterations",
                                                         "real_time",
                                                         "cpu_time",
                                                         "items_per_second",
                                                         "bytes_per_second",
                                                         "flop_per_second",
                                                         "real_coefficient",
                                                         "cpu_coefficient",
                                                         "rms",
                                                         "label",
                                                         "name",
                                                         "run_name",
                                                         "time_unit"};

/// Returns the row's unit of time in seconds; NaN if unknown.
double unit_of(const Fields& row) {
  static const std::map<std::string, double> units{
      {"", 1e-9}, {"ns", 1e-9}, {"us", 1e-6}, {"ms", 1e-3}, {"s", 1}};
  const auto found = units.find(row.text("time_unit"));
  return found != units.end() ? found->second : std::numeric_limits<double>::quiet_NaN();
}

/// Returns a time of the row in seconds; NaN if the value is not a valid time.
double time_of(const Fields& row, const char* key) {
  constexpr double none = std::numeric_limits<double>::quiet_NaN();
  const double seconds = row.number(key).value_or(none) * unit_of(row);
  return seconds >= 0 && seconds <= max_case_seconds ? seconds : none;
}

/// Returns "-1678 ns", for messages.
std::string quoted_time(const Fields& row, const char* key) {
  return quoted(fmt::format("{} {}", row.has(key) ? row.json()[key].dump() : "nothing",
                            row.text("time_unit")));
}

NamedNumbers counters_of(const Fields& row) {
  NamedNumbers counters;
  for (const auto& [name, value] : row.json().items()) {
    const bool known = std::ranges::find(known_numbers, name) != known_numbers.end();
    if (!known && value.is_number()) counters.emplace_back(name, value.get<double>());
  }
  return counters;
}

Sample sample_of(const Fields& row, int round) {
  const double seconds = time_of(row, "real_time");
  Sample sample{.seconds = seconds, .wall_seconds = seconds};
  sample.iterations = std::max<std::int64_t>(1, row.count<std::int64_t>("iterations", 1));
  sample.round = round;
  sample.cpu_seconds = row.has("cpu_time") ? time_of(row, "cpu_time") : 0;
  sample.counters = counters_of(row);
  return sample;
}

/// Finds the aggregates among the rows. Google Benchmark before 1.5 does not mark them: X is a
/// benchmark with aggregates "X_…" if rows "X_mean" and "X_stddev" exist.
class Aggregates {
 public:
  explicit Aggregates(const std::vector<Fields>& rows) {
    for (const Fields& row : rows) names_.insert(row.text("name"));
  }

  [[nodiscard]] bool contains(const Fields& row) const {
    if (row.has("run_type")) return row.text("run_type") == "aggregate";
    return is_complexity(row) || !benchmark_of(row).empty();
  }

  /// Returns the benchmark of an aggregate; empty if unknown.
  [[nodiscard]] std::string benchmark_of(const Fields& row) const {
    if (is_complexity(row)) return {};
    if (row.has("run_name")) return row.text("run_name");
    const std::string name = row.text("name");
    const std::string benchmark = name.substr(0, std::min(name.rfind('_'), name.size()));
    const bool accompanied =
        names_.contains(benchmark + "_mean") && names_.contains(benchmark + "_stddev");
    return benchmark != name && accompanied ? benchmark : std::string();
  }

 private:
  /// Returns whether a row has the complexity of a family of benchmarks, or the error of its fit.
  static bool is_complexity(const Fields& row) {
    return row.has("big_o") || row.has("cpu_coefficient") || row.has("rms");
  }

  std::set<std::string> names_;
};

// ------------------------------------------------------------------------------------------ cases

/// The repetitions of one benchmark.
struct Benchmark {
  std::string name;
  // Family and index in the family; since Google Benchmark 1.5.3.
  std::optional<std::pair<double, double>> instance;
  std::set<double> repetitions;  // indices read so far
  std::vector<const Fields*> rows;
};

/// Groups the rows of repetitions by benchmark. Two benchmarks may have the same name: then their
/// instances differ, or a repetition occurs twice. The second one gets a name with a number,
/// "BM_sum (2)", that is unique in the file.
class Benchmarks {
 public:
  explicit Benchmarks(std::set<std::string> names) : taken_(std::move(names)) {}

  void add(const Fields& row) {
    const std::string name = row.text("name");
    if (name.empty()) row.refuse("name", fmt::format("is missing; {}", Fields::remedy));
    const auto repetition = row.number("repetition_index");
    Benchmark& benchmark = benchmark_of(name, instance_of(row), repetition);
    if (repetition) benchmark.repetitions.insert(*repetition);
    benchmark.rows.push_back(&row);
  }

  [[nodiscard]] bool has(const std::string& name) const { return indices_.contains(name); }
  [[nodiscard]] const std::vector<Benchmark>& list() const { return list_; }

 private:
  using Instance = std::optional<std::pair<double, double>>;

  Benchmark& benchmark_of(const std::string& name, const Instance& instance,
                          std::optional<double> repetition) {
    std::vector<std::size_t>& namesakes = indices_[name];
    for (const std::size_t index : namesakes) {
      Benchmark& known = list_[index];
      const bool same = known.instance || instance
                            ? known.instance == instance
                            : index == namesakes.back() &&
                                  !(repetition && known.repetitions.contains(*repetition));
      if (same) return known;
    }
    Benchmark& added = list_.emplace_back();
    added.name = namesakes.empty() ? name : numbered(name, namesakes.size() + 1);
    added.instance = instance;
    namesakes.push_back(list_.size() - 1);
    return added;
  }

  std::string numbered(const std::string& name, std::size_t number) {
    std::string text;
    do {
      text = fmt::format("{} ({})", name, number++);
    } while (!taken_.insert(text).second);
    return text;
  }

  static Instance instance_of(const Fields& row) {
    const auto family = row.number("family_index");
    const auto instance = row.number("per_family_instance_index");
    return family && instance ? std::optional(std::pair(*family, *instance)) : std::nullopt;
  }

  std::set<std::string> taken_;  // all names in use
  std::vector<Benchmark> list_;
  std::map<std::string, std::vector<std::size_t>> indices_;  // indices in `list_`, by name
};

/// Adds a note that a field is ignored because its value in a repetition is unusable.
void leave_out(std::vector<FileNote>& file_notes, const CaseResult& c, const char* key,
               const std::string& value) {
  add_file_note(file_notes,
                fmt::format("{} was ignored for cases with an unusable value in a repetition", key),
                fmt::format("{}, {}", quoted(c.name), value));
}

/// Makes CPU time unknown in all samples if it is unknown in one.
void check_cpu_time(CaseResult& c, const std::vector<const Fields*>& rows,
                    std::vector<FileNote>& file_notes) {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (!std::isnan(c.samples[i].cpu_seconds)) continue;
    leave_out(file_notes, c, "cpu_time", quoted_time(*rows[i], "cpu_time"));
    for (Sample& sample : c.samples) sample.cpu_seconds = 0;
    return;
  }
}

/// Returns the median over the repetitions of a rate that the program reported, which may be per
/// CPU time; 0 if a repetition has none or an unusable one.
double rate_of(const CaseResult& c, const std::vector<const Fields*>& rows, const char* key,
               std::vector<FileNote>& file_notes) {
  std::vector<double> rates;
  for (const Fields* row : rows) {
    rates.push_back(row->number(key).value_or(0));
    const double amount = rates.back() * c.statistics->median;
    if (rates.back() > 0 && std::isfinite(amount)) continue;
    if (row->has(key)) leave_out(file_notes, c, key, quoted(row->json()[key].dump()));
    return 0;
  }
  return median(rates);
}

void set_throughput(CaseResult& c, const std::vector<const Fields*>& rows,
                    std::vector<FileNote>& file_notes) {
  const double seconds = c.statistics->median;
  const double items = rate_of(c, rows, "items_per_second", file_notes);
  const double bytes = rate_of(c, rows, "bytes_per_second", file_notes);
  c.bytes = bytes * seconds;
  c.throughput = items > 0 ? items : bytes;
  if (c.throughput == 0) return;
  c.amount = c.throughput * seconds;
  c.amount_unit = items > 0 ? "items" : "B";
}

/// Repetitions of a benchmark with the same problem.
struct Trouble {
  std::size_t count = 0;
  std::string first;

  void add(std::string why) {
    if (count++ == 0) first = std::move(why);
  }
};

/// Sets the status of a benchmark if any repetition failed, was skipped or has no time: the other
/// repetitions do not represent it.
void find_failure(CaseResult& c, const std::vector<const Fields*>& rows) {
  Trouble failed;
  Trouble skipped;
  Trouble timeless;
  for (const Fields* row : rows) {
    if (row->is_true("error_occurred")) {
      failed.add(row->text("error_message"));
    } else if (row->is_true("skipped")) {
      skipped.add(row->text("skip_message"));
    } else if (std::isnan(time_of(*row, "real_time"))) {
      timeless.add(fmt::format("real_time is not a valid time: {}; expected ns, us, ms or s",
                               quoted_time(*row, "real_time")));
    }
  }
  const auto fail = [&](CaseStatus status, const Trouble& trouble, std::string_view verb) {
    const std::string why = trouble.first.empty() ? "" : ": " + trouble.first;
    c.status = status;
    c.error = trouble.count == rows.size() && !why.empty()
                  ? trouble.first
                  : fmt::format("{} of {} repetitions {}{}", trouble.count, rows.size(), verb, why);
  };
  if (failed.count > 0) return fail(CaseStatus::failed, failed, "failed");
  if (skipped.count > 0) return fail(CaseStatus::skipped, skipped, "skipped themselves");
  if (timeless.count > 0) return fail(CaseStatus::failed, timeless, "have no time");
}

CaseResult named_case(const std::string& name, const std::string& program) {
  CaseResult c;
  c.name = name;
  c.scenario = program;
  auto [family, parameters] = benchmark_name(name);
  c.strategy = std::move(family);
  c.parameters = std::move(parameters);
  return c;
}

CaseResult case_of(const Benchmark& benchmark, const std::string& program, int& round,
                   std::vector<FileNote>& file_notes) {
  CaseResult c = named_case(benchmark.name, program);
  c.status = CaseStatus::measured;
  for (const Fields* row : benchmark.rows) c.samples.push_back(sample_of(*row, round++));
  find_failure(c, benchmark.rows);
  if (c.status != CaseStatus::measured) {
    c.samples.clear();
    return c;
  }
  c.statistics = summarise(Samples(c.samples));
  check_cpu_time(c, benchmark.rows, file_notes);
  set_throughput(c, benchmark.rows, file_notes);
  if (std::string label = benchmark.rows.front()->text("label"); !label.empty()) {
    c.notes.emplace_back("label", std::move(label));
  }
  return c;
}

constexpr std::string_view whole_file_remedy =
    "run the program with --benchmark_report_aggregates_only=false "
    "(--benchmark_display_aggregates_only=true shortens only what it prints)";

/// Returns a skipped case for a benchmark with aggregates only.
CaseResult case_without_samples(const std::string& name, const std::string& program) {
  CaseResult c = named_case(name, program);
  c.status = CaseStatus::skipped;
  c.error = fmt::format("the file has only aggregates of it; {}", whole_file_remedy);
  return c;
}

std::vector<Fields> rows_of(const Json& benchmarks) {
  if (!benchmarks.is_array()) {
    throw UsageError(fmt::format("benchmarks: expected a list, found {}; {}",
                                 benchmarks.type_name(), Fields::remedy));
  }
  std::vector<Fields> rows;
  for (const Json& item : benchmarks) {
    rows.emplace_back(item, fmt::format("benchmarks[{}]", rows.size()));
  }
  if (rows.empty()) {
    throw UsageError("benchmarks: is empty; choose some with the program's --benchmark_filter");
  }
  return rows;
}

}  // namespace

bool is_google_benchmark(const Json& file) {
  if (!file.is_object() || !file.contains("benchmarks") || file.contains("parbench")) return false;
  return file.contains("context") || file.contains(Json::json_pointer("/benchmarks/0/real_time"));
}

Report from_google_benchmark(const Json& file) {
  const Json no_context = Json::object();
  const bool has_context = file.contains("context") && !file.at("context").is_null();
  const Fields context(has_context ? file.at("context") : no_context, "context");
  const std::vector<Fields> rows = rows_of(file.at("benchmarks"));
  Report report = report_without_cases(context);
  const std::string program = program_name(context.text("executable"));
  const Aggregates aggregates(rows);
  std::set<std::string> names;
  for (const Fields& row : rows) names.insert({row.text("name"), aggregates.benchmark_of(row)});
  Benchmarks benchmarks(std::move(names));
  std::vector<std::string> of_aggregates;
  for (const Fields& row : rows) {
    if (!aggregates.contains(row)) {
      benchmarks.add(row);
    } else if (std::string name = aggregates.benchmark_of(row); !name.empty()) {
      of_aggregates.push_back(std::move(name));
    }
  }
  if (benchmarks.list().empty()) {
    throw UsageError(fmt::format(
        "benchmarks: has aggregates only, which do not show how much repetitions vary; {}",
        whole_file_remedy));
  }
  int round = 0;
  for (const Benchmark& one : benchmarks.list()) {
    report.cases.push_back(case_of(one, program, round, report.file_notes));
  }
  std::set<std::string> without_samples;
  for (const std::string& name : of_aggregates) {
    if (benchmarks.has(name) || !without_samples.insert(name).second) continue;
    report.cases.push_back(case_without_samples(name, program));
  }
  report.complete = std::ranges::all_of(report.cases, has_number);
  check_report(report, "cases");
  return report;
}

}  // namespace parbench::report
