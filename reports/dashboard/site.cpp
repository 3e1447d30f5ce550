// Reads reports, renders pages, and removes obsolete files.
#include "reports/dashboard/site.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdint>
#include <fstream>
#include <map>
#include <mutex>
#include <new>
#include <regex>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

#include "kernels/base/error.h"
#include "reports/dashboard/content_id.h"
#include "reports/dashboard/pages/history_page.h"
#include "reports/dashboard/pages/index_page.h"
#include "reports/dashboard/pages/page_parts.h"
#include "reports/dashboard/parallel.h"
#include "reports/dashboard/scan.h"
#include "reports/dashboard/summary.h"
#include "reports/io/file.h"
#include "reports/text/text.h"
#include "reports/views/html/html.h"
#include "reports/views/html/html_frame.h"

namespace parbench::report {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view no_memory = "there is not enough memory to read it";
constexpr std::array<std::string_view, 3> own_folders{"assets", "history", "report"};

/// Style and script files, named by their content, so that pages of an older build keep their own
/// files until they are replaced.
struct SiteAssets {
  std::string style_path = "assets/" + content_id(built_in_site_assets().style) + ".css";
  std::string script_path = "assets/" + content_id(built_in_site_assets().script) + ".js";
};

/// Returns the latest plausible start of a report, in seconds since 1970. The clocks of machines
/// may differ by their time zone; a later clock is wrong.
std::int64_t latest_start() {
  using std::chrono::system_clock;
  return system_clock::to_time_t(system_clock::now() + std::chrono::days(1));
}

/// Returns whether the path is one that a build writes; other files may be stored next to the
/// site's pages.
bool is_built(const std::string& path) {
  static const std::regex built(
      R"(assets/[0-9a-f]{32}\.(css|js)|report/[0-9a-f]{32}\.html)"
      R"(|history/[0-9a-f]{16}/[-a-z0-9]*(_[0-9a-f]{12})?\.html)"
      R"(|(assets|report|history/[0-9a-f]{16})/\.parbench-[0-9]+-[0-9]+\.tmp)");
  return std::regex_match(path, built);
}

/// Returns whether a file is a page of a site; such pages have a mark near their beginning.
bool is_page_of_site(const fs::path& path) {
  std::string start(2'000, '\0');
  std::ifstream file(path, std::ios::binary);
  file.read(start.data(), static_cast<std::streamsize>(start.size()));
  start.resize(static_cast<std::size_t>(file.gcount()));
  return start.find(site_generator) != std::string::npos;
}

/// The links from pages at one depth of the site to its assets.
class LinkedAssets {
 public:
  LinkedAssets(const SiteAssets& assets, const std::string& to_site)
      : style_(to_site + assets.style_path) {
    if (!built_in_site_assets().script.empty()) script_ = to_site + assets.script_path;
  }
  [[nodiscard]] WebAssets get() const { return {style_, script_, true}; }

 private:
  std::string style_;
  std::string script_;
};

class SiteBuild {
 public:
  SiteBuild(fs::path reports, fs::path site, Repository repository)
      : reports_(std::move(reports)), site_(std::move(site)), repository_(std::move(repository)) {}

  SiteSummary operator()() {
    const std::vector<std::string> files = find_reports(reports_, site_);
    check_site();
    claim_site();
    make_folders();
    const WebAssets& built_in = built_in_site_assets();
    write(assets_.style_path, built_in.style);
    if (!built_in.script.empty()) write(assets_.script_path, built_in.script);
    summary_.files = files.size();
    in_parallel(files.size(), [&](std::size_t i) { take(files[i]); });
    note_skipped();
    summary_.reports = collection_.reports.size();
    std::vector<History> histories = histories_of(collection_);
    find_changes(histories);
    write_pages(histories);
    remove_old();
    return std::move(summary_);
  }

 private:
  void check_site() const {
    std::error_code error;
    if (is_same_file(site_, reports_)) {
      throw UsageError(fmt::format("-o '{}' is the folder of reports itself; name another folder",
                                   site_.string()));
    }
    if (fs::exists(site_, error) && !fs::is_directory(site_, error)) {
      throw UsageError(fmt::format("-o '{}' is a file; name a folder", site_.string()));
    }
    if (is_page_of_site(site_ / "index.html")) return;
    if (const std::string other = foreign_entry(); !other.empty()) {
      throw UsageError(
          fmt::format("-o '{}' holds '{}' and is not a site of parbench dashboard; name "
                      "a new or empty folder",
                      site_.string(), other));
    }
  }

  /// Returns an entry that prevents the use of a folder for a new site; empty if there is none.
  /// Entries of a branch that is published as a site are allowed, and so are the reports.
  [[nodiscard]] std::string foreign_entry() const {
    constexpr std::array<std::string_view, 3> of_branches{".git", ".nojekyll", "CNAME"};
    std::error_code error;
    fs::directory_iterator entry(site_, error);
    for (; !error && entry != fs::directory_iterator(); entry.increment(error)) {
      std::string name = entry->path().filename().string();
      const bool allowed = std::ranges::find(of_branches, name) != of_branches.end();
      if (!allowed && !is_same_file(*entry, reports_)) return name;
    }
    return {};
  }

  /// Writes a first page, which marks the folder as a site even if this build is interrupted.
  void claim_site() const {
    make_folder(site_);
    const fs::path first_page = site_ / "index.html";
    check_writable(first_page);
    std::error_code error;
    if (!fs::exists(first_page, error)) {
      write_file(first_page, site_generator, Durability::unflushed);
    }
  }

  void make_folders() const {
    for (const std::string_view folder : own_folders) make_folder(site_ / folder);
  }

  static void make_folder(const fs::path& folder) {
    std::error_code error;
    fs::create_directories(folder, error);
    if (error) {
      throw UsageError(fmt::format("-o: {} cannot be made: {}", folder.string(), error.message()));
    }
  }

  /// Writes a file of the site, unless the file has this content already.
  void write(const std::string& path, std::string_view text) {
    {
      const std::lock_guard lock(mutex_);
      written_.insert(path);
    }
    std::error_code error;
    const fs::path target = site_ / path;
    if (fs::file_size(target, error) == text.size() && text_is(target, text)) return;
    write_file(target, text, Durability::unflushed);
  }

  static bool text_is(const fs::path& path, std::string_view text) {
    try {
      return read_text(path) == text;
    } catch (const UsageError&) {
      return false;
    }
  }

  // ------------------------------------------------------------------------------------- reports

  void take(const std::string& path) {
    try {
      std::string text = read_text(reports_ / path, limits_);
      const std::string id = content_id(text);
      {
        const std::lock_guard lock(mutex_);
        collection_.files[path] = id;
        if (!errors_.try_emplace(id).second) return;  // a copy of another file
      }
      read(id, std::move(text));
    } catch (const UsageError& error) {  // the file is too large or was deleted
      const std::lock_guard lock(mutex_);
      summary_.skipped.emplace_back(error.what());
    } catch (const std::bad_alloc&) {
      skip(path, no_memory);
    }
  }

  void read(const std::string& id, std::string text) {
    std::string error;
    try {
      const Report report = report_of_text(std::move(text), limits_);
      ReportSummary summary = [&] {
        const std::lock_guard lock(mutex_);
        return summarise_report(report, collection_.identities);
      }();
      check_start(summary);
      write_report_page(id, report, summary);
      const std::lock_guard lock(mutex_);
      collection_.reports.emplace(id, std::move(summary));
      return;
    } catch (const UsageError& known) {
      error = known.what();
    } catch (const std::bad_alloc&) {
      error = no_memory;
    }
    const std::lock_guard lock(mutex_);
    errors_[id] = error;
  }

  void check_start(const ReportSummary& summary) const {
    if (summary.started <= latest_) return;
    throw UsageError(fmt::format(
        "parbench.started_utc: {} UTC is more than a day from now; set the clock of its machine",
        time_text(summary.started)));
  }

  void write_report_page(const std::string& id, const Report& report,
                         const ReportSummary& summary) {
    const LinkedAssets assets(assets_, "../");
    std::vector<PageLink> up{{"../index.html", "All histories"}};
    for (const ScenarioSummary& scenario : summary.scenarios) {
      up.push_back({"../" + history_page(scenario.machine_id, scenario.scenario),
                    "History of " + scenario.scenario});
    }
    if (std::string commit = repository_.commit_link(summary.commit.id); !commit.empty()) {
      up.push_back({std::move(commit), "Commit " + short_commit(summary.commit.id)});
    }
    write(report_page(id), to_html({{id, report}}, assets.get(), up));
  }

  void skip(const std::string& path, std::string_view error) {
    const std::lock_guard lock(mutex_);
    summary_.skipped.push_back(fmt::format("{}: {}", (reports_ / path).string(), error));
  }

  /// Moves the files that are not usable reports to the skipped ones, each with the reason.
  void note_skipped() {
    for (const auto& [path, id] : collection_.files) {
      if (!collection_.reports.contains(id)) skip(path, errors_.at(id));
    }
    std::erase_if(collection_.files,
                  [&](const auto& file) { return !collection_.reports.contains(file.second); });
    std::ranges::sort(summary_.skipped);
  }

  // ----------------------------------------------------------------------------------- histories

  void find_changes(std::vector<History>& histories) {
    std::vector<Series*> all;
    for (History& history : histories) {
      for (Series& series : history.series) all.push_back(&series);
    }
    in_parallel(all.size(), [&](std::size_t i) { all[i]->changes = changes_of(all[i]->points); });
    const std::int64_t newest = newest_start(histories);
    summary_.histories = histories.size();
    summary_.lengths = lengths_of(histories);
    for (const History& history : histories) {
      for (const Series& series : history.series) summary_.changes += series.changes.size();
      summary_.recent_changes += recent_changes(history, newest).size();
    }
  }

  void write_pages(const std::vector<History>& histories) {
    for (const History& history : histories) {
      make_folder(site_ / "history" / history.machine_id);
    }
    const LinkedAssets below(assets_, "../../");
    in_parallel(histories.size(), [&](std::size_t i) {
      write(history_page(histories[i].machine_id, histories[i].scenario),
            history_html(histories[i], below.get(), repository_));
    });
    const LinkedAssets beside(assets_, "");
    write("index.html", index_html(histories, summary_.reports, beside.get(), repository_));
  }

  /// Removes files that earlier or interrupted builds wrote and this build did not.
  void remove_old() const {
    for (const std::string_view folder : own_folders) {
      std::error_code error;
      std::vector<fs::path> old;
      fs::recursive_directory_iterator entry(site_ / folder, error);
      for (; !error && entry != fs::recursive_directory_iterator(); entry.increment(error)) {
        const std::string path = entry->path().lexically_relative(site_).generic_string();
        if (is_built(path) && !written_.contains(path)) old.push_back(*entry);
      }
      for (const fs::path& path : old) {
        fs::remove(path, error);
        fs::remove(path.parent_path(), error);  // succeeds only if the folder is now empty
      }
    }
  }

  fs::path reports_;
  fs::path site_;
  Repository repository_;
  SiteAssets assets_;
  ReadLimits limits_ = report_limits();
  std::int64_t latest_ = latest_start();
  std::mutex mutex_;  // protects the members below
  ReportCollection collection_;
  std::map<std::string, std::string> errors_;  // errors by id of the content; empty for reports
  std::set<std::string> written_;              // paths of all files that belong to the site
  SiteSummary summary_;
};

}  // namespace

SiteSummary build_site(const fs::path& reports, const fs::path& site,
                       const Repository& repository) {
  return SiteBuild(reports, site, repository)();
}

}  // namespace parbench::report
