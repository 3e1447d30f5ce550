// `html`: writes a page about reports.
#include <fmt/format.h>

#include <filesystem>

#include "bench/cli/output.h"
#include "bench/commands/commands.h"
#include "bench/output/standard_streams.h"
#include "reports/io/file.h"
#include "reports/views/html/html.h"

namespace parbench {
namespace {

constexpr CommandText html_help{
    .name = "html",
    .summary = "A web page from reports: answers, charts, timelines, tables",
    .examples =
        "  parbench html reports/runs/before.json reports/runs/after.json -o page.html\n"
        "      Shows two runs on one page, to open in a browser.\n"
        "  parbench html reports/runs/before.json -o - | gzip > page.html.gz\n"
        "      Writes the page to standard output.\n",
    .exit_codes = report_exit_codes};

class Html final : public Command {
 public:
  Html() : Command(html_help) {}

  std::vector<FlagRow> flags() override {
    return {
        required(many_flag("REPORT", "JSON files that runs have written; each has its own section",
                           "…", &paths_)),
        required(
            text_flag("-o", "The page to write; - is standard output", "FILE.html", &output_))};
  }

  ExitCode run() override {
    check_output(output_, paths_);
    std::vector<report::NamedReport> reports;
    for (const std::string& path : paths_) {
      reports.push_back(
          {std::filesystem::path(path).filename().string(), report::read_report(path)});
    }
    const bool is_file = !is_standard_output(output_) && !report::is_special_file(output_);
    write_output(report::to_html(reports, report::built_in_web_assets()), output_);
    if (is_file) print(fmt::format("page: {}\n", output_));
    return ExitCode::measured;
  }

 private:
  std::vector<std::string> paths_;
  std::string output_;
};

}  // namespace

std::unique_ptr<Command> make_html(const Program&) { return std::make_unique<Html>(); }

}  // namespace parbench
