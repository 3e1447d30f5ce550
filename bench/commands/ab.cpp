// `ab`: measures two commands in alternating pairs until the verdicts are final.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <filesystem>
#include <iostream>
#include <memory>
#include <optional>
#include <random>
#include <set>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "bench/cli/output.h"
#include "bench/commands/commands.h"
#include "bench/commands/comparison_options.h"
#include "bench/execution/clock.h"
#include "bench/execution/interrupt.h"
#include "bench/output/progress.h"
#include "bench/output/standard_streams.h"
#include "bench/run/programs/measured_command.h"
#include "bench/run/programs/scratch_folder.h"
#include "bench/run/report_builder.h"
#include "kernels/base/error.h"
#include "kernels/base/units/units.h"
#include "reports/compare/match.h"
#include "reports/compare/paired_reports.h"
#include "reports/compare/paired_run.h"
#include "reports/compare/words.h"

namespace parbench {
namespace {

namespace fs = std::filesystem;
using compare::PairsEnd;

constexpr double week_seconds = 7 * 24 * 3600;

struct AbOptions {
  std::string base_command;
  std::string candidate_command;
  std::string measure = "report";
  std::optional<int> warmup;        // runs before the first pair; default: depends on the measure
  double max_seconds = 1800;        // time limit of all runs
  std::optional<double> run_limit;  // time limit of one run
  std::uint64_t seed = 1;
  std::string keep_path;  // folder for all reports; empty: none are kept
  bool quiet = false;
  ComparisonOptions comparison;
};

/// Thrown when the time limit ended a command.
struct TimeSpent : std::exception {
  [[nodiscard]] const char* what() const noexcept override { return "the time limit was reached"; }
};

/// Returns whether the candidate runs first in a pair. It does so in one of every two pairs, so
/// that the order favours neither side. A random number selects which, so that the order cannot
/// coincide with a period of the machine.
bool now_goes_first(std::uint64_t seed, std::size_t pair) {
  std::seed_seq sequence{seed, static_cast<std::uint64_t>(pair / 2)};
  std::mt19937_64 generator(sequence);
  const bool drawn = (generator() & 1U) != 0;
  return drawn != (pair % 2 == 1);
}

/// Creates the folder of --keep. Throws UsageError if it exists with files in it.
fs::path kept_folder(const std::string& path) {
  std::error_code error;
  fs::create_directories(path, error);
  const bool empty = !error && fs::is_empty(path, error);
  if (error) throw UsageError(fmt::format("--keep '{}': {}", path, error.message()));
  if (!empty) {
    throw UsageError(fmt::format("--keep '{}' is not empty; name a new folder", path));
  }
  return path;
}

class PairsOfRuns {
 public:
  explicit PairsOfRuns(const AbOptions& options)
      : options_(options),
        base_{"--a", options.base_command, measure_of(options.measure)},
        now_{"--b", options.candidate_command, measure_of(options.measure)},
        folder_(fs::absolute(options.keep_path.empty() ? scratch_.emplace().path()
                                                       : kept_folder(options.keep_path))),
        progress_(make_progress(std::cerr, standard_error_options(options.quiet))),
        reports_(plan_of(options), options.comparison.allow_different_machine) {
    run_.base_command = base_.command;
    run_.now_command = now_.command;
    run_.measure = options.measure;
    run_.seed = options.seed;
    run_.max_seconds = options.max_seconds;
    run_.looks = reports_.pairs().plan().looks;
  }

  ExitCode operator()() {
    std::optional<std::string> failure;
    try {
      warm_up();
      while (!is_finished()) add_pair();
    } catch (const Interrupted&) {
      run_.end = PairsEnd::interrupted;
    } catch (const TimeSpent&) {
      run_.end = PairsEnd::time_spent;
    } catch (const std::exception& error) {
      if (run_.pairs.empty()) throw;
      failure = error.what();
      run_.end = PairsEnd::failed;
    }
    progress_->finish();
    return deliver(failure);
  }

 private:
  static compare::PairedComparison::Plan plan_of(const AbOptions& options) {
    compare::PairedComparison::Plan plan;
    options.comparison.set(plan.rule);
    return plan;
  }

  [[nodiscard]] double seconds_left() const {
    return run_.max_seconds - (steady_seconds() - begin_);
  }

