// `compare`: changes from one report to another.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "bench/cli/output.h"
#include "bench/commands/commands.h"
#include "bench/commands/comparison_options.h"
#include "kernels/base/error.h"
#include "reports/io/file.h"
#include "reports/io/pooled.h"

namespace parbench {
namespace {

constexpr CommandText compare_help{
    .name = "compare",
    .summary = "What became slower or faster from one report to another",
    .examples =
        "  parbench compare reports/runs/before.json after.json\n"
        "      Which cases became slower or faster, beyond chance?\n"
        "  parbench compare before.json after.json --threshold 5 --format markdown\n"
        "      Counts changes of 5% or more; prints a comment for a pull request.\n"
        "  parbench compare before.json after.json --require-decided 80\n"
        "      Exits with 4 also if fewer than 80% of the cases are decided.\n"
        "  parbench compare benchmark1.json benchmark2.json\n"
        "      BASE and NEW may be Google Benchmark files (--benchmark_out=FILE.json).\n"
        "  parbench compare old1.json old2.json --new new1.json new2.json\n"
        "      Compares several runs of each version, which shows how much runs differ.\n",
    .exit_codes =
        "0 nothing regressed; 1 a case failed in NEW, or NEW or one of its processes "
        "ended early, or the output could not be written to its end; 2 bad usage, a bad report, "
        "or "
        "a path that cannot be written; 3 a case regressed; 4 nothing could be compared, or fewer "
        "cases are decided than --require-decided asks for."};

class Compare final : public Command {
 public:
  Compare() : Command(compare_help) {}

  std::vector<FlagRow> flags() override {
    std::vector<FlagRow> rows{
        required(many_flag("BASE",
                           "The reports before and after the change, or JSON files of Google "
                           "Benchmark. With --new, all files here are from before the change",
                           " NEW", &base_paths_)),
        many_flag("new",
                  "The reports after the change. Several files of one side count as several "
                  "processes of it",
                  "NEW…", &new_paths_),
        number_flag("assume-spread",
                    "For a side with one process: the standard deviation between "
                    "processes, in percent of the time, if you know it",
                    AxisKind::percent, 0, 1000, "PERCENT", &spread_percent_)};
    for (FlagRow& row : comparison_flags(options_)) rows.push_back(std::move(row));
    return rows;
  }

  ExitCode run() override {
    take_sides();
    std::vector<std::string> paths = base_paths_;
    std::ranges::copy(new_paths_, std::back_inserter(paths));
    check_output(options_.output_path, paths);
    report::Report base = read_side(base_paths_);
    const report::Report candidate = read_side(new_paths_);
    compare::unite_programs(base, candidate);
    compare::Options options{.rule = {},
                             .allow_different_machine = options_.allow_different_machine};
    options_.set(options.rule);
    if (spread_percent_) options.known_spread = *spread_percent_ / 100;
    const compare::Comparison comparison =
        compare::compare({name_of(base_paths_), base}, {name_of(new_paths_), candidate}, options);
    write_comparison(comparison, options_);
    return exit_code_of(comparison);
  }

 private:
  /// Makes the second of two files the newer side, unless --new names it.
  void take_sides() {
    if (!new_paths_.empty()) return;
    if (base_paths_.size() != 2) {
      throw UsageError(fmt::format(
          "compare takes two files, BASE and NEW, or several of each with --new; {} given\n"
          "usage: parbench compare BASE NEW\n       parbench compare BASE… --new NEW…",
          base_paths_.size() == 1 ? "1 is" : fmt::format("{} are", base_paths_.size())));
    }
    new_paths_.push_back(std::move(base_paths_.back()));
    base_paths_.pop_back();
  }

  [[nodiscard]] report::Report read_side(const std::vector<std::string>& paths) const {
    std::vector<report::NamedRun> runs;
    for (const std::string& path : paths) runs.push_back({path, report::read_report(path)});
    return report::pooled(std::move(runs), options_.allow_different_machine);
  }

  static std::string name_of(const std::vector<std::string>& paths) {
    return paths.size() == 1 ? paths.front()
                             : fmt::format("{} and {} more", paths.front(), paths.size() - 1);
  }

  std::vector<std::string> base_paths_;
  std::vector<std::string> new_paths_;
  std::optional<double> spread_percent_;
  ComparisonOptions options_;
};

}  // namespace

std::unique_ptr<Command> make_compare(const Program&) { return std::make_unique<Compare>(); }

}  // namespace parbench
