// Every process reads the cases of the run, with typed values, from a report of the plan (--rerun),
// and writes its own report.
#include "bench/run/process_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>

#include "bench/execution/interrupt.h"
#include "bench/output/progress_messages.h"
#include "bench/run/merged_processes.h"
#include "bench/run/programs/child_process.h"
#include "bench/run/programs/scratch_folder.h"
#include "bench/run/run_outputs.h"
#include "bench/sampling/described.h"
#include "bench/sampling/results.h"
#include "bench/sampling/session/session.h"
#include "kernels/base/error.h"
#include "kernels/base/number.h"
#include "kernels/core/stream.h"
#include "reports/io/file.h"
#include "reports/model/disturbances.h"
#include "reports/model/notes.h"
#include "scenarios/plan/schedules/partition.h"

namespace parbench {
namespace {

/// Minimum of --max-total-time.
constexpr double min_process_seconds = 0.001;

constexpr const char* limit_variable = "PARBENCH_PROCESS_SILENCE";

/// Returns the seconds without output after which a process is stopped. Waits of the process for
/// devices fail earlier, with an error.
double silence_limit() {
  const char* const text = std::getenv(limit_variable);  // NOLINT(concurrency-mt-unsafe)
  if (text == nullptr) {
    return std::chrono::duration<double>(Stream::default_limit + std::chrono::minutes(1)).count();
  }
  const auto seconds = number_in<double>(text);
  if (seconds && *seconds > 0) return *seconds;
  throw UsageError(
      fmt::format("{}='{}' is not a valid time; allowed: seconds above 0", limit_variable, text));
}

class ProcessRun {
 public:
  ProcessRun(const RunEnvironment& run, JobPlan plan, ReportBuilder report_builder)
      : options_(run.options),
        flags_(run.flags),
        limit_(run.limit),
        plan_(std::move(plan)),
        outputs_(options_, flags_, plan_, std::move(report_builder)) {
    for (Job& job : plan_.jobs) {
      job.whole.reset();
      job.devices.clear();
    }
  }

  ExitCode operator()() {
    outputs_.report_builder().write();
    planned_ = outputs_.report_builder().report();
    report::write_report(plan_path(), planned_);
    for (int process = 0; process < options_.processes && !outcome_.interrupted; ++process) {
      if (process > 0 && limit_.share(1) <= 0) {
        progress().note(fmt::format("{} of {} processes not run: out of time",
                                    options_.processes - process, options_.processes));
        break;
      }
      try {
        run(process);
      } catch (const Interrupted&) {  // before the process began
      }
      outcome_.interrupted = InterruptHandler::requested();
    }
    return outputs_.finish(outcome_);
  }

 private:
  void run(int process) {
    const std::filesystem::path path = folder_ / fmt::format("process-{}.json", process + 1);
    const auto started = std::chrono::system_clock::now();
    report::Process record{
        .started_utc = utc_text(started), .duration_seconds = 0, .exit_code = 0, .error = {}};
    try {
      const ChildEnd end = run_child(
          {.words = words(process, path),
           .on_line =
               [&](std::string_view line) { relay_progress(line, part(process), progress()); },
           .max_silent_seconds = silence_limit_});
      record.duration_seconds = end.seconds;
      record.exit_code = end.exit_code;
      record.error = error_of(end);
    } catch (const Error& error) {  // it could not be started
      record.exit_code = static_cast<int>(ExitCode::case_failed);
      record.error = fmt::format("could not be run: {}", error.what());
    }
    const bool out_of_time = take(process, path, record);
    if (!record.error.empty()) {
      progress().note(
          fmt::format("process {} of {} {}", process + 1, options_.processes, record.error));
    }
    has_profiled_ = has_profiled_ || (record.error.empty() && !out_of_time);
    const bool ended_well = record.exit_code == 0 || out_of_time;
    outcome_.all_measured = outcome_.all_measured && ended_well && record.error.empty();
    outputs_.checkpoint();
  }

