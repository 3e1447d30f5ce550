// `compare`: what became slower or faster from one report to another.
#include "bench/cli/output.h"
#include "bench/commands/commands.h"
#include "bench/commands/comparison_options.h"
#include "reports/io/file.h"

namespace parbench {
namespace {

constexpr CommandText compare_help{
    .name = "compare",
    .summary = "What became slower or faster from one report to another",
    .examples =
        "  parbench compare reports/runs/before.json after.json\n"
        "      What became slower or faster, beyond chance?\n"
        "  parbench compare before.json after.json --threshold 5 --format markdown\n"
        "      Changes of 5% or more, as a comment on a pull request.\n"
        "  parbench compare before.json after.json\n"
        "      Also of files of Google Benchmark (--benchmark_out=before.json).\n",
    .exit_codes =
        "0 nothing regressed; 1 a case failed in NEW, or NEW or one of its processes "
        "ended early, or the output could not be written to its end; 2 bad usage, a bad report, "
        "or "
        "a place that cannot be written; 3 a case regressed; 4 nothing could be compared."};

class Compare final : public Command {
 public:
  Compare() : Command(compare_help) {}

  std::vector<FlagRow> flags() override {
    std::vector<FlagRow> rows{
        {.value =
             text_rule("BASE", "The report before the change, or a JSON file of Google Benchmark"),
         .required = true,
         .target = &base_path_},
        {.value = text_rule("NEW", "The report after it"), .required = true, .target = &new_path_}};
    for (FlagRow& row : comparison_flags(options_)) rows.push_back(std::move(row));
    return rows;
  }

  ExitCode run() override {
    check_output(options_.output_path, {base_path_, new_path_});
    report::Report base = report::read_report(base_path_);
    const report::Report candidate = report::read_report(new_path_);
    compare::unite_programs(base, candidate);
    const compare::Comparison comparison =
        compare::compare({base_path_, base}, {new_path_, candidate},
                         {.rule = {.threshold = options_.threshold()},
                          .allow_different_machine = options_.allow_different_machine});
    write_comparison(comparison, options_);
    return exit_code_of(comparison);
  }

 private:
  std::string base_path_;
  std::string new_path_;
  ComparisonOptions options_;
};

}  // namespace

std::unique_ptr<Command> make_compare(const Program&) { return std::make_unique<Compare>(); }

}  // namespace parbench
