// Facts about the measured project for the report: labels and a commit.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "bench/cli/flag.h"

namespace parbench {

struct ProjectOptions {
  std::vector<std::string> labels;  // "KEY=VALUE"
  std::string commit;               // empty: the commit of parbench's own sources, if known
  std::string commit_subject;
  std::string commit_author;
};

[[nodiscard]] std::vector<FlagRow> project_flags(ProjectOptions& options);

/// Throws UsageError for a malformed label, a repeated key, an invalid commit, and a subject or
/// author without a commit.
void check_project(const ProjectOptions& options);

/// Returns the labels by key, in the order given. Requires labels that `check_project` accepted.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> labels_of(
    const ProjectOptions& options);

}  // namespace parbench
