// Every process reads the plan of the run as a report to be run again, and writes its own.
#include "bench/launched_run.h"

#include <fmt/format.h>

#include <chrono>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>

#include "bench/child_process.h"
#include "bench/delivery.h"
#include "bench/described.h"
#include "bench/interrupt.h"
#include "bench/merged_launches.h"
#include "bench/progress_messages.h"
#include "bench/results.h"
#include "bench/scratch_folder.h"
#include "bench/session.h"
#include "kernels/error.h"
#include "kernels/stream.h"
#include "reports/io/file.h"

namespace parbench {
namespace {

constexpr const char* limit_variable = "PARBENCH_LAUNCH_SILENCE";

/// A wait for a device ends by itself before, and its process then says so. Seconds.
double longest_silence() {
  const char* const text = std::getenv(limit_variable);  // NOLINT(concurrency-mt-unsafe)
  if (text == nullptr) {
    return std::chrono::duration<double>(Stream::default_limit + std::chrono::minutes(1)).count();
  }
  char* end = nullptr;
  const double seconds = std::strtod(text, &end);
  if (end != text && *end == '\0' && seconds > 0) return seconds;
  throw UsageError(
      fmt::format("{}='{}' is no time; allowed: seconds above 0", limit_variable, text));
}

class LaunchedRun {
 public:
  LaunchedRun(const Options& options, const BenchmarkFlags& flags, std::vector<Job> jobs,
              ReportBuilder report_builder)
      : options_(options),
        flags_(flags),
        jobs_(std::move(jobs)),
        delivery_(options, flags, jobs_, std::move(report_builder)) {
    for (Job& job : jobs_) job.devices.clear();
  }

  ExitCode operator()() {
    delivery_.report_builder().write();
    report::write_report(plan_path(), delivery_.report_builder().report());
    for (int launch = 0; launch < options_.launches && !interrupted_; ++launch) {
      try {
        run(launch);
      } catch (const Interrupted&) {  // before it began
      }
      interrupted_ = InterruptHandler::requested();
    }
    const bool delivered = delivery_.finish(all_measured_ && !interrupted_);
    if (interrupted_) return ExitCode::interrupted;
    return all_measured_ && delivered ? ExitCode::measured : ExitCode::case_failed;
  }

 private:
  void run(int launch) {
    const std::filesystem::path path = folder_ / fmt::format("launch-{}.json", launch + 1);
    const auto started = std::chrono::system_clock::now();
    report::Process told{
        .started_utc = utc_text(started), .duration_seconds = 0, .exit_code = 0, .error = {}};
    try {
      const ChildEnd end = run_child(
          {.words = words(launch, path),
           .on_line =
               [&](std::string_view line) { relay_progress(line, part(launch), progress()); },
           .most_silent_seconds = longest_silence_});
      told.duration_seconds = end.seconds;
      told.exit_code = end.exit_code;
      told.error = error_of(end);
    } catch (const Error& error) {  // it could not be started
      told.exit_code = static_cast<int>(ExitCode::case_failed);
      told.error = fmt::format("could not be run: {}", error.what());
    }
    take(launch, path, told);
    if (!told.error.empty()) {
      progress().note(fmt::format("launch {} of {} {}", launch + 1, options_.launches, told.error));
    }
    has_looked_ = has_looked_ || told.error.empty();
    all_measured_ = all_measured_ && told.exit_code == 0 && told.error.empty();
    delivery_.checkpoint();
  }

  /// Empty for a launch that ended as it should: cases that failed in it stand in its report.
  static std::string error_of(const ChildEnd& end) {
    const bool interrupted =
        end.exit_code == interrupted_exit_code && InterruptHandler::requested();
    const bool failed_in_order = end.exit_code == 1 && end.error_output.empty();
    const bool orderly = end.exit_code == 0 || interrupted || failed_in_order;
    return orderly && end.passed_limit.empty() ? std::string() : end.text();
  }

  /// Adds what the launch has left. What cannot be read is told.
  void take(int launch, const std::filesystem::path& path, report::Process& told) {
    std::optional<report::Report> left;
    try {
      left = report::read_report(path);
    } catch (const std::exception& error) {  // it may be too large for the memory as well
      if (told.error.empty()) told.error = fmt::format("left no report: {}", error.what());
    }
    if (!left) {
      delivery_.report_builder().add_process(told, {});
      return;
    }
    delivery_.report_builder().add_process(told, {left->sampling_seconds, left->task_cost_seconds});
    parts_.push_back({launch, std::move(left->cases)});
    for (const Job& job : jobs_) merge(job);
  }

  void merge(const Job& job) {
    std::vector<report::CaseResult> planned;
    for (const CaseSpec& spec : job.cases) planned.push_back(described(spec));
    SessionResult result;
    result.cases = merged(planned, parts_, options_.launches);
    for (report::CaseResult& one : result.cases) summarise_case(one);
    compare_cases(comparisons_of(*job.scenario, job.cases), result.cases);
    result.answer = answer_of(*job.scenario, job.cases, result.cases, false);
    all_measured_ = all_measured_ && result.all_measured();
    delivery_.report_builder().update(*job.scenario, result);
  }

  [[nodiscard]] std::vector<std::string> words(int launch,
                                               const std::filesystem::path& path) const {
    std::vector<std::string> words{"/proc/self/exe", "--rerun=" + plan_path().string(),
                                   fmt::format("--launch={}", launch), "--report=" + path.string()};
    if (has_looked_) words.emplace_back("--no-profile");
    words.insert(words.end(), flags_.passed.begin(), flags_.passed.end());
    return words;
  }

  [[nodiscard]] std::filesystem::path plan_path() const { return folder_ / "plan.json"; }
  [[nodiscard]] Progress& progress() { return delivery_.progress(); }
  [[nodiscard]] RunPart part(int launch) const {
    return {static_cast<std::size_t>(launch), static_cast<std::size_t>(options_.launches)};
  }

  const Options& options_;
  const BenchmarkFlags& flags_;
  double longest_silence_ = longest_silence();
  std::vector<Job> jobs_;
  ScratchFolder folder_;
  InterruptHandler interrupt_;
  Delivery delivery_;
  std::vector<LaunchCases> parts_;
  bool interrupted_ = false;
  bool has_looked_ = false;  // one that ended as it should looks at the cases for all
  bool all_measured_ = true;
};

}  // namespace

ExitCode run_launches(const Options& options, const BenchmarkFlags& flags, std::vector<Job> jobs,
                      ReportBuilder report_builder) {
  return LaunchedRun(options, flags, std::move(jobs), std::move(report_builder))();
}

}  // namespace parbench
