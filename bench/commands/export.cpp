// `export`: converts a report to the format of another program.
#include <fmt/format.h>

#include <algorithm>

#include "bench/cli/flag_files.h"
#include "bench/cli/output.h"
#include "bench/commands/commands.h"
#include "reports/io/file.h"
#include "reports/io/formats/format.h"

namespace parbench {
namespace {

constexpr CommandText export_help{
    .name = "export",
    .summary = "A report in a format that another program reads",
    .examples =
        "  parbench export reports/runs/before.json --format csv -o before.csv\n"
        "      A row for each case, for a spreadsheet.\n"
        "  parbench export before.json --format prometheus | promtool check metrics\n"
        "      Without -o the text goes to standard output, here to another program.\n",
    .exit_codes = report_exit_codes};

class Export final : public Command {
 public:
  Export() : Command(export_help) {}

  std::vector<FlagRow> flags() override {
    std::string description = "The format, one of:";
    std::vector<std::string> names;
    for (const report::Format& format : report::formats()) {
      description += fmt::format("\n{}: {}", format.name, format.description);
      names.emplace_back(format.name);
    }
    return {report_argument(path_),
            required(choice_flag("format", std::move(description), std::move(names), "FORMAT",
                                 &format_)),
            output_flag(output_)};
  }

  ExitCode run() override {
    check_output(output_, {path_});
    const auto format = std::ranges::find(report::formats(), format_, &report::Format::name);
    const report::Report report = report::read_report(path_);
    write_output(naming_flag(path_ + ": ", [&] { return format->write(report); }), output_);
    return ExitCode::measured;
  }

 private:
  std::string path_;
  std::string format_;
  std::string output_;
};

}  // namespace

std::unique_ptr<Command> make_export(const Program&) { return std::make_unique<Export>(); }

}  // namespace parbench