  /// Returns whether to stop before the next pair, and records the reason.
  bool is_finished() {
    if (run_.pairs.empty()) return false;
    if (reports_.pairs().is_finished()) {
      run_.end = reports_.pairs().is_settled() ? PairsEnd::settled : PairsEnd::looks_taken;
    } else if (reports_.pairs().verdicts().empty()) {
      run_.end = PairsEnd::nothing_comparable;
    } else if (run_.pairs.back().seconds > seconds_left()) {
      run_.end = PairsEnd::time_spent;
    } else {
      return false;
    }
    return true;
  }

  void add_pair() {
    const bool now_first = now_goes_first(options_.seed, run_.pairs.size());
    const double begin = steady_seconds();
    compare::Pair pair{.now_first = now_first,
                       .started_utc = utc_text(std::chrono::system_clock::now()),
                       .seconds = 0,
                       .log_ratios = {}};
    report::Report base;
    report::Report now;
    if (now_first) now = measured(now_);
    base = measured(base_);
    if (!now_first) now = measured(now_);
    pair.seconds = steady_seconds() - begin;
    compare::unite_programs(base, now);
    pair.log_ratios = reports_.add({base_.command, base}, {now_.command, now});
    run_.pairs.push_back(std::move(pair));
    print_verdicts();
  }

  /// Runs both commands without measuring, to read programs from disk and fill caches. The default
  /// is one run for wall times, and none for parbench and Google Benchmark, which warm up within
  /// each run.
  void warm_up() {
    const int runs = options_.warmup.value_or(base_.measure == Measure::wall ? 1 : 0);
    if (runs == 0) return;
    const ScratchFolder folder;
    for (int i = 1; i <= runs; ++i) {
      for (const MeasuredCommand* command : {&base_, &now_}) {
        (void)run(*command, folder / fmt::format("{}-{}.json", i, command->flag.substr(2)));
      }
    }
  }

  report::Report measured(const MeasuredCommand& command) {
    return run(command, folder_ / fmt::format("pair-{:03}-{}.json", run_.pairs.size() + 1,
                                              command.flag.substr(2)));
  }

  report::Report run(const MeasuredCommand& command, const fs::path& path) {
    const double left = std::max(1.0, seconds_left());
    const double limit = options_.run_limit.value_or(left);
    try {
      return run_command(command, path, std::min(left, limit), [&] { show(command); });
    } catch (const CommandTimeout& timeout) {
      if (limit < left) {
        throw UsageError(fmt::format("{}\nallow a run more time (--run-limit)", timeout.what()));
      }
      if (!run_.pairs.empty()) throw TimeSpent();
      throw UsageError(fmt::format(
          "{}\nno pair has ended within {}: give more time (--max-time), or make runs shorter",
          timeout.what(), format_wait(run_.max_seconds)));
    }
  }

  void show(const MeasuredCommand& command) const {
    ProgressState state;
    const auto pairs = static_cast<double>(run_.pairs.size());
    const double of_looks = pairs / run_.looks.back();
    const double of_time = 1 - seconds_left() / run_.max_seconds;
    state.phase = fmt::format("pair {}", run_.pairs.size() + 1);
    state.case_name = command.flag == "--a" ? "A runs" : "B runs";
    const std::vector<compare::PairedVerdict> verdicts = reports_.pairs().verdicts();
    state.cases = verdicts.size();
    state.cases_done = static_cast<std::size_t>(
        std::ranges::count_if(verdicts, &compare::PairedVerdict::is_settled));
    state.cases_word = "cases settled";
    state.fraction = std::clamp(std::max(of_looks, of_time), 0.0, 1.0);
    state.seconds_left = std::max(0.0, seconds_left());
    state.left_is_limit = true;
    progress_->update(state);
  }

  /// Prints a line for each verdict that has become final.
  void print_verdicts() {
    for (const compare::PairedVerdict& verdict : reports_.pairs().verdicts()) {
      if (!verdict.is_settled() || !settled_.insert(verdict.name).second) continue;
      progress_->note(fmt::format("after {} pairs: {} {}: {} ({})", run_.pairs.size(), verdict.name,
                                  to_string(verdict.judgement->verdict),
                                  compare::change_text(verdict.judgement->change),
                                  compare::interval_text(verdict.judgement->change)));
    }
  }