  /// Returns the error of a process; empty if the process succeeded, was interrupted, or ended with
  /// exit code 1 and no error output: then only cases failed, which its report has.
  static std::string error_of(const ChildEnd& end) {
    const bool interrupted =
        (end.exit_code == interrupted_exit_code || end.exit_code == terminated_exit_code) &&
        InterruptHandler::requested();
    const bool failed_in_order = end.exit_code == 1 && end.error_output.empty();
    const bool orderly = end.exit_code == 0 || interrupted || failed_in_order;
    return orderly && end.passed_limit.empty() ? std::string() : end.text();
  }

  /// Adds the report of a process; an unreadable report is an error of the process. Returns whether
  /// all its cases were left out for lack of time, which is not a failure.
  bool take(int process, const std::filesystem::path& path, report::Process& record) {
    std::optional<report::Report> left;
    try {
      left = report::read_report(path);
    } catch (const std::exception& error) {  // including lack of memory for it
      if (record.error.empty()) record.error = fmt::format("left no report: {}", error.what());
    }
    if (!left) {
      outputs_.report_builder().add_process(record, {});
      return false;
    }
    outputs_.report_builder().add_process(record, times_of(*left));
    const bool out_of_time = std::ranges::all_of(left->cases, report::is_left_out);
    parts_.push_back({process, std::move(left->cases)});
    for (const Job& job : plan_.jobs) merge(job);
    hand_over_cuts();
    return out_of_time;
  }

  /// Makes later processes begin the stages of a case at the same layers as the first process that
  /// planned the case.
  void hand_over_cuts() {
    bool is_new = false;
    for (const report::CaseResult& one : outputs_.report_builder().report().cases) {
      const auto planned = std::ranges::find(planned_.cases, one.name, &report::CaseResult::name);
      if (planned == planned_.cases.end() || !report::cut_of(*planned).empty()) continue;
      const std::string cut = report::cut_of(one);
      if (cut.empty()) continue;
      planned->notes.emplace_back(cut_note, cut);
      is_new = true;
    }
    if (is_new) report::write_report(plan_path(), planned_);
  }

  void merge(const Job& job) {
    std::vector<report::CaseResult> planned;
    for (const CaseSpec& spec : job.cases) planned.push_back(described(spec));
    SessionResult result;
    result.cases = merged(planned, parts_, options_.processes);
    for (report::CaseResult& one : result.cases) summarise_case(one);
    compare_cases(comparisons_of(*job.scenario, job.cases), result.cases);
    result.answer = answer_of(
        *job.scenario, job.cases, result.cases,
        {.processes = options_.processes,
         .devices = report::devices_of(outputs_.report_builder().report(), job.scenario->name())});
    outcome_.add(result);
    outputs_.report_builder().update(*job.scenario, result);
  }

  [[nodiscard]] std::vector<std::string> words(int process,
                                               const std::filesystem::path& path) const {
    std::vector<std::string> words{"/proc/self/exe", "--rerun=" + plan_path().string(),
                                   fmt::format("--process={}", process),
                                   "--report=" + path.string()};
    const double seconds = limit_.share(static_cast<std::size_t>(options_.processes - process));
    if (std::isfinite(seconds)) {
      words.push_back(fmt::format("--max-total-time={}", std::max(min_process_seconds, seconds)));
    }
    if (has_profiled_) words.emplace_back("--no-timeline");
    words.insert(words.end(), flags_.passed.begin(), flags_.passed.end());
    return words;
  }

  [[nodiscard]] std::filesystem::path plan_path() const { return folder_ / "plan.json"; }
  [[nodiscard]] Progress& progress() { return outputs_.progress(); }
  [[nodiscard]] RunPart part(int process) const {
    return {static_cast<std::size_t>(process), static_cast<std::size_t>(options_.processes)};
  }

  const RunOptions& options_;
  const BenchmarkFlags& flags_;
  const RunLimit& limit_;
  double silence_limit_ = silence_limit();
  JobPlan plan_;
  report::Report planned_;  // the cases that the processes rerun
  ScratchFolder folder_;
  InterruptHandler interrupt_;
  RunOutputs outputs_;
  std::vector<ProcessCases> parts_;
  bool has_profiled_ = false;  // a process ended without error after its profiling pass
  RunOutcome outcome_;
};

}  // namespace

ExitCode run_processes(const RunEnvironment& run, JobPlan plan, ReportBuilder report_builder) {
  return ProcessRun(run, std::move(plan), std::move(report_builder))();
}

}  // namespace parbench
