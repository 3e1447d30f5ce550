#include "bench/cli/project_options.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <string_view>

#include "kernels/base/error.h"
#include "reports/text/text.h"

namespace parbench {
namespace {

constexpr std::size_t max_commit = 100;

bool belongs_to_commit(char letter) {
  return report::is_alphanumeric(letter) ||
         std::string_view("._-/+").find(letter) != std::string_view::npos;
}

void check_label(const std::string& label, std::set<std::string>& keys) {
  const std::size_t equals = label.find('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == label.size()) {
    throw UsageError(
        fmt::format("--label '{}' is not a valid KEY=VALUE; give one such as branch=main", label));
  }
  std::string key = label.substr(0, equals);
  if (keys.insert(key).second) return;
  throw UsageError(fmt::format("--label '{}': the key '{}' is given twice; keep one", label, key));
}

}  // namespace

std::vector<FlagRow> project_flags(ProjectOptions& options) {
  return {many_flag("label",
                    "A fact about your project for the report and the dashboard, such as "
                    "branch=main; can be given several times",
                    "KEY=VALUE", &options.labels),
          text_flag("commit",
                    "The commit of your project that is measured, for the report and the "
                    "dashboard; default: that of parbench",
                    "HASH", &options.commit),
          text_flag("commit-subject", "The subject of --commit", "TEXT", &options.commit_subject),
          text_flag("commit-author", "The author of --commit", "NAME", &options.commit_author)};
}

void check_project(const ProjectOptions& options) {
  std::set<std::string> keys;
  for (const std::string& label : options.labels) check_label(label, keys);
  const std::string& commit = options.commit;
  if (commit.size() > max_commit || !std::ranges::all_of(commit, belongs_to_commit)) {
    throw UsageError(fmt::format(
        "--commit '{}' is not a valid commit; give a hash or a tag, such as $(git rev-parse HEAD)",
        commit));
  }
  if (!commit.empty()) return;
  for (const auto& [flag, text] : {std::pair("--commit-subject", &options.commit_subject),
                                   std::pair("--commit-author", &options.commit_author)}) {
    if (text->empty()) continue;
    throw UsageError(fmt::format("{} describes a commit; give --commit as well", flag));
  }
}

std::vector<std::pair<std::string, std::string>> labels_of(const ProjectOptions& options) {
  std::vector<std::pair<std::string, std::string>> labels;
  for (const std::string& label : options.labels) {
    const std::size_t equals = label.find('=');
    labels.emplace_back(label.substr(0, equals), label.substr(equals + 1));
  }
  return labels;
}

}  // namespace parbench
