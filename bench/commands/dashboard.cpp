// `dashboard`: builds a site from a folder of reports.
#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <utility>

#include "bench/cli/output.h"
#include "bench/commands/commands.h"
#include "bench/output/standard_streams.h"
#include "kernels/base/error.h"
#include "kernels/base/units/units.h"
#include "reports/dashboard/pages/index_page.h"
#include "reports/dashboard/reading.h"
#include "reports/dashboard/site.h"
#include "reports/text/paragraph.h"
#include "reports/text/text.h"

namespace parbench {
namespace {

constexpr CommandText dashboard_help{
    .name = "dashboard",
    .summary = "A web site from a folder of reports: the history of each case and its changes",
    .examples =
        "  parbench dashboard reports/runs -o site\n"
        "      Makes the site, or adds the new reports to it.\n"
        "  parbench dashboard reports/runs -o site --strict\n"
        "      The same for a script that must fail if a file is not a report.\n"
        "  parbench dashboard reports/runs -o site \\\n"
        "           --repository-url https://github.com/owner/name\n"
        "      With links from commits to the repository.\n",
    .exit_codes =
        "0 done; 1 the site could not be written to its end, or, with --strict, a file "
        "was skipped; 2 bad usage, or a folder that cannot be read, or that cannot become a "
        "site."};

/// Returns "5 files: 3 reports, 1 copy, 1 skipped".
std::string files_text(const report::SiteSummary& site) {
  const std::size_t copies = site.files - site.reports - site.skipped.size();
  std::string text =
      fmt::format("{}: {}", format_count(site.files, "file"), format_count(site.reports, "report"));
  for (const auto& [count, what] : {std::pair(copies, copies == 1 ? "copy" : "copies"),
                                    std::pair(site.skipped.size(), "skipped")}) {
    if (count > 0) text += fmt::format(", {} {}", count, what);
  }
  return text + '\n';
}

class Dashboard final : public Command {
 public:
  Dashboard() : Command(dashboard_help) {}

  std::vector<FlagRow> flags() override {
    return {
        required(text_flag(
            "DIR", "The folder; all *.json files in it and in its subfolders are read as reports",
            "", &folder_)),
        required(text_flag("-o", "The site to write, or to update", "SITE", &site_)),
        toggle_flag("strict", "Exit 1 when a file was skipped because it is not a report",
                    &strict_),
        text_flag("repository-url",
                  "The web address of the measured project's repository, to which "
                  "commits are linked: https://github.com/owner/name",
                  "URL", &repository_url_)};
  }

  void read(const FlagTexts& texts, const std::vector<std::string>& benchmark_flags) override {
    Command::read(texts, benchmark_flags);
    if (is_standard_output(site_)) {
      throw UsageError(fmt::format("-o '{}' is not a folder; name one", site_));
    }
    if (!repository_url_.empty()) repository_ = report::Repository(repository_url_);
  }

  ExitCode run() override {
    const std::filesystem::path site = site_;
    const report::SiteSummary built = report::build_site(folder_, site, repository_);
    for (const std::string& file : built.skipped) {
      fmt::print(stderr, "parbench: skipped {}\n", report::printable(file));
    }
    print(files_text(built));
    if (built.reports == 0) {
      print(fmt::format(
          "no report (*.json) in {}; name the folder of your reports (default: reports/runs)\n",
          report::printable(folder_)));
    }
    print(fmt::format("histories: {} · changes: {} ({} in the last {} days of reports)\n",
                      built.histories, built.changes, built.recent_changes, report::recent_days));
    if (const std::string too_few = report::too_few_text(built.lengths); !too_few.empty()) {
      print(report::hanging("", too_few, {.width = text_style().width}));
    }
    print(fmt::format("dashboard: {}\n", (site / "index.html").string()));
    return built.skipped.empty() || !strict_ ? ExitCode::measured : ExitCode::case_failed;
  }

 private:
  std::string folder_;
  std::string site_;
  bool strict_ = false;
  std::string repository_url_;
  report::Repository repository_;
};

}  // namespace

std::unique_ptr<Command> make_dashboard(const Program&) { return std::make_unique<Dashboard>(); }

}  // namespace parbench
