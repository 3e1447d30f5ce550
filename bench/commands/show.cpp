// `show`: prints the tables of the run that wrote a report.
#include "bench/cli/output.h"
#include "bench/commands/commands.h"
#include "bench/output/standard_streams.h"
#include "reports/io/file.h"
#include "reports/views/call_table.h"
#include "reports/views/table.h"

namespace parbench {
namespace {

constexpr CommandText show_help{
    .name = "show",
    .summary = "The tables and answers of a report",
    .examples =
        "  parbench show reports/runs/before.json\n"
        "      Prints what the run printed at its end.\n"
        "  parbench show reports/runs/before.json --calls\n"
        "      Shows also which operations and copies took the time of each case.\n",
    .exit_codes = report_exit_codes};

class Show final : public Command {
 public:
  explicit Show(const Program& program) : Command(show_help), program_(program.arguments.front()) {}

  std::vector<FlagRow> flags() override {
    return {report_argument(path_),
            toggle_flag("calls",
                        "Also show the calls of each case: their time, their rates, and "
                        "the share of the device's peak rate, if it is known",
                        &calls_),
            width_flag(width_)};
  }

  ExitCode run() override {
    const report::Report report = report::read_report(path_);
    const report::TextStyle style = text_style(width_);
    print(calls_ ? report::calls_table(report, style) : report::to_table(report, style));
    print(report_line(path_));
    if (!calls_) print(next_command_lines(report, path_, program_));
    return ExitCode::measured;
  }

 private:
  std::string program_;
  std::string path_;
  bool calls_ = false;
  std::optional<int> width_;
};

}  // namespace

std::unique_ptr<Command> make_show(const Program& program) {
  return std::make_unique<Show>(program);
}

}  // namespace parbench
