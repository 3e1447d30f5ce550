// Starts a command as its measure requires, and reads its results.
#include "bench/run/programs/measured_command.h"

#include <fmt/format.h>

#include <array>
#include <chrono>
#include <new>
#include <utility>

#include "bench/execution/interrupt.h"
#include "bench/output/version.h"
#include "bench/run/programs/child_process.h"
#include "bench/run/report_builder.h"
#include "reports/io/file.h"
#include "reports/model/machine_info.h"
#include "reports/statistics/statistics.h"

namespace parbench {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::pair<Measure, std::string_view>, 3> measure_names{
    {{Measure::report, "report"},
     {Measure::google_benchmark, "google-benchmark"},
     {Measure::wall, "wall"}}};

std::string sentence(const MeasuredCommand& measured, const std::string& what) {
  return fmt::format("{} '{}' {}", measured.flag, measured.command, what);
}

/// Returns the arguments of a shell, which appends words for the program to the command. For wall
/// times, output goes to /dev/null, so that printing costs as little as possible.
std::vector<std::string> words_of(const MeasuredCommand& measured, const fs::path& path) {
  const std::string with_words = measured.command + " \"$@\"";
  switch (measured.measure) {
    case Measure::report:
      return {"sh", "-c", with_words, "sh", "--report", path.string(), "--quiet"};
    case Measure::google_benchmark:
      return {"sh",
              "-c",
              with_words,
              "sh",
              "--benchmark_out=" + path.string(),
              "--benchmark_out_format=json"};
    case Measure::wall:
      break;
  }
  return {"sh", "-c", "exec >/dev/null; " + measured.command};
}

/// Describes the words that are appended to a command, and how the command must use them.
std::string_view words_text(Measure measure) {
  return measure == Measure::report
             ? "--report FILE --quiet to the command; pass both on to parbench"
             : "--benchmark_out=FILE --benchmark_out_format=json to the command; pass both on to a "
               "program that uses Google Benchmark";
}

report::Report report_left_by(const MeasuredCommand& measured, const ChildEnd& end,
                              const fs::path& path) {
  if (!fs::exists(path)) {
    throw UsageError(
        sentence(measured, fmt::format("{}\nand wrote no report: parbench ab appends {}, or "
                                       "use --measure wall to time any command",
                                       end.text(), words_text(measured.measure))));
  }
  try {
    return report::read_report(path);
  } catch (const UsageError& error) {
    throw UsageError(
        sentence(measured, fmt::format("left no report that can be read: {}", error.what())));
  } catch (const std::bad_alloc&) {
    throw UsageError(sentence(measured, "left a report that does not fit into memory"));
  }
}

/// Returns the machine without facts about this build of parbench, which does not affect the
/// command.
report::Machine machine_without_build() {
  report::Machine machine = report::machine_info({});
  machine.compiler.clear();
  machine.build_type.clear();
  machine.commit.reset();
  machine.dirty.reset();
  machine.commit_subject.reset();
  machine.commit_author.reset();
  return machine;
}

report::Report wall_report(const MeasuredCommand& measured, const ChildEnd& end,
                           std::chrono::system_clock::time_point started) {
  report::Report report;
  report.version = version;
  report.measured_by = "wall clock";
  report.started_utc = utc_text(started);
  report.duration_seconds = end.seconds;
  report.sampling_seconds = end.seconds;
  report.complete = true;
  report.command_line = {measured.command};
  report.machine = machine_without_build();
  report::CaseResult& c = report.cases.emplace_back();
  c.name = "command/wall-time";
  c.scenario = "command";
  c.strategy = "wall-time";
  c.status = report::CaseStatus::measured;
  c.samples = {{.seconds = end.seconds, .wall_seconds = end.seconds}};
  c.samples.front().cpu_seconds = end.cpu_seconds;
  c.statistics = summarise(Samples(c.samples));
  return report;
}

/// Returns whether a command with this exit code can be judged. A run of parbench whose cases
/// failed (exit code 1) still leaves a report.
bool ended_well(Measure measure, int exit_code) {
  return exit_code == 0 || (measure == Measure::report && exit_code == 1);
}

}  // namespace

std::vector<std::string> names_of_measures() {
  std::vector<std::string> names;
  for (const auto& [measure, name] : measure_names) names.emplace_back(name);
  return names;
}

Measure measure_of(std::string_view name) {
  for (const auto& [measure, known] : measure_names) {
    if (known == name) return measure;
  }
  throw UsageError(fmt::format("--measure '{}' does not exist", name));
}

report::Report run_command(const MeasuredCommand& measured, const fs::path& path,
                           double max_seconds, const std::function<void()>& on_wait) {
  const auto started = std::chrono::system_clock::now();
  const ChildEnd end = run_child(
      {.words = words_of(measured, path), .on_wait = on_wait, .max_seconds = max_seconds});
  if (InterruptHandler::requested()) throw Interrupted();
  if (!end.passed_limit.empty()) throw CommandTimeout(sentence(measured, end.text()));
  if (!ended_well(measured.measure, end.exit_code)) {
    throw UsageError(sentence(measured, end.text()));
  }
  if (measured.measure != Measure::wall) return report_left_by(measured, end, path);
  report::Report report = wall_report(measured, end, started);
  report::write_report(path, report);
  return report;
}

}  // namespace parbench