  /// Writes the result of the complete pairs, also after a failure of a command or an interrupt.
  ExitCode deliver(const std::optional<std::string>& failure) {
    if (run_.end == PairsEnd::time_spent) reports_.conclude();
    run_.seconds = steady_seconds() - begin_;
    run_.looks_taken = reports_.pairs().looks();
    std::optional<compare::Comparison> comparison = reports_.comparison();
    if (comparison) {
      comparison->pairs = run_;
      write_comparison(*comparison, options_.comparison);
    }
    if (failure) print_error(*failure);
    if (comparison) return exit_code_of(*comparison);
    print_error("interrupted before the first pair ended: nothing can be compared");
    return ExitCode::interrupted;
  }

  const AbOptions& options_;
  MeasuredCommand base_;
  MeasuredCommand now_;
  std::optional<ScratchFolder> scratch_;  // for reports that are not kept
  fs::path folder_;                       // absolute, because a command may change its directory
  InterruptHandler interrupt_;
  std::unique_ptr<Progress> progress_;
  compare::PairedReports reports_;
  compare::PairedRun run_;
  std::set<std::string> settled_;  // cases with a printed verdict
  double begin_ = steady_seconds();
};

constexpr CommandText ab_help{
    .name = "ab",
    .summary = "Which of two commands is faster, in pairs of runs",
    .examples =
        "  parbench ab --a './old/parbench --scenario matmul' \\\n"
        "              --b './new/parbench --scenario matmul'\n"
        "      Compares two builds.\n"
        "  parbench ab --a 'DNNL_MAX_CPU_ISA=AVX2 ./parbench --scenario branch' \\\n"
        "              --b './parbench --scenario branch' --max-time 600\n"
        "      Compares two environments, within ten minutes.\n"
        "  parbench ab --measure wall --a 'gzip -6 <file' --b 'zstd -6 <file'\n"
        "      Compares any two programs by the time from start to end.\n",
    .exit_codes =
        "0 nothing regressed; 1 a case failed with B, a run of B or one of its processes "
        "ended early, or the output could not be written to its end; "
        "2 bad usage, a path that cannot be written, a command that fails or leaves no report; "
        "3 a case regressed; 4 nothing could be compared, or fewer cases are decided than "
        "--require-decided asks for; 130 interrupted."};

class Ab final : public Command {
 public:
  Ab() : Command(ab_help) {}

  std::vector<FlagRow> flags() override {
    std::vector<FlagRow> rows{
        required(text_flag("a",
                           "The base: a shell command, such as 'DNNL_MAX_CPU_ISA=AVX2 ./parbench "
                           "--scenario selftest'",
                           "COMMAND", &options_.base_command)),
        required(text_flag("b", "The command that is compared with the base", "COMMAND",
                           &options_.candidate_command)),
        choice_flag("measure",
                    "What is compared. report (the default): the cases of parbench; both "
                    "commands run it, and --report FILE --quiet is appended to them; "
                    "google-benchmark: the cases of a program with Google Benchmark; "
                    "--benchmark_out=FILE is appended; wall: the time of the whole "
                    "command",
                    names_of_measures(), "MEASURE", &options_.measure),
        number_flag("warmup",
                    "Runs of each command before the first pair, which are not compared; "
                    "default: 1 with --measure wall, else 0",
                    AxisKind::integer, 0, 1000, "N", &options_.warmup),
        number_flag("run-limit",
                    "Stop the comparison if one run of a command takes longer than this",
                    AxisKind::real, 0.001, week_seconds, "SECONDS", &options_.run_limit),
        number_flag(
            "max-time",
            fmt::format(
                "Stop after this time, decided or not; default: 1800. Cases are judged after "
                "{} pairs, the last of which end the comparison",
                fmt::join(compare::PairedComparison::Plan{}.looks, ", ")),
            AxisKind::real, 0.001, week_seconds, "SECONDS", &options_.max_seconds),
        number_flag("seed", "Seed of the order of both commands within the pairs; default: 1",
                    AxisKind::integer, 0, 1e15, "N", &options_.seed),
        text_flag("keep", "Keep the reports of all runs in this new folder", "DIR",
                  &options_.keep_path),
        toggle_flag("quiet", "Show no progress, only the comparison and errors", &options_.quiet)};
    for (FlagRow& row : comparison_flags(options_.comparison)) rows.push_back(std::move(row));
    return rows;
  }

  ExitCode run() override {
    check_output(options_.comparison.output_path, {});
    return PairsOfRuns(options_)();
  }

 private:
  AbOptions options_;
};

}  // namespace

std::unique_ptr<Command> make_ab(const Program&) { return std::make_unique<Ab>(); }

}  // namespace parbench
